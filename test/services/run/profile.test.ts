/** Tests profiling, and reading the pages of a deep report. */
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { rawRecorder, readRaw } from '../../../src-main/adapters/tools/raw-files'
import { draftSession, readSession } from '../../../src-main/adapters/sessions/session-store'
import { message } from '../../../src-main/domain/messages/message'
import { cardMetricIds, unavailable } from '../../../src-main/domain/metrics/metrics'
import type { Launch } from '../../../src-main/domain/session/session'
import { withProfiles } from '../../../src-main/services/run/with-profiles'
import {
  eventLog,
  fakeMachine,
  ladderRungs,
  recordingsDir,
  rung,
  setEnv,
  tempDir,
} from '../support'
import { said } from '../../support'
import { type NcuAnswer, runNcu } from '../../../src-main/adapters/tools/ncu'
import { type Toolbox, type ToolCall } from '../../../src-main/adapters/tools/toolbox'
import { ncuCapture } from '../../captures'
import { readDeep } from '../../../src-main/adapters/sessions/deep-profiles'
import { recordedToolbox } from '../../../src-main/adapters/tools/recorded-toolbox'

describe('profiling', () => {
  it('uses one ncu process for the marked launches of all rungs, without controlling clocks', async () => {
    const machine = await fakeMachine()
    await machine.run()
    const profiling = machine.calls('ncu').filter((call) => !call.includes('--version'))
    expect(profiling).toHaveLength(1)
    const [call] = profiling
    const asked = call!.filter((_word, index) => call![index - 1] === '--rung')
    expect(asked.map((word) => word.split('=')[0])).toEqual(ladderRungs)
    expect(call![call!.indexOf('--clock-control') + 1]).toBe('none')
    expect(call![call!.indexOf('--profile-from-start') + 1]).toBe('off')
    // By default, ncu would wait for processes that a rung leaves behind.
    expect(call![call!.indexOf('--target-processes') + 1]).toBe('application-only')
  })

  it('measures the seven card metrics for every rung, in one pass per kernel', async () => {
    const machine = await fakeMachine()
    const { session } = await machine.run()
    for (const { metrics, profile } of session.rungs) {
      for (const id of cardMetricIds) {
        expect(metrics[id]).toMatchObject({ evidence: 'measured' })
        expect(Number.isFinite(metrics[id]?.value)).toBe(true)
      }
      expect(profile?.passes).toBe(1)
      expect(profile?.kernels.length).toBeGreaterThan(0)
    }
  })

  it('stores ncu’s report and all raw output, without paths on this machine', async () => {
    const machine = await fakeMachine()
    const { folder } = await machine.run()
    expect(await readFile(join(folder!, 'profile.ncu-rep'), 'utf8')).toMatch(/^NVR/)
    const { call } = (await readRaw(folder!, 'ncu/profile'))!
    expect(call.exitCode).toBe(0)
    expect(call.argv).toContain('<session>/profile.ncu-rep')
    expect(call.argv.join(' ')).not.toContain(join(machine.dir, 'cache'))
  })

  it('does not start ncu if turned off, but gives a reason for each missing counter', async () => {
    const machine = await fakeMachine()
    const { session, missing } = await machine.run({ profile: 'none' })
    expect(machine.calls('ncu')).toHaveLength(0)
    expect(missing).toBeNull()
    expect(said(rung(session, '01_naive').metrics.achievedOccupancy)).toMatchObject({
      evidence: 'unavailable',
      reason: expect.stringContaining('--profile none') as string,
    })
  })

  it.each([
    ['ncu is not there', ['ncu'], '', /ncu was not found/],
    ['counters are not permitted', [], 'counter-permission', /ERR_NVGPUCTRPERM/],
  ])(
    'keeps the times and gives a reason for each missing counter if %s',
    async (_case, without, ncu, message) => {
      const machine = await fakeMachine(without)
      setEnv({ FAKE_NCU: ncu })
      const { session, folder, missing } = await machine.run()
      expect(said(missing)).toMatchObject({
        kind: 'missing',
        message: expect.stringMatching(message) as string,
      })
      expect(missing?.remedy).toBeTruthy()
      expect(folder).not.toBeNull()
      for (const { status, timing, metrics } of session.rungs) {
        expect(status).toBe('ok')
        expect(timing).not.toBeNull()
        expect(metrics.fmaUtilization).toMatchObject({ value: null, evidence: 'unavailable' })
      }
      expect(said(session.warnings).join()).toMatch(message)
    },
  )

  it('estimates its cost before the start and reports the actual cost at the end', async () => {
    const machine = await fakeMachine()
    const { events, emit } = eventLog()
    await machine.run({}, { emit })
    const plan = events.findIndex(({ type }) => type === 'profile-plan')
    const first = events.findIndex((event) => event.type === 'rung' && event.stage === 'profile')
    const cost = events.findIndex(({ type }) => type === 'profile-cost')
    expect(plan).toBeGreaterThan(0)
    expect(plan).toBeLessThan(first)
    expect(events[plan]).toMatchObject({
      plan: {
        level: 'card',
        passes: 1,
        otherGpu: false,
        rungs: ladderRungs.map((id) => ({ id, skipped: false })),
      },
    })
    expect(cost).toBeGreaterThan(first)
    expect(events[cost]).toMatchObject({ cost: { rungs: ladderRungs.map((id) => ({ id })) } })
  })

  it('derives the waves of a launch if ncu rounds the waves to zero', async () => {
    const { device } = await readSession(join(recordingsDir, 'gemm-fp32-h200-1024'))
    const resources = {
      ...{ registersPerThread: 32, staticSharedBytes: 0, dynamicSharedBytes: 0 },
      ...{ barriers: 1, carveOutBytes: null, clusterBlocks: 0 },
    }
    const launch: Launch = { name: 'k', grid: [1, 1, 1], block: [64, 1, 1], resources }
    const finding = { verify: null, timing: null, launches: [launch] }
    const rounded = message('records.roundedToZero', { metricName: 'launch__waves' })
    const profiled = new Map([
      [
        '01_naive',
        {
          profile: { passes: 1, kernels: [] },
          metrics: { wavesPerSm: unavailable('waves', rounded) },
        },
      ],
    ])
    const found = withProfiles(
      new Map([['01_naive', finding]]),
      { profiles: profiled, trouble: null },
      new Set(),
      device!,
    )
    const { metrics } = found.get('01_naive')!
    // Each of the 132 SMs fits 32 of these blocks.
    expect(metrics!.wavesPerSm).toMatchObject({ evidence: 'derived', value: 1 / (32 * 132) })
  })

  it('includes the repeated import and compilation under ncu in the estimate', async () => {
    const machine = await fakeMachine()
    await machine.editRung('06_float4', (text) => `${text}\n// prepares: 0.3 0.2\n`)
    const { events, emit } = eventLog()
    const { session } = await machine.run({ rungs: ['02_coalesced', '06_float4'] }, { emit })
    const planned = events.find((event) => event.type === 'profile-plan')!.plan
    const of = (id: string): number => planned.rungs.find((one) => one.id === id)!.seconds!
    expect(of('06_float4') - of('02_coalesced')).toBeGreaterThan(0.45)
    expect(planned.seconds).toBeGreaterThan(of('06_float4'))
    // The session stores how long the rung took to load in this run.
    expect(rung(session, '06_float4').prepared).toEqual({ seconds: 0.2, with: 'Python 3.12.3' })
  })

  it('gives a skipped rung a time and a reason for each missing counter', async () => {
    const machine = await fakeMachine()
    const { session } = await machine.run({ profileSkip: ['01_naive'] })
    const profiling = machine.calls('ncu').find((call) => !call.includes('--version'))!
    expect(profiling.filter((word) => word.startsWith('01_naive='))).toEqual([])
    expect(session.settings.profileSkipped).toEqual(['01_naive'])
    expect(rung(session, '01_naive')).toMatchObject({ status: 'ok', profile: null })
    expect(said(rung(session, '01_naive').metrics.fmaUtilization)).toMatchObject({
      value: null,
      evidence: 'unavailable',
      reason: expect.stringContaining('excluded from profiling') as string,
    })
    expect(rung(session, '02_coalesced').profile?.passes).toBe(1)
  })

  it('skips rungs above a limit, or ncu itself if no rung remains', async () => {
    const machine = await fakeMachine()
    const { session, missing } = await machine.run({ profileLimitSeconds: 1e-6 })
    expect(session.settings.profileSkipped).toEqual(ladderRungs)
    expect(machine.calls('ncu')).toHaveLength(0)
    expect(missing).toBeNull()
  })

  it('rejects an unknown rung in the list of rungs to skip', async () => {
    const machine = await fakeMachine()
    await expect(machine.run({ profileSkip: ['99_none'] })).rejects.toThrow(
      /no rung named "99_none"/,
    )
  })

  describe('while another tool uses the counters', () => {
    const settings = { idleSeconds: 2, busyWaitsMs: [5, 5] }
    const profiling = (machine: Awaited<ReturnType<typeof fakeMachine>>) =>
      machine.calls('ncu').filter((call) => !call.includes('--version'))

    it('is retried, with the same result as without the conflict', async () => {
      const machine = await fakeMachine()
      setEnv({ FAKE_NCU: 'counters-busy:2' })
      const { events, emit } = eventLog()
      const { session, missing, folder } = await machine.run({}, { settings, emit })
      expect(profiling(machine)).toHaveLength(3)
      expect(missing).toBeNull()
      expect(said(session.warnings)).toEqual([])
      expect(rung(session, '01_naive').metrics.fmaUtilization?.evidence).toBe('measured')
      expect(await readFile(join(folder!, 'profile.ncu-rep'), 'utf8')).toMatch(/^NVR/)
      const log = events.filter((event) => event.type === 'log').map(({ message }) => said(message))
      expect(log).toHaveLength(2)
      expect(log[0]).toMatch(/is using the GPU's counters; trying again in 1 s/)
    })

    it('reports the conflict and its remedy after the third try', async () => {
      const machine = await fakeMachine()
      setEnv({ FAKE_NCU: 'counters-busy' })
      const { session, missing } = await machine.run({}, { settings })
      expect(profiling(machine)).toHaveLength(3)
      expect(said(missing?.message)).toMatch(/DCGM.*Profiling was tried 3 times\.$/)
      expect(said(missing?.remedy)).toMatch(/dcgmi profile --pause/)
      expect(rung(session, '01_naive').timing).not.toBeNull()
    })

    it('is not retried after any other failure', async () => {
      const machine = await fakeMachine()
      setEnv({ FAKE_NCU: 'driver-library' })
      await machine.run({}, { settings })
      expect(profiling(machine)).toHaveLength(1)
    })

    it('stops waiting when canceled', async () => {
      const machine = await fakeMachine()
      setEnv({ FAKE_NCU: 'counters-busy' })
      const abort = new AbortController()
      const { session } = await machine.run(
        {},
        {
          settings: { idleSeconds: 2, busyWaitsMs: [60_000] },
          signal: abort.signal,
          emit: (event) => {
            if (event.type === 'log') abort.abort()
          },
        },
      )
      expect(session.completion).toBe('cancelled')
      expect(rung(session, '01_naive').timing).not.toBeNull()
    })
  })

  describe('with a metric that ncu does not support', () => {
    const settings = { idleSeconds: 2, busyWaitsMs: [5] }
    const asked = (machine: Awaited<ReturnType<typeof fakeMachine>>) =>
      machine
        .calls('ncu')
        .filter((call) => !call.includes('--version'))
        .map((call) => call[call.indexOf('--metrics') + 1]!.split(','))

    it('leaves only the cells of that metric empty, with a reason', async () => {
      const machine = await fakeMachine()
      setEnv({ FAKE_NCU_UNKNOWN: 'sm__pipe_fma_cycles_active,smsp__inst_executed_op_shared_ld' })
      const { events, emit } = eventLog()
      const { session, missing } = await machine.run({}, { settings, emit })
      expect(missing).toBeNull()
      const { metrics, profile } = rung(session, '03_shared_tile')
      expect(profile?.passes).toBe(1)
      for (const id of ['fmaUtilization', 'sharedLoads'])
        expect(said(metrics[id])).toMatchObject({
          value: null,
          evidence: 'unavailable',
          reason: expect.stringMatching(/^ncu did not report \S+__\S+ or .* on this GPU/) as string,
        })
      for (const id of cardMetricIds.filter(
        (id) => !['fmaUtilization', 'sharedLoads'].includes(id),
      ))
        expect(metrics[id], id).toMatchObject({ evidence: 'measured' })
      expect(said(session.warnings)).toEqual([
        expect.stringMatching(
          /does not know smsp__inst_executed_op_shared_ld, sm__pipe_fma_cycles_active on this GPU/,
        ),
      ])
      const log = events.filter((event) => event.type === 'log').map(({ message }) => said(message))
      expect(log).toHaveLength(2)
    })

    it('requests the metric by its other name, if there is one', async () => {
      const machine = await fakeMachine()
      setEnv({ FAKE_NCU_UNKNOWN: 'smsp__inst_executed_op_shared_ld' })
      await machine.run({}, { settings })
      const [first, second, third] = asked(machine)
      expect(first).toContain('smsp__inst_executed_op_shared_ld.sum')
      expect(second).not.toContain('smsp__inst_executed_op_shared_ld.sum')
      expect(second).toContain('smsp__sass_inst_executed_op_shared_ld.sum')
      expect(third).toBeUndefined()
    })

    it('is not retried forever if ncu reports a metric that was not requested', async () => {
      const machine = await fakeMachine()
      setEnv({ FAKE_NCU: 'unknown-metric' })
      const { missing } = await machine.run({}, { settings })
      expect(asked(machine)).toHaveLength(1)
      expect(said(missing?.message)).toMatch(/does not know the metric sm__nope/)
    })
  })
})

describe('the deep level', () => {
  const captures: Record<string, string> = {
    'ncu/profile': 'import-set-full',
    'ncu/source-lines': 'source-cuda-sass',
    'ncu/details': 'import-details',
  }

  async function recording(without: readonly string[] = []): Promise<string> {
    const dir = await tempDir()
    const recorder = rawRecorder(dir, [])
    for (const [key, name] of Object.entries(captures))
      if (!without.includes(key))
        await recorder.record(
          {
            key,
            tool: 'ncu',
            argv: ['ncu'],
            outcome: 'exited',
            exitCode: 0,
            signal: null,
            seconds: 1,
            startedAt: '2026-11-21T02:45:00.000Z',
          },
          ncuCapture(name),
          '',
        )
    return dir
  }

  const watched = (toolbox: Toolbox): { toolbox: Toolbox; calls: ToolCall[] } => {
    const calls: ToolCall[] = []
    return {
      calls,
      toolbox: {
        ...toolbox,
        exec: (call) => {
          calls.push(call)
          return toolbox.exec(call)
        },
      },
    }
  }

  const profiled = (toolbox: Toolbox, level: 'card' | 'deep' = 'deep'): Promise<NcuAnswer> =>
    runNcu(toolbox, {
      ncu: 'ncu',
      level,
      command: ['./runner', 'profile'],
      reportPath: '/session/profile.ncu-rep',
      idleMs: 1000,
      signal: new AbortController().signal,
      onEvent: () => undefined,
    })

  describe('profiling', () => {
    it('collects the full set and the sources once, and prints three pages of the report', async () => {
      const { toolbox, calls } = watched(recordedToolbox(await recording()))
      await profiled(toolbox)
      expect(calls.map(({ key }) => key)).toEqual([
        'ncu/profile',
        'ncu/source-sass',
        'ncu/source-lines',
        'ncu/details',
      ])
      expect(calls[0]!.args.join(' ')).toMatch(/--set full --import-source yes .*--metrics \S+/)
      for (const { args } of calls.slice(1))
        expect(args.slice(0, 3)).toEqual(['--import', '/session/profile.ncu-rep', '--csv'])
    })

    it('omits the full set and the sources at the card level', async () => {
      const { toolbox, calls } = watched(recordedToolbox(await recording()))
      const { deep } = await profiled(toolbox, 'card')
      expect(calls.map(({ key }) => key)).toEqual(['ncu/profile'])
      expect(calls[0]!.args).not.toContain('--set')
      expect([...deep.keys()]).toEqual([])
    })

    it('still has the seven card metrics and the number of passes', async () => {
      const { byRung } = await profiled(recordedToolbox(await recording()))
      for (const { metrics, profile } of byRung.values()) {
        for (const id of cardMetricIds)
          expect(metrics[id], id).toMatchObject({ evidence: 'measured' })
        expect(profile.passes).toBe(38)
      }
    })

    it('has lines, instructions, and recommendations for each rung', async () => {
      const { deep } = await profiled(recordedToolbox(await recording()))
      expect([...deep.keys()]).toEqual(['03_a', '04_b'])
      const [kernel] = deep.get('03_a')!.kernels
      expect(kernel!.instructions).toHaveLength(160)
      expect(kernel!.lines.length).toBeGreaterThan(0)
      expect(kernel!.rules.length).toBeGreaterThan(0)
    })

    it('reports a missing page but keeps the other data', async () => {
      const { byRung, deep, deepTroubles } = await profiled(
        recordedToolbox(await recording(['ncu/source-lines', 'ncu/details'])),
      )
      expect(byRung.size).toBe(2)
      expect(said(deepTroubles).join(' ')).toMatch(/did not print its source page.*details page/)
      expect(deep.get('03_a')!.kernels[0]).toMatchObject({ instructions: [], lines: [], rules: [] })
    })
  })

  describe('a profile on disk', () => {
    const saved = async () => {
      const { deep } = await profiled(recordedToolbox(await recording()))
      const draft = await draftSession(join(await tempDir(), 'session'))
      for (const profile of deep.values()) await draft.addDeep(profile)
      return { folder: draft.path, profile: deep.get('03_a')! }
    }

    it('is stored in its own file and read back unchanged', async () => {
      const { folder, profile } = await saved()
      expect(await readdir(join(folder, 'deep'))).toEqual(['03_a.json', '04_b.json'])
      expect(await readDeep(folder, '03_a')).toEqual(profile)
    })

    it('is null if the rung or the session has none', async () => {
      const { folder } = await saved()
      expect(await readDeep(folder, '99_none')).toBeNull()
      expect(await readDeep(await tempDir(), '03_a')).toBeNull()
    })

    it.each([
      ['cut off', (text: string) => text.slice(0, 100), /03_a\.json.*not JSON/],
      ['something else', () => '[]', /03_a\.json cannot be read as a deep profile/],
      ['of a newer version', () => '{"schema":99}', /schema 99.*newer kernel-ladder/],
      [
        'wrong in one figure',
        (text: string) => text.replace('"executed":32768', '"executed":"many"'),
        /kernels\.0\.instructions\.0\.executed/,
      ],
    ])(
      'that is %s is rejected with an error that names the file',
      async (_what, damage, message) => {
        const { folder } = await saved()
        const path = join(folder, 'deep', '03_a.json')
        await writeFile(path, damage(await readFile(path, 'utf8')))
        await expect(readDeep(folder, '03_a')).rejects.toThrow(message)
      },
    )

    it.each(['../session', 'a/b', '..', ''])('is never read for the rung id %j', async (rung) => {
      await expect(readDeep(await tempDir(), rung)).rejects.toThrow()
    })
  })
})
