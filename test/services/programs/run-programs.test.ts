/** Tests a ladder of programs with real processes. The fake ncu supplies the kernel times. */
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readSession } from '../../../src-main/adapters/sessions/session-store'
import type { RunEvent, RunRequest } from '../../../src-main/contract'
import { toErrorShape } from '../../../src-main/domain/errors'
import { openFolder } from '../../../src-main/services/folders/folders'
import type { StartRunOptions } from '../../../src-main/services/targets/saved-run'
import { said } from '../../support'
import { fakeMachine, setEnv, statuses } from '../support'
import { trustFolder } from '../../../src-main/services/folders/folder-trust'
import { describePrograms } from '../../../src-main/hosts/cli/describe/describe-programs'

type Rungs = Record<string, readonly string[]>

/**
 * Creates a ladder with one program per rung. A script in the same folder writes its arguments,
 * either as floats or unchanged.
 */
async function setUp(
  rungs: Rungs,
  {
    programs = {},
    more = {},
    without = [],
    processes = false,
  }: {
    programs?: object
    more?: object
    without?: readonly string[]
    processes?: boolean
  } = {},
) {
  const machine = await fakeMachine(without, { processes })
  setEnv({ FAKE_PROGRAM: 'before' })
  const folder = join(machine.dir, 'ladder')
  await mkdir(folder)
  const document = {
    kernel_ladder: 1,
    id: 'mine',
    title: 'Mine',
    summary: 'Two ways.',
    programs: { runs: 2, timeout: 20, ...programs },
    rungs: Object.entries(rungs).map(([id, program]) => ({ id, title: `Title of ${id}`, program })),
    ...more,
  }
  await writeFile(join(folder, 'ladder.yaml'), JSON.stringify(document))
  await writeFile(join(folder, 'write.sh'), 'printf "$2" > "$1"\n')
  await trustFolder(machine.setup.machine.folders, folder)
  const events: RunEvent[] = []
  const run = (request: Partial<RunRequest> = {}, options: Partial<StartRunOptions> = {}) =>
    machine.run(
      { ladder: folder, profile: 'none', ...request, size: undefined },
      { emit: (event) => events.push(event), ...options },
    )
  return { ...machine, folder, run, events }
}

const writes = (text: string): string[] => ['sh', 'write.sh', 'out.bin', text]
const output = { file: 'out.bin' }
/** The numbers 1 and 2 as little-endian FP32. In `nearly`, the last bit of 2 differs. */
const [ones, nearly] = [
  String.raw`\000\000\200\077\000\000\000\100`,
  String.raw`\000\000\200\077\001\000\000\100`,
]

describe('a ladder of programs', () => {
  it('has wall times and the kernels from a run under ncu, and is saved', async () => {
    const { run, folder } = await setUp(
      { '00_eager': writes(ones), '01_fused': writes(ones) },
      { programs: { output }, more: { reference_rung: '00_eager' } },
    )
    const { session, folder: saved, missing } = await run({ profile: 'card' })
    expect(missing).toBeNull()
    expect(await readSession(saved!)).toEqual(session)
    expect(session.ladder).toMatchObject({ id: 'mine', task: null, folder })
    expect(session.device?.name).toBe('NVIDIA H200')
    const [first, second] = session.rungs
    expect(second).toMatchObject({
      status: 'ok',
      file: 'mine/write.sh',
      program: {
        command: writes(ones),
        exitCode: 0,
        output: { file: 'out.bin', bytes: 8, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
      },
      verify: { passed: true },
      timing: { samples: 2 },
    })
    expect(second!.timing!.ratioToReference).toBeCloseTo(
      first!.timing!.medianMs / second!.timing!.medianMs,
      12,
    )
    // The total is ncu's sum over the captured launches.
    expect(second!.profiledTime).toMatchObject({ launches: 46 })
    expect(second!.profiledTime!.totalMs).toBeCloseTo(0.424352, 6)
    const kernels = second!.profile!.kernels.map(({ profiledTime: time }) => time!)
    expect(kernels.reduce((sum, { totalMs }) => sum + totalMs, 0)).toBeCloseTo(0.424352, 6)
    expect(kernels.reduce((sum, { launches }) => sum + launches, 0)).toBe(46)
    expect(await readFile(join(saved!, 'sources', 'mine', 'write.sh'), 'utf8')).toContain('printf')
    const text = describePrograms(session)
    expect(text).toMatch(/wall time +± +GPU time +launches +to ref\./)
    expect(text).toContain('01_fused: 17 kernels')
  })

  it("reports each program's fault, and keeps the other results", async () => {
    const { run } = await setUp(
      {
        '00_right': writes(ones),
        '01_nearly': writes(nearly),
        '02_short': writes('abc'),
        '03_silent': ['true'],
        '04_exits': ['sh', '-c', 'echo out of luck >&2; exit 4'],
        '05_missing': ['./nothing', 'x'],
        '06_killed': ['sh', '-c', 'kill -9 $$'],
        '07_text': ['./ladder.yaml'],
      },
      { programs: { output } },
    )
    const { session } = await run()
    expect(statuses(session)).toEqual({
      '00_right': 'ok',
      '01_nearly': 'wrong',
      '02_short': 'wrong',
      '03_silent': 'failed',
      '04_exits': 'failed',
      '05_missing': 'failed',
      '06_killed': 'failed',
      '07_text': 'failed',
    })
    expect(said(session.rungs.map(({ reason }) => reason ?? ''))).toEqual([
      '',
      'out.bin differs from the expected output in 1 bytes. The first difference is byte 4, which is 1 instead of 0.',
      'out.bin has 3 bytes instead of 8.',
      'true did not write out.bin.',
      'sh exited with code 4 instead of 0: out of luck',
      './nothing does not exist or is not executable.',
      'sh was terminated by SIGKILL.',
      './ladder.yaml does not exist or is not executable.',
    ])
    expect(session.rungs.map(({ timing }) => timing?.samples ?? null)).toEqual([
      2,
      ...Array.from({ length: 7 }, () => null),
    ])
  })

  it('compares numbers within a tolerance, and never accepts NaN', async () => {
    const nan = String.raw`\000\000\200\077\000\000\300\177`
    const { run, folder } = await setUp(
      { '00_right': writes(ones), '01_nearly': writes(nearly), '02_nan': writes(nan) },
      { programs: { output: { ...output, dtype: 'f32', rtol: 1e-6, expected: 'expected.bin' } } },
    )
    await writeFile(join(folder, 'expected.bin'), Buffer.from(new Float32Array([1, 2]).buffer))
    const { session } = await run()
    expect(statuses(session)).toEqual({ '00_right': 'ok', '01_nearly': 'ok', '02_nan': 'wrong' })
    const [right, near, wrong] = session.rungs.map(({ verify }) => verify!)
    expect(right!.worstRelativeError).toBe(0)
    expect(near!.worstRelativeError).toBeCloseTo(2 ** -23, 12)
    expect(wrong).toMatchObject({
      worstRelativeError: null,
      firstMismatch: { buffer: 'out.bin', index: [1], expected: 2, actual: null },
    })
  })

  it('compares rungs with the first rung, even if it was not requested or fails', async () => {
    const rungs: Rungs = { '00_first': writes(ones), '01_other': writes(nearly) }
    const { run } = await setUp(rungs, { programs: { output } })
    expect(statuses((await run({ rungs: ['01_other'] })).session)).toEqual({ '01_other': 'wrong' })
    const broken = await setUp({ ...rungs, '00_first': ['false'] }, { programs: { output } })
    const { session } = await broken.run()
    expect(said(session.rungs.map(({ reason }) => reason!))).toEqual([
      'false exited with code 1 instead of 0.',
      'The expected contents of out.bin are unknown: false exited with code 1 instead of 0.',
    ])
  })

  it('passes arguments exactly, runs programs in its folder, and stops them at the time limit', async () => {
    const words = ['a b', '', '$HOME', "it's", '*']
    const { run, folder } = await setUp(
      {
        '00_words': ['sh', '-c', 'pwd > at; printf "[%s]" "$@" > said', 'sh', ...words],
        '01_prints': ['sh', '-c', 'yes 0123456789 | head -c 20000000'],
        '02_overdue': ['sh', '-c', 'sleep 60 & wait'],
      },
      { programs: { runs: 1, timeout: 0.5 }, processes: true },
    )
    const { session } = await run()
    expect(await readFile(join(folder, 'said'), 'utf8')).toBe("[a b][][$HOME][it's][*]")
    expect(await readFile(join(folder, 'at'), 'utf8')).toBe(`${folder}\n`)
    expect(said(session.rungs.slice(2).map(({ reason }) => reason!))).toEqual([
      'sh was stopped after 0.5 s.',
    ])
    expect(session.rungs[1]!.status).not.toBe('wrong')
  })

  it('still has wall times, with a message, if ncu is missing', async () => {
    const { run } = await setUp({ '00_one': ['true'] }, { without: ['ncu'] })
    const { session, missing } = await run({ profile: 'card' })
    expect(missing).toMatchObject({ kind: 'missing' })
    expect(session.rungs[0]).toMatchObject({ status: 'ok', profile: null })
    expect(said(session.warnings).join()).toContain('ncu was not found')
  })

  it('that launches no kernel has only a wall time', async () => {
    const { run } = await setUp({ '00_cpu': ['true'] })
    setEnv({ FAKE_PROGRAM: 'none' })
    const { session, missing } = await run({ profile: 'card' })
    expect(missing).toBeNull()
    expect(said(session.warnings).join()).toContain('launched no kernel')
    expect(session.rungs[0]!.timing).not.toBeNull()
  })

  it('keeps finished results when canceled', async () => {
    const { run, store } = await setUp({ '00_one': ['true'], '01_two': ['true'] })
    const stop = new AbortController()
    const { session, folder } = await run(
      {},
      {
        signal: stop.signal,
        emit: (event) => {
          if (event.type === 'rung' && event.stage === 'time' && event.state === 'done')
            stop.abort()
        },
      },
    )
    expect(session.completion).toBe('cancelled')
    expect(session.rungs.map(({ timing }) => timing?.samples ?? 0)).toEqual([1, 0])
    expect(await readdir(store)).toEqual([folder!.split('/').at(-1)])
  })

  it('can be opened but not run while untrusted', async () => {
    const { run, setup, folder } = await setUp({ '00_one': writes('x') })
    const { ladder, files, faults } = await openFolder(setup, folder)
    expect(faults).toEqual([])
    expect(ladder!.rungs[0]!.program).toEqual(writes('x'))
    expect(files.map(({ name }) => name)).toEqual(['ladder.yaml', 'write.sh'])
    await writeFile(join(setup.machine.folders.ladders, 'trusted.json'), '[]')
    await expect(run()).rejects.toThrow('not trusted')
    await expect(stat(join(folder, 'out.bin'))).rejects.toThrow('ENOENT')
  })

  it.each([
    [{ target: 'static:h200' }, 'only on this machine'],
    [{ at: { n: 1 } }, '--at cannot be used'],
    [{ params: { TILE: 8 } }, '--param cannot be used'],
    [{ rungs: ['00_on'] }, 'Did you mean'],
  ])('rejects %j', async (request, expected) => {
    const { run } = await setUp({ '00_one': ['true'] })
    const { message, remedy } = toErrorShape(await run(request).catch((error: unknown) => error))
    expect(said([message, remedy ?? '']).join(' ')).toContain(expected)
  })
})
