/** Tests reading, building, running, and creating a user's ladder folder. */
import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { afterAll, describe, expect, it } from 'vitest'
import { inEnglish } from '../../src-main/domain/text/english'
import { initLadder, templateNames } from '../../src-main/services/folders/init'
import { openLadder } from '../../src-main/services/folders/open'
import { openNamed } from '../../src-main/services/sessions/open-session'
import { said } from '../support'
import { toErrorShape } from '../../src-main/domain/errors'
import {
  eventLog,
  fakeMachine,
  type Machine,
  rung,
  setEnv,
  setupIn,
  shippedKernels,
  statuses,
  tempDir,
  templatesDir,
} from './support'
import { buildRung } from '../../src-main/services/bench/build-rung'
import { planRun } from '../../src-main/services/run/plan'
import { keeping, keptNvcc, orSkip, realCompiler } from '../kept-nvcc'
import { findTool } from '../../src-main/adapters/tools/live-toolbox'
import { runProcess } from '../../src-main/adapters/tools/process'
import { Task } from '../../src-main/domain/task/task'
import { buildReference } from '../../src-main/services/bench/reference'
import { inParallel } from '../../src-main/services/bench/in-parallel'
import { pythonHeaderFile } from '../../src-main/domain/task/python-reference'
import { trustFolder } from '../../src-main/services/folders/folder-trust'

describe('a ladder folder', () => {
  /**
   * Returns a rung that sums a vector. The fake tools recognize the rung by the id of the recorded
   * rung that it replays.
   */
  const rungText = (id: string, more = ''): string =>
    `// @rung ${id}\n// @title ${id}\n// @idea a test\n// like: 02_coalesced\n${more}\n#include "parts.cuh"\n`

  const yaml = `kernel_ladder: 1
id: sums
title: Sums
summary: Of rows.
task:
  sizes: { N: 64 }
  buffers:
    x: { dtype: f32, shape: [N], access: in, fill: { kind: file, path: x.npy } }
    c: { dtype: f32, shape: [N], access: out }
  reference: reference.cu
  check: { c: { rtol: 1e-5, atol: 0 } }
  work: { flops: N, reads: 4*N, writes: 4*N }
test_at: [{ N: 7 }, { N: 9 }]
reference_rung: a
rungs: [{ id: a }, { id: b }]
`

  /** Creates a ladder folder that the user trusts. */
  async function folderOn(machine: Machine, change: (yaml: string) => string = (all) => all) {
    const folder = join(machine.dir, 'own')
    await mkdir(folder)
    const files = { 'ladder.yaml': change(yaml), 'a.cu': rungText('a'), 'b.cu': rungText('b') }
    const more = { 'reference.cu': '', 'parts.cuh': '', 'x.npy': '' }
    for (const [name, text] of Object.entries({ ...files, ...more }))
      await writeFile(join(folder, name), text)
    await trustFolder(machine.setup.machine.folders, folder)
    return folder
  }

  const runIt = (machine: Machine, ladder: string, more: object = {}) =>
    machine.run({ ladder, size: undefined, profile: 'none', ...more })

  it('runs like any ladder, with its headers, reference, and files', async () => {
    const machine = await fakeMachine()
    const folder = await folderOn(machine)
    const { session, folder: saved } = await runIt(machine, folder)
    expect(statuses(session)).toEqual({ a: 'ok', b: 'ok' })
    expect(session.ladder).toMatchObject({
      id: 'sums',
      folder,
      reference: 'a',
      testAt: [{ N: 7 }, { N: 9 }],
    })
    expect(session.problem?.sizes).toEqual({ N: 64 })
    expect(rung(session, 'b').alsoVerified?.map(({ problem }) => problem.sizes)).toEqual([
      { N: 7 },
      { N: 9 },
    ])
    const measured = machine.calls('runner').find((words) => words.includes('measure'))!
    expect(measured).toContain(`x:f32:in:64:file,${join(folder, 'x.npy')}`)
    const { sources } = await openNamed(machine.setup, saved!)
    expect(sources.a).toBe(rungText('a'))
    expect(await readFile(join(saved!, 'sources/sums/parts.cuh'), 'utf8')).toBe('')
    // The cache key of a build includes the content of its included files.
    await writeFile(join(folder, 'parts.cuh'), '// another')
    const built = () => machine.calls('nvcc').filter((words) => words.includes('sums/a.cu')).length
    const before = built()
    await runIt(machine, folder)
    await runIt(machine, folder)
    expect(built()).toBe(before + 1)
  })

  it('reports all missing files of its ladder together', async () => {
    const machine = await fakeMachine()
    const folder = await folderOn(machine, (all) => all.replace('reference.cu', 'gone.cu'))
    await rm(join(folder, 'x.npy'))
    const refused = await openLadder(machine.setup, folder).catch((error: unknown) => error)
    const { message, remedy } = toErrorShape(refused)
    expect([message, remedy].map((fault) => said(fault!).replace(/^.*ladder/, 'ladder'))).toEqual([
      'ladder.yaml:10:3: There is no gone.cu in the folder.',
      'ladder.yaml:8:66: There is no x.npy in the folder.',
    ])
  })

  it('reports the test_at size that is being verified and the number of test_at sizes', async () => {
    const machine = await fakeMachine()
    const folder = await folderOn(machine)
    const { events, emit } = eventLog()
    await machine.run({ ladder: folder, size: undefined, profile: 'none' }, { emit })
    const notices = events.flatMap((event) =>
      event.type === 'log' ? inEnglish(event.message) : [],
    )
    expect(notices).toEqual(['Verifying at N 7 (1 of 2).', 'Verifying at N 9 (2 of 2).'])
  })

  it('fails a rung that is wrong at a test_at size, and does not time that rung', async () => {
    const machine = await fakeMachine()
    const folder = await folderOn(machine)
    await writeFile(join(folder, 'b.cu'), rungText('b', '// fault: wrong-at:0:i64:9'))
    const { session } = await runIt(machine, folder)
    expect(statuses(session)).toEqual({ a: 'ok', b: 'wrong' })
    expect(said(rung(session, 'b').reason)).toMatch(/^At N 9: 3 elements of c .*c\[1\]\[2\]/)
    expect(rung(session, 'b').timing).toBeNull()
  })

  it("uses the author's name for a reference that fails or does not build", async () => {
    const machine = await fakeMachine()
    const folder = await folderOn(machine)
    const failing = async () => said(await runIt(machine, folder).catch(toErrorShape))
    setEnv({ FAKE_RUNNER: 'reference' })
    expect(await failing()).toMatchObject({
      message: `The reference ${folder}/reference.cu failed: it returns an error`,
    })
    setEnv({ FAKE_RUNNER: 'reference-crash' })
    expect(await failing()).toMatchObject({
      message: expect.stringContaining(`The reference ${folder}/reference.cu does not finish.`),
    })
    await writeFile(join(folder, 'reference.cu'), '\nundeclared\n')
    expect(await failing()).toMatchObject({
      message: expect.stringContaining(`${folder}/reference.cu:2: identifier "undeclared"`),
      remedy: `See ${folder}/reference.cu.`,
    })
  })

  it('may use a trusted rung as the reference, and that rung always runs', async () => {
    const machine = await fakeMachine()
    const folder = await folderOn(machine, (all) =>
      all
        .replace('reference: reference.cu', 'reference: { rung: a }')
        .replace(/^reference_.*\n/m, ''),
    )
    const { session } = await runIt(machine, folder, { rungs: ['b'] })
    expect(statuses(session)).toEqual({ b: 'ok' })
    const measured = machine.calls('runner').find((words) => words.includes('measure'))!
    expect(measured.join(' ')).toContain('--reference-rung a')
    expect(measured.filter((word) => word.startsWith('a='))).toHaveLength(1)

    await writeFile(join(folder, 'a.cu'), rungText('a', '// fault: crash'))
    const failed = (await runIt(machine, folder)).session
    expect(statuses(failed)).toEqual({ a: 'failed', b: 'failed' })
    expect(said(rung(failed, 'b').reason)).toMatch(/^a, the rung that results are checked against/)
  })

  it('is not built until the user trusts it, and must be trusted again after a change', async () => {
    const machine = await fakeMachine()
    const folder = await folderOn(machine)
    const moved = join(machine.dir, 'moved')
    await rename(folder, moved)
    await expect(runIt(machine, moved)).rejects.toThrow(/have not trusted/)
    expect(machine.calls('nvcc')).toEqual([])
    await trustFolder(machine.setup.machine.folders, moved)
    await writeFile(join(moved, 'b.cu'), rungText('b', '// edited'))
    expect(statuses((await runIt(machine, moved)).session)).toEqual({ a: 'ok', b: 'ok' })
  })

  it.each<[string, (folder: string) => Promise<void>, RegExp]>([
    [
      'no ladder.yaml',
      (folder) => rename(join(folder, 'ladder.yaml'), join(folder, 'x')),
      /contains no ladder\.yaml/,
    ],
    [
      'two ladder files',
      (folder) => writeFile(join(folder, 'ladder.json'), '{}'),
      /own contains ladder\.yaml and ladder\.json, which both describe its ladder/,
    ],
    [
      'no reference',
      (folder) => rename(join(folder, 'reference.cu'), join(folder, 'r')),
      /ladder\.yaml:10:3: There is no reference\.cu/,
    ],
    [
      'no file for a fill',
      (folder) => rename(join(folder, 'x.npy'), join(folder, 'x')),
      /ladder\.yaml:8:66: There is no x\.npy/,
    ],
    [
      'a header that links outside',
      async (folder) => {
        await writeFile(join(folder, '..', 'out.cuh'), '')
        await symlink('../out.cuh', join(folder, 'out.cuh'))
      },
      /out\.cuh is a link to a file outside/,
    ],
    [
      'a generated header',
      (folder) => writeFile(join(folder, 'kl_task.h'), ''),
      /kl_task\.h is generated/,
    ],
    [
      'the id of a built-in ladder',
      (folder) => writeFile(join(folder, 'ladder.yaml'), yaml.replace('id: sums', 'id: gemm-fp32')),
      /ladder\.yaml:2:1: gemm-fp32 is a ladder that ships with the program/,
    ],
  ])('with %s is rejected with the location', async (_what, change, expected) => {
    const machine = await fakeMachine()
    const folder = await folderOn(machine)
    await change(folder)
    await expect(openLadder(machine.setup, folder)).rejects.toThrow(expected)
  })

  it.each<[string, string, RegExp]>([
    [
      '@after refers to no rung',
      '// @after c\n',
      /b\.cu:4: @after refers to c, which is not a rung\. The rungs are a, b\.$/,
    ],
    ['params have an unknown name', '', /:15:39: b has no parameters, so TILE cannot be set\.$/],
    [
      'params have the wrong name',
      '// @param LANES 8 {4,8}\n',
      /:15:39: b has no parameter TILE; its parameters are LANES\.$/,
    ],
    [
      'params have a value that is not allowed',
      '// @param TILE 8 {4,8}\n',
      /:15:39: TILE = 3 is not allowed; the allowed values are 4, 8\.$/,
    ],
  ])('is rejected before it runs if %s', async (_what, line, expected) => {
    const machine = await fakeMachine()
    const folder = await folderOn(machine, (all) =>
      line.includes('@after') ? all : all.replace('{ id: b }', '{ id: b, params: { TILE: 3 } }'),
    )
    await writeFile(join(folder, 'b.cu'), rungText('b').replace('// like', `${line}// like`))
    const { catalog } = await openLadder(machine.setup, folder)
    expect([...catalog.faults.values()].map(inEnglish).join('\n')).toMatch(expected)
  })

  it('with one unusable rung can still run its other rungs', async () => {
    const machine = await fakeMachine()
    const folder = await folderOn(machine)
    await rename(join(folder, 'b.cu'), join(folder, 'c.cu'))
    const { catalog } = await openLadder(machine.setup, folder)
    expect([...catalog.faults.values()].map(inEnglish).join()).toMatch(
      /ladder\.yaml:15:22: There is no b\.cu/,
    )
    expect(statuses((await runIt(machine, folder, { rungs: ['a'] })).session)).toEqual({
      a: 'ok',
    })
  })

  describe('init', () => {
    it('creates a trusted folder from each template, named after the template', async () => {
      const machine = await fakeMachine()
      for (const template of await templateNames(machine.setup)) {
        const own = await initLadder(machine.setup, join(machine.dir, `my-${template}`), template)
        expect(own.ladder.id).toBe(`my-${template}`)
        expect([...own.catalog.faults.values()]).toEqual([])
      }
    })

    it('does not change a folder that is not empty', async () => {
      const machine = await fakeMachine()
      const folder = await folderOn(machine)
      const made = initLadder(machine.setup, folder, 'softmax')
      await expect(made).rejects.toThrow(/own holds 6 files already/)
      expect(await readFile(join(folder, 'ladder.yaml'), 'utf8')).toBe(yaml)
      const shipped = await initLadder(machine.setup, join(machine.dir, 'gemm-fp32'), 'blank')
      expect(shipped.ladder.id).toBe('my-gemm-fp32')
      const other = initLadder(machine.setup, join(machine.dir, 'x'), 'none')
      await expect(other).rejects.toThrow(/no template "none"/)
    })
  })
})

describe('templates', async () => {
  const kept = await keptNvcc('templates')
  afterAll(() => {
    if (keeping) kept.save()
  })

  it.for(readdirSync(templatesDir))(
    'the template %s compiles without messages after init',
    { timeout: 120_000 },
    async (template, test) => {
      const dir = await tempDir()
      const setup = setupIn(dir, { kernelsDir: shippedKernels })
      const { catalog, ladder, task } = await initLadder(setup, join(dir, template), template)
      const plan = planRun(catalog, { ladder: ladder.id, params: {}, profile: 'none' })
      const compiler = await kept.compiler()
      const work = inParallel(plan.rungs, async (planned) => {
        const { diagnostics, reason } = await buildRung(compiler, plan, planned, '90')
        expect(said(reason), planned.rung.id).toBeUndefined()
        expect(diagnostics, planned.rung.id).toEqual([])
      }).then(async () => {
        const reference = catalog.references.get(task.id)!
        expect(await buildReference(compiler, plan, reference, '90')).toMatch(/reference\.so$/)
      })
      await orSkip(test, work)
    },
  )

  it.skipIf(keeping)('the stored compiler output matches the current templates', () => {
    expect(kept.stale, 'see test/kept-nvcc.ts').toEqual([])
  })
})

describe('a reference in Python', async () => {
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

  /**
   * A Python program that imitates the runner: it fills the struct, calls the reference, and
   * returns the result.
   */
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

  describe.skipIf(!isThere)('called by a fake runner', () => {
    it('receives numpy arrays, and returns its results or stops the run with its own message', async () => {
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
    })
  })
})
