/** A reference in Python, called as the runner calls a library. Needs nvcc, and python3 with numpy. */
import { mkdtempSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findTool } from '../../src-main/adapters/tools/live-toolbox'
import { runProcess } from '../../src-main/adapters/tools/process'
import { pythonHeaderFile } from '../../src-main/domain/task/python-reference'
import { Task } from '../../src-main/domain/task/task'
import { buildReference } from '../../src-main/services/run/build'
import { realCompiler } from '../kept-nvcc'
import { shippedKernels } from './support'

const python = (args: string[], env = {}) =>
  runProcess({ file: 'python3', args, env: { ...process.env, ...env } })
const isThere =
  (await findTool('nvcc')) !== null && (await python(['-c', 'import numpy'])).exitCode === 0

const task = Task.parse({
  id: 'means',
  title: 'Means',
  sizes: { ROWS: {}, COLS: {} },
  scalars: { a: { dtype: 'f32', value: 2 } },
  options: { type: { field: 'type', choices: { f32: 0, bf16: 2 } } },
  buffers: {
    x: { dtype: 'type', shape: ['ROWS', '2*COLS'], access: 'in', fill: { kind: 'iota' } },
    mean: { dtype: 'f32', shape: ['ROWS'], access: 'out' },
    count: { dtype: 'i32', shape: [1], access: 'inout', fill: { kind: 'constant', value: 40 } },
  },
  reference: 'reference.py',
  check: { mean: { scale: true, bound: 1 }, count: { exact: true } },
  work: { reads: 0, writes: 0 },
})

const script = `import numpy as np

def kl_reference(task):
    """ "quoted" \\ ??/ and é """
    print("goes to stderr")
    task.progress(0.5)
    if task.a < 0:
        raise ValueError("a is below 0")
    task.mean = task.a * task.x.mean(axis=1)
    task.mean_scale[:] = task.x.shape[1]
    task.count[0] = task.count_in[0] + task.ROWS + (2 if task.type == "bf16" else 0)
`

/** As the runner: fills the struct, calls, and tells what came back. */
const caller = `
import ctypes, json, sys
Progress = ctypes.CFUNCTYPE(None, ctypes.c_double)
told = []
def array(kind, values): return (kind * len(values))(*values)
bf16 = sys.argv[3] == "bf16"
x = array(ctypes.c_uint16, [0x3f80, 0x4000, 0x4040, 0x4080]) if bf16 else array(ctypes.c_float, [1, 2, 3, 4])
count, mean, scale, after = array(ctypes.c_int, [40]), array(ctypes.c_double, [0, 0]), array(ctypes.c_double, [0, 0]), array(ctypes.c_int, [0])
at = lambda one: ctypes.cast(one, ctypes.c_void_p).value
class Reference(ctypes.Structure):
    _fields_ = [("ROWS", ctypes.c_longlong), ("COLS", ctypes.c_longlong), ("a", ctypes.c_float), ("type", ctypes.c_int)] + [
        (name, ctypes.c_void_p) for name in ("x", "mean", "mean_scale", "count_in", "count")] + [("progress", Progress), ("smCount", ctypes.c_int)]
p = Reference(2, 1, float(sys.argv[2]), 2 if bf16 else 0, at(x), at(mean), at(scale), at(count), at(after), Progress(told.append), 1)
ctypes.CDLL(sys.argv[1]).kl_reference(ctypes.byref(p))
print(json.dumps({"mean": list(mean), "scale": list(scale), "count": after[0], "progress": told}))
`

describe.skipIf(!isThere)('a reference in Python', () => {
  it('has numpy arrays of its task, whose results come back; its own words end the run', async () => {
    const header = await readFile(join(shippedKernels, pythonHeaderFile), 'utf8')
    const headers = new Map([[pythonHeaderFile, header]])
    const source = { file: 'means/reference.py', text: script }
    const library = await buildReference(await realCompiler(), { task, headers }, source, '90')
    const folder = mkdtempSync(join(tmpdir(), 'kl-python-'))
    const call = (a: number, type: string) =>
      python(['-c', caller, library, String(a), type], { TMPDIR: folder })
    expect(JSON.parse((await call(2, 'f32')).stdout)).toEqual({
      mean: [3, 7],
      scale: [2, 2],
      count: 42,
      progress: [0.5],
    })
    expect(JSON.parse((await call(1, 'bf16')).stdout)).toMatchObject({
      mean: [1.5, 3.5],
      count: 44,
    })
    const failed = await call(-1, 'f32')
    expect(failed.exitCode).toBe(5)
    expect(failed.stderr).toMatch(/ValueError: a is below 0\s*$/)
    expect(readdirSync(folder)).toEqual([])
  }, 120_000)
})
