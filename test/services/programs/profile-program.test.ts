/**
 * Tests profiling of a program with the fake ncu. The fake ncu runs the program, but reports
 * kernels from real ncu output on an H200.
 */
import { chmod, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { askDriver } from '../../../src-main/adapters/tools/gpus'
import { readSession } from '../../../src-main/adapters/sessions/session-store'
import { compareSessions } from '../../../src-main/domain/programs/compare-sessions'
import {
  profileACommand,
  type ProfileProgramOptions,
} from '../../../src-main/services/programs/profile-program'
import { said } from '../../support'
import { fakeMachine, setEnv } from '../support'
import { readDeep } from '../../../src-main/adapters/sessions/deep-profiles'

async function setUp(
  program: string | null,
  env: Record<string, string> = {},
  { processes = false } = {},
) {
  const { dir, setup } = await fakeMachine([], { processes })
  setEnv({ FAKE_PROGRAM: program ?? '', ...env })
  const output = { stdout: '', stderr: '' }
  const profile = (
    command: [string, ...string[]],
    {
      filters,
      ...more
    }: Partial<Omit<ProfileProgramOptions, 'filters'>> & {
      filters?: Partial<ProfileProgramOptions['filters']>
    } = {},
  ) =>
    profileACommand({
      ...setup,
      command,
      filters: { kernels: null, nvtx: null, skip: 0, count: null, ...filters },
      level: 'card',
      timeoutSeconds: 60,
      appVersion: '0.0.0-test',
      signal: new AbortController().signal,
      onOutput(stream, text) {
        output[stream] += text
      },
      emit: () => undefined,
      ...more,
    })
  return { dir, setup, store: join(dir, 'sessions'), output, profile }
}

const anything: [string, ...string[]] = ['sh', '-c', 'echo to stdout; echo to stderr >&2']

describe('a program', () => {
  it('becomes a session with the launches, time, share, counters, and code of each kernel', async () => {
    const { profile, output, setup } = await setUp('twelve')
    const { session, folder, trouble } = await profile(anything, { level: 'deep' })
    expect(await readSession(folder)).toEqual(session)
    expect(trouble).toBeNull()
    expect(output).toEqual({ stdout: 'to stdout\n', stderr: 'to stderr\n' })
    expect(session.target).toEqual({
      kind: 'program',
      name: 'sh -c echo to stdout; echo to stderr >&2',
    })
    expect(session.program).toMatchObject({ command: anything, exitCode: 0, launches: 14 })
    expect(session.rungs.map(({ title, profiledTime: time }) => [title, time!.launches])).toEqual([
      ['scale<1, 1>', 4],
      ['scale<1, 0>', 2],
      ['scale<2, 1>', 2],
      ['scale<4, 1>, grid 4096, block 256', 2],
      ['scale<4, 1>, grid 2048, block 512', 2],
      ['offset', 1],
      ['each<main::[lambda(int) (instance 1)]>', 1],
    ])
    const total = session.rungs.reduce((sum, { profiledTime: time }) => sum + time!.totalMs, 0)
    expect(session.program!.totalMs).toBeCloseTo(total, 12)
    const [first] = session.rungs
    expect(first!.profiledTime).toMatchObject({
      minMs: expect.any(Number),
      spread: expect.any(Number),
    })
    expect(first!.metrics.achievedOccupancy).toMatchObject({ evidence: 'measured' })
    expect(first!.file).toBe('twelve.cu')
    expect(
      (await readDeep(folder, first!.id))!.kernels[0]!.lines.map(({ text }) => text),
    ).toContain('if (first + n < count) data[first + n] *= Doubled ? 2.0f : 0.5f;')
    expect(session.device?.name).toBe('NVIDIA H200')
    // ncu's report does not contain the driver version, so the session has this machine's version.
    const { answer } = (await askDriver(setup.machine.toolbox(null)))!
    expect(answer?.driver).toMatch(/^\d+\.\d+/)
    expect(session.device).toMatchObject({ driver: answer!.driver, cudaDriver: answer!.cuda })
  })

  it('receives its exact arguments, and its exit code is stored', async () => {
    const { profile, output } = await setUp('twelve')
    const words = ['a b', '', '--kernel-name', '$HOME', "it's"]
    const { session } = await profile(['sh', '-c', 'printf "[%s]" "$@"; exit 7', 'sh', ...words])
    expect(output.stdout).toBe("[a b][][--kernel-name][$HOME][it's]")
    expect(session.program!.exitCode).toBe(7)
    expect(said(session.warnings).join()).toContain('exited with code 7')
  })

  it('that is a script is started by its interpreter', async () => {
    const { profile, dir, output } = await setUp('twelve')
    const script = join(dir, 'script')
    await writeFile(script, '#!/bin/sh\necho "$0 $1"\n')
    await chmod(script, 0o755)
    await profile([script, 'x y'])
    expect(output.stdout).toBe(`${script} x y\n`)
  })

  it('may print far more output than is stored', async () => {
    const { profile, output } = await setUp('twelve', {}, { processes: true })
    const { session } = await profile(['sh', '-c', 'yes 0123456789 | head -c 20000000'])
    expect(output.stdout).toHaveLength(20_000_000)
    expect(session.program!.exitCode).toBe(0)
  })

  it('keeps the finished times if it takes too long or is stopped', async () => {
    const { profile } = await setUp('twelve', {}, { processes: true })
    const slow: [string, ...string[]] = ['sh', '-c', 'sleep 30 & wait']
    const late = await profile(slow, { timeoutSeconds: 2 })
    expect(late.session.program).toMatchObject({ launches: 14 })
    expect(said(late.session.warnings).join()).toContain('sh was stopped after 2 s.')
    const stopped = await profile(slow, { signal: AbortSignal.timeout(2000) })
    expect(stopped.session.program).toMatchObject({ launches: 14 })
    expect(stopped.session.completion).toBe('cancelled')
  })

  it('may launch far more kernels than are timed, in one process or in many', async () => {
    const { profile } = await setUp('twelve', { FAKE_PROCESSES: '4500' })
    const { session } = await profile(['sh', '-c', 'exit 7'])
    expect(said(session.warnings).join()).toContain('Only the first 5000 launches were timed')
    // ncu's output after these launches is not stored, except for the last lines, which show how
    // the program ended.
    expect(session.program).toMatchObject({ launches: 5000, exitCode: 7 })
    expect(session.rungs).toHaveLength(7)
  })

  it('on several GPUs has a note that only one GPU is shown', async () => {
    const { profile } = await setUp('twelve', { FAKE_GPUS: '2' })
    const { session } = await profile(anything)
    expect(session.program!.launches).toBe(14)
    expect(said(session.warnings).join()).toContain('The launches ran on 2 GPUs')
  })

  it('can be filtered by kernel, range, skip, and count', async () => {
    const launches = async (filters: Partial<ProfileProgramOptions['filters']>) => {
      const { profile } = await setUp('twelve')
      const { session } = await profile(anything, { filters })
      return session.program!.launches
    }
    expect(await launches({ kernels: 'sca' })).toBe(12)
    expect(await launches({ nvtx: 'second' })).toBe(6)
    expect(await launches({ skip: 3, count: 4 })).toBe(4)
  })

  it('has exclusive use of the GPU among Kernel Ladder runs', async () => {
    const { setup, profile } = await setUp('twelve')
    const toolbox = setup.machine.toolbox(null)
    const { pciBusId } = (await askDriver(toolbox))!.answer!.gpus[0]!
    const { signal } = new AbortController()
    const claim = await toolbox.claimGpu({
      ...{ pciBusId: pciBusId!, wait: false, signal },
      onWait: () => undefined,
    })
    await expect(profile(anything, { waitForGpu: false })).rejects.toMatchObject({
      kind: 'missing',
      message: expect.stringContaining('in use') as string,
    })
    if (claim.state === 'held') claim.lock.release()
    const { session } = await profile(anything, { waitForGpu: false })
    expect(session.program!.launches).toBe(14)
  })

  it('profiled before and after a change yields a comparison that lists fused kernels and both totals', async () => {
    const { profile } = await setUp('before,none')
    const before = await profile(anything)
    // The second run profiled no kernels. The times of the first run are preserved.
    expect(before.session.rungs.length).toBe(17)
    expect(said(before.session.warnings).join()).toContain('timed but not profiled')
    setEnv({ FAKE_PROGRAM: 'after' })
    const after = await profile(anything)
    const { total, changes, pairs } = compareSessions(before.session, after.session)
    expect(total.timeA).toBeCloseTo(0.424352, 6)
    expect(total.timeB).toBeCloseTo(0.161024, 6)
    expect(pairs.map(({ sideA }) => sideA.title)).toEqual(
      expect.arrayContaining([expect.stringContaining('nvjet_sm90_tst_256x128')]),
    )
    const fused = changes.filter(({ kind }) => kind === 'fused')
    expect(fused.map(({ b }) => b[0])).toEqual([
      expect.stringContaining('vectorized_layer_norm_kernel'),
      expect.stringContaining('bias_gelu_kernel'),
    ])
  })
})

describe('distinct messages exist for', () => {
  const failure = async (
    program: string | null,
    command: [string, ...string[]],
    more: Parameters<Awaited<ReturnType<typeof setUp>>['profile']>[1] = {},
    env: Record<string, string> = {},
  ) => {
    const { profile, store } = await setUp(program, env)
    const error = await profile(command, more).then(
      () => null,
      (thrown: unknown) => thrown as { kind: string; message: string; remedy: unknown },
    )
    expect((await readdir(store).catch(() => [])).filter((name) => !name.startsWith('.'))).toEqual(
      [],
    )
    return [error!.kind, error!.message, error!.remedy && said(error!.remedy as string)]
  }

  it.each([
    ['a program that is not there', null, ['./no-such-program'], 'input', /does not exist/],
    ['one that launches nothing', null, ['true'], 'failed', /launched no kernel/],
    ['one that fails before', null, ['sh', '-c', 'exit 3'], 'failed', /exit code 3 before/],
  ] as const)('%s', async (_, program, command, kind, text) => {
    const [ownKind, own] = await failure(program, [...command] as [string, ...string[]])
    expect(ownKind).toBe(kind)
    expect(own).toMatch(text)
  })

  it('filters that match nothing, with the existing names', async () => {
    expect(await failure('twelve', anything, { filters: { kernels: 'scael' } })).toEqual([
      'input',
      expect.stringContaining('"scael"'),
      'Its kernels: scale, offset, each.',
    ])
    expect(await failure('twelve', anything, { filters: { nvtx: 'frist' } })).toEqual([
      'input',
      expect.stringContaining('"frist"'),
      'Its ranges: first, second.',
    ])
    const first = { filters: { nvtx: 'first' } }
    expect(await failure('twelve', anything, first, { FAKE_NVTX: 'none' })).toEqual([
      'input',
      expect.stringContaining('"first"'),
      expect.stringContaining('The program has no NVTX ranges: leave --nvtx out'),
    ])
    setEnv({ FAKE_NVTX: '' })
    expect(await failure('twelve', anything, { filters: { skip: 99 } })).toEqual([
      'input',
      expect.stringContaining('--skip 99 skipped all of them'),
      'Skip fewer launches.',
    ])
    expect((await failure('twelve', anything, { filters: { kernels: '(' } }))[1]).toContain(
      'not a regular expression',
    )
  })

  it('an ncu without permission to read the counters', async () => {
    const [kind, text] = await failure('twelve', anything, {}, { FAKE_NCU: 'counter-permission' })
    expect(kind).toBe('missing')
    expect(text).toMatch(/not permitted/)
  })

  it('a program that takes too long, and a program that is stopped', async () => {
    const slow: [string, ...string[]] = ['sh', '-c', 'sleep 30']
    expect(await failure('twelve', slow, { timeoutSeconds: 0.3 })).toMatchObject([
      'failed',
      expect.stringContaining('stopped after'),
      expect.stringContaining('--timeout'),
    ])
    const signal = AbortSignal.timeout(300)
    expect(await failure('twelve', slow, { signal })).toMatchObject([
      'cancelled',
      expect.anything(),
      undefined,
    ])
  })
})

describe('a program whose kernels wait for each other', () => {
  /**
   * Lines that `cuda-kernels/activity` wrote for a similar program on an H100. One launch is
   * truncated.
   */
  const lines = [
    [0, 1, 1, 1, 1, 1, 1, '1795647524918603702', 896, 'ping(int volatile*, int volatile*, int)'],
    [0, 1, 1, 1, 1, 1, 1, '1795647524919054616', 533122, 'pong(int volatile*, int volatile*, int)'],
    [0, 1, 1, 1, 1, 1, 1, '1795647524919050200', 537027, 'ping(int volatile*, int volatile*, int)'],
    [0, 4096, 1, 1, 256, 1, 1, '1795647524919591707', 4448, 'scale(float*, int)'],
  ]
  const text = `${lines.map((line) => line.join('\t')).join('\n')}\n0\t40`
  const peers: [string, ...string[]] = [
    'sh',
    '-c',
    `[ -n "$CUDA_INJECTION64_PATH" ] && printf '${text.replaceAll('\n', '\\n')}' > "$KERNEL_LADDER_ACTIVITY"`,
  ]
  const stuck = async () => {
    const { profile } = await setUp(null, { FAKE_STUCK: 'ping' })
    return (more: Parameters<typeof profile>[1] = {}, command = peers) =>
      profile(command, { stuckAfterMs: 200, ...more })
  }

  it('is timed by CUPTI during concurrent execution, with a warning about missing counters', async () => {
    const events: string[] = []
    const { session, trouble } = await (await stuck())({ emit: ({ type }) => events.push(type) })
    expect(events).toEqual(['preview', 'stuck', 'previewed'])
    expect(trouble).toBeNull()
    expect(
      session.rungs.map(({ title, profiledTime: time }) => [
        ...[title, time!.launches, time!.totalMs, time!.timer],
      ]),
    ).toEqual([
      ['ping', 2, 0.537923, 'cupti'],
      ['pong', 1, 0.533122, 'cupti'],
      ['scale', 1, 0.004448, 'cupti'],
    ])
    for (const { metrics } of session.rungs)
      for (const { value } of Object.values(metrics)) expect(value).toBeNull()
    expect(said(session.warnings)).toEqual([
      'ping did not end while ncu ran it by itself, so it may wait for another kernel. CUPTI timed the kernels as the program launched them; there are no counters.',
    ])
    expect(session).toMatchObject({ completion: 'complete', program: { launches: 4, exitCode: 0 } })
  })

  it('is not compared by time with a program that ncu timed', async () => {
    const { session: together } = await (await stuck())()
    const { profile } = await setUp('twelve', { FAKE_STUCK: '' })
    const { session: oneByOne } = await profile(anything)
    const { comparable, total } = compareSessions(oneByOne, together)
    expect(said(comparable.reasons).join()).toContain(
      'CUPTI timed the concurrent launches of the other',
    )
    expect(total.ratio).toBeNull()
  })

  it.each([
    ['an NVTX range', { filters: { nvtx: 'step' } }, peers, 'NVTX ranges are unknown'],
    ['no kernel at all', {}, ['true'] as [string], 'finished no kernel'],
    [
      'no CUPTI',
      {},
      ['sh', '-c', 'echo no-cupti > "$KERNEL_LADDER_ACTIVITY"'] as [string, ...string[]],
      'CUPTI, which times concurrent kernels, was not found',
    ],
  ])(
    'is rejected with an error message if it is profiled with %s',
    async (_, more, command, sentence) => {
      await expect((await stuck())(more, command)).rejects.toThrow(sentence)
    },
  )
})
