/**
 * Tests that code uses the machine interface instead of accessing the local disk and processes
 * directly.
 */
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Machine } from '../../../src-main/adapters/machine/machine'
import { runNcu } from '../../../src-main/adapters/tools/ncu'
import { measureArgs, profileArgs, sanitizeArgs } from '../../../src-main/adapters/tools/runner'
import { diagnose } from '../../../src-main/services/doctor/doctor'
import { gemm, gemmProblem } from '../../support'
import { fakeMachine, recordingsDir, setEnv, tempDir } from '../../services/support'
import { recordedMachine } from '../../../src-main/adapters/machine/recorded-machine'
import { localMachine } from '../../../src-main/adapters/machine/local-machine'

const recording = (): Machine => recordedMachine('x', join(recordingsDir, 'gemm-fp32-h200-1024'))

describe('the runner', () => {
  const call = {
    task: gemm,
    problem: gemmProblem(1),
    expected: null,
    taskFolder: null,
    seed: 1,
    rungs: [],
    cacheState: 'cold' as const,
    ceilings: false,
    reference: null,
  }

  it('watches its parent process only if the parent is visible on its machine', () => {
    const { ownerPid } = localMachine().toolbox(null)
    expect(ownerPid).toBe(process.pid)
    for (const args of [measureArgs, profileArgs, sanitizeArgs]) {
      expect(args({ ...call, ownerPid: 7 }).join(' ')).toContain('--owner-pid 7')
      expect(args({ ...call, ownerPid: null })).not.toContain('--owner-pid')
    }
    expect(recording().toolbox(null).ownerPid).toBeNull()
  })
})

describe("ncu's report", () => {
  it("is written to the machine's folder and then copied to this machine", async () => {
    const taken: string[] = []
    const asked: string[][] = []
    const toolbox = recording().toolbox(null)
    await runNcu(
      {
        ...toolbox,
        exec: (call) => {
          asked.push([...call.args])
          return toolbox.exec(call)
        },
        output: (keptAt) =>
          Promise.resolve({
            path: '/there/report.ncu-rep',
            take: () => Promise.resolve(void taken.push(keptAt)),
          }),
      },
      {
        ncu: 'ncu',
        level: 'card',
        command: ['./runner', 'profile'],
        reportPath: '/session/profile.ncu-rep',
        idleMs: 1000,
        signal: new AbortController().signal,
        onEvent: () => undefined,
      },
    )
    expect(asked[0]!.join(' ')).toContain('--export /there/report.ncu-rep')
    expect(taken).toEqual(['/session/profile.ncu-rep'])
  })

  it('from an earlier attempt is removed from this machine', async () => {
    const kept = join(await tempDir(), 'profile.ncu-rep')
    await writeFile(kept, 'old')
    const { path } = await localMachine().toolbox(null).output(kept)
    expect(path).toBe(kept)
    await expect(readFile(kept)).rejects.toThrow(/ENOENT/)
  })
})

describe('a scratch folder', () => {
  it('returns files that a tool wrote, up to a size limit, and can be removed', async () => {
    setEnv({ TMPDIR: await mkdtemp(join(await tempDir(), 'tmp-')) })
    const scratch = await localMachine().toolbox(null).scratch()
    await writeFile(join(scratch.path, 'report.xml'), '<a/>')
    expect(await scratch.read('report.xml', 4)).toBe('<a/>')
    expect(await scratch.read('report.xml', 3)).toBeNull()
    expect(await scratch.read('none', 4)).toBeNull()
    await scratch.remove()
    expect(await readdir(dirname(scratch.path))).toEqual([])
  })
})

describe('the doctor', () => {
  it('reads the files of the machine that it checks', async () => {
    const { setup } = await fakeMachine()
    const files: Record<string, string> = {
      '/proc/driver/nvidia/params': 'RmProfilingAdminOnly: 1\n',
      '/proc/self/status': 'CapEff:\t0000000000000000\n',
    }
    const machine: Machine = {
      ...setup.machine,
      name: 'elsewhere',
      readText: (path) => Promise.resolve(files[path] ?? null),
      exists: (path) => Promise.resolve(path === '/opt/lib/libcublas.so.13'),
      variable: (name) => (name === 'LD_LIBRARY_PATH' ? '/opt/lib' : null),
    }
    const of = async (id: string) =>
      (await diagnose(machine, setup.assets)).checks.find((check) => check.id === id)
    expect(await of('counters')).toMatchObject({ status: 'missing' })
    expect(await of('cublas')).toMatchObject({ status: 'ok', detail: '/opt/lib/libcublas.so.13' })
    files['/proc/self/status'] = 'CapEff:\t0000000000200000\n'
    expect(await of('counters')).toMatchObject({ status: 'ok' })
  })
})
