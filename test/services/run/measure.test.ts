/** Tests measurements, and how a run continues after a rung or the GPU fails. */
import { describe, expect, it } from 'vitest'
import { readCatalog } from '../../../src-main/adapters/catalog/catalog'
import { readRaw } from '../../../src-main/adapters/tools/raw-files'
import { planRun } from '../../../src-main/services/run/plan'
import {
  fakeMachine,
  isAlive,
  isOneFigure,
  ladderRungs,
  rung,
  setEnv,
  statuses,
  type Machine,
} from '../support'
import { provenance } from '../../../src-main/domain/report/provenance'
import { said } from '../../support'
import { cardMetricIds } from '../../../src-main/domain/metrics/metrics'
import { type Session } from '../../../src-main/domain/session/session'
import { throttleStatement, sessionGpuWords } from '../../../src-main/domain/report/gpu-state-words'
import { sessionText } from '../../../src-main/hosts/cli/describe/describe-static'

describe("the GPU's state", () => {
  it('is stored with each time, including the reason for lower clocks', async () => {
    const machine = await fakeMachine()
    // The bits stand for three reasons: idle, the power cap, and the temperature. The run does not
    // report idle.
    setEnv({ FAKE_CLOCKS: '37' })
    const { session } = await machine.run({ rungs: ['01_naive', '02_coalesced'], profile: 'none' })
    const { gpu } = rung(session, '01_naive').timing!
    expect(gpu).toEqual({
      ...{ smClockLowMHz: 1695, smClockHighMHz: 1980, memoryClockMHz: 3201 },
      ...{ temperatureC: 61, powerW: 698.5, powerLimitW: 700 },
      heldDownBy: ['powerCap', 'softwareThermal'],
    })
    expect(said(throttleStatement(gpu))).toBe(
      'Clocks were limited: power cap, temperature (driver)',
    )
    const facts = new Map(provenance(session).map(({ id, value }) => [id, said(value)]))
    expect(facts.get('gpuState')).toBe(
      'SM clock 1695 to 1980 MHz, at most 699 of 700 W and 61 °C; clocks limited in 2 of 2 rungs: power cap, temperature (driver)',
    )
    expect(facts.get('gpuModes')).toBe('ECC on, MIG off')
    expect(facts.get('timing')).toBe('single launches between CUDA events')
  })

  it('shows that the clocks were not limited, unless the runner did not report it', async () => {
    const machine = await fakeMachine()
    setEnv({ FAKE_CLOCKS: '1' })
    const { session } = await machine.run({ rungs: ['01_naive'], profile: 'none' })
    expect(throttleStatement(rung(session, '01_naive').timing!.gpu)).toBeNull()
    expect(said(sessionGpuWords(session))).toMatch(/61 °C; clocks not limited$/)
    const old = structuredClone(session)
    delete rung(old, '01_naive').timing!.gpu
    expect(sessionGpuWords(old)).toBeNull()
  })
})

describe('work on other streams', () => {
  it('causes one warning if CUPTI could not detect it', async () => {
    const machine = await fakeMachine()
    setEnv({ FAKE_NO_CUPTI: '1' })
    const { session } = await machine.run({ rungs: ['01_naive', '02_coalesced'], profile: 'none' })
    expect(rung(session, '01_naive').timing!.gpuMs).toBeNull()
    const warnings = session.warnings.map(said)
    expect(warnings.filter((one) => one.startsWith('CUPTI is not available'))).toHaveLength(1)
  })

  it('causes no warning if CUPTI detected it, or if an older runner did not report it', async () => {
    const machine = await fakeMachine()
    const { session } = await machine.run({ rungs: ['01_naive'], profile: 'none' })
    expect(session.warnings.map(said).join()).not.toContain('CUPTI')
  })
})

describe('bursts', () => {
  it('are timed on request in addition to single launches, and labeled as bursts', async () => {
    const machine = await fakeMachine()
    const { session } = await machine.run({
      ...{ rungs: ['00_cublas', '01_naive'], profile: 'none', timing: 'burst' },
    })
    const { medianMs, referenceMedianMs, gflops, burst } = rung(session, '01_naive').timing!
    expect(burst).toMatchObject({ launches: 8, restSeconds: 1, medianMs: medianMs * 0.9 })
    expect(burst!.ratioToReference).toBeCloseTo((referenceMedianMs! * 0.8) / (medianMs * 0.9))
    expect(burst!.gflops).toBeCloseTo(gflops! / 0.9)
    expect(rung(session, '00_cublas').timing!.burst!.ratioToReference).toBe(1)
    expect(session.settings.timing).toBe('burst')
    expect(machine.calls('runner').find(([, command]) => command === 'measure')).toContain(
      '--bursts',
    )
    const facts = new Map(provenance(session).map(({ id, value }) => [id, said(value)]))
    expect(facts.get('timing')).toBe(
      'single launches between CUDA events, bursts of 8 launches, each after 1 s of rest',
    )
    expect(facts.get('reproduce')).toContain('--timing burst')
    const text = sessionText(session)
    expect(text).toMatch(/rung .* to ref\. +burst +burst to ref\. +step/)
    expect(text).toContain('burst: one launch of 8 in a row, after 1 s of rest')
  })

  it('are neither timed nor shown unless requested', async () => {
    const machine = await fakeMachine()
    const { session } = await machine.run({ rungs: ['01_naive'], profile: 'none' })
    expect(rung(session, '01_naive').timing).not.toHaveProperty('burst')
    expect(session.settings).not.toHaveProperty('timing')
    expect(machine.calls('runner').flat()).not.toContain('--bursts')
    expect(sessionText(session)).not.toContain('burst')
  })
})

describe('measuring', () => {
  /** Returns the expected statuses of a ladder if exactly these rungs fail. */
  const allBut = (...failed: string[]): Record<string, string> =>
    Object.fromEntries(ladderRungs.map((id) => [id, failed.includes(id) ? 'failed' : 'ok']))

  describe('a rung that misbehaves', () => {
    it.each([
      ['hang', 'failed', /^Hung during verification: no progress for 2 s/],
      ['crash', 'failed', /^Crashed during verification \(SIGSEGV\)/],
      ['context-lost', 'failed', /an illegal memory access was encountered/],
      ['wrong', 'wrong', /3 elements of C exceed the error bound; the first is C\[1\]\[2\] = NaN/],
    ])(
      'with the fault %s fails without affecting the other rungs',
      async (fault, status, reason) => {
        const machine = await fakeMachine([], { processes: fault === 'crash' })
        await machine.addFault('02_coalesced', fault)
        const { session, folder } = await machine.run({
          rungs: ['01_naive', '02_coalesced', '03_shared_tile'],
        })
        expect(rung(session, '02_coalesced').status).toBe(status)
        expect(said(rung(session, '02_coalesced').reason)).toMatch(reason)
        const others = Object.entries(statuses(session)).filter(([id]) => id !== '02_coalesced')
        expect(others.map(([, other]) => other)).toEqual(others.map(() => 'ok'))
        expect(folder).not.toBeNull()
      },
    )

    it('gets a reason for each missing counter instead of a profile', async () => {
      const machine = await fakeMachine()
      await machine.addFault('02_coalesced', 'crash')
      const { session } = await machine.run()
      const { metrics } = rung(session, '02_coalesced')
      expect(metrics.fmaUtilization).toMatchObject({ value: null, evidence: 'unavailable' })
      expect(said(metrics.fmaUtilization?.reason)).toContain('not profiled')
      const profiled = machine.calls('ncu').find((call) => call.includes('profile'))
      expect(profiled?.some((word) => word.startsWith('02_coalesced='))).toBe(false)
    })

    it('affects no other rungs, even if a second rung also crashes', async () => {
      const machine = await fakeMachine()
      await machine.addFault('02_coalesced', 'crash')
      await machine.addFault('04_thread_tile_1d', 'crash')
      const { session } = await machine.run()
      expect(statuses(session)).toEqual(allBut('02_coalesced', '04_thread_tile_1d'))
    })

    it("leaves the other rungs' times without ratios if it is the reference", async () => {
      const machine = await fakeMachine()
      await machine.addFault('00_cublas', 'crash')
      const { session } = await machine.run()
      expect(statuses(session)).toEqual(allBut('00_cublas'))
      const restart = machine.calls('runner').filter((call) => call[1] === 'measure')[1]
      expect(restart).not.toContain('--reference')
      expect(said(session.warnings).join()).toContain('No ratios')
    })
  })

  describe("a rung that prints text like the runner's protocol", () => {
    it('with missing fields or broken JSON is measured like any other rung', async () => {
      const machine = await fakeMachine()
      await machine.addFault('02_coalesced', 'garble')
      const { session } = await machine.run()
      expect(statuses(session)).toEqual(allBut())
      expect(session.warnings).toEqual([])
    })

    it('causes a warning, and its out-of-order output is ignored', async () => {
      const honest = (await (await fakeMachine()).run()).session
      const machine = await fakeMachine()
      await machine.addFault('02_coalesced', 'forge')
      const { session } = await machine.run()
      expect(statuses(session)).toEqual(allBut())
      expect(session.rungs.map(({ timing }) => timing?.medianMs)).toEqual(
        honest.rungs.map(({ timing }) => timing?.medianMs),
      )
      expect(session.ceilings).toEqual(honest.ceilings)
      expect(said(session.warnings).join()).toMatch(/they were ignored/)
    })
  })

  describe('a crash that loses the GPU', () => {
    const before = ladderRungs.slice(0, ladderRungs.indexOf('03_shared_tile'))
    const behind = ladderRungs.slice(before.length + 1)

    it.each([
      ['no-device', 'missing', /no CUDA-capable device/],
      ['out-of-memory', 'missing', /0 GiB free/],
      ['silent', undefined, /before it reached a rung: exit code 1/],
      ['mute', undefined, /no output for 2 s/],
    ])('keeps and saves the finished measurements (%s)', async (how, missingKind, why) => {
      const machine = await fakeMachine()
      await machine.addFault('03_shared_tile', `gpu-lost:${how}`)
      const { session, folder, missing } = await machine.run()
      expect(folder).not.toBeNull()
      for (const id of before) {
        expect(rung(session, id).status).toBe('ok')
        expect(rung(session, id).timing?.medianMs).toBeGreaterThan(0)
      }
      expect(said(rung(session, '03_shared_tile'))).toMatchObject({
        status: 'failed',
        reason: 'Crashed during verification (SIGSEGV).',
      })
      for (const id of behind) {
        expect(rung(session, id).status).toBe('not-run')
        expect(said(rung(session, id).reason)).toMatch(why)
      }
      expect(missing?.kind).toBe(missingKind)
      expect(said(session.warnings).join()).toMatch(why)
      expect(said(session.warnings).join()).toMatch(/nvidia-smi --gpu-reset/)
      expect(machine.calls('ncu').some((call) => call.includes('profile'))).toBe(false)
    })

    it('at the first rung leaves a session with the rung that caused the crash', async () => {
      const machine = await fakeMachine()
      await machine.addFault('00_cublas', 'gpu-lost:no-device')
      const { session, folder } = await machine.run()
      expect(folder).not.toBeNull()
      expect(rung(session, '00_cublas').status).toBe('failed')
      expect(rung(session, '01_naive').status).toBe('not-run')
    })

    it('during the verification of additional problems does not affect the times', async () => {
      const machine = await fakeMachine()
      setEnv({ FAKE_GONE_AT: '--max-seconds' })
      const catalog = await readCatalog(machine.kernelsDir)
      const plan = planRun(catalog, {
        ladder: 'gemm-fp32',
        size: 1024,
        params: {},
        profile: 'none',
      })
      const problem = { ...plan.problem, sizes: { ...plan.problem.sizes, m: 129 } }
      const { session, missing } = await machine.runPlan({
        ...plan,
        alsoVerify: {
          decides: false,
          rungs: ['02_coalesced'],
          problems: [problem, problem],
        },
      })
      expect(statuses(session)).toEqual(allBut())
      expect(rung(session, '02_coalesced').alsoVerified).toMatchObject([
        { verify: null, reason: expect.stringMatching(/no CUDA-capable device/) as string },
      ])
      expect(missing?.kind).toBe('missing')
    })
  })

  describe('a GPU that other processes use', () => {
    it('causes one warning without discarding the times', async () => {
      const machine = await fakeMachine()
      setEnv({ FAKE_GPU_PROGRAMS: '2' })
      const { session } = await machine.run()
      expect(said(session.warnings).filter((warning) => /shared/.test(warning))).toHaveLength(1)
      expect(said(session.warnings).join()).not.toContain('4242')
      expect(statuses(session)).toEqual(allBut())
    })
  })

  describe('a machine with several GPUs', () => {
    const visibleTo = (machine: Machine): string[] =>
      machine.calls('gpu').map(([, visible = '']) => visible)

    it('runs rungs on the requested GPU and stores its index in the session', async () => {
      const machine = await fakeMachine()
      setEnv({ FAKE_GPUS: '2' })
      const other = await machine.run({ gpu: 1 })
      expect(other.session.settings.gpu).toBe(1)
      expect(statuses(other.session)).toEqual(allBut())
      const seen = visibleTo(machine)
      expect(seen.length).toBeGreaterThan(1)
      expect(new Set(seen)).toEqual(new Set(['1']))
      expect((await machine.run()).session.settings.gpu).toBe(0)
    })

    it('counts only the GPUs that a scheduler left visible', async () => {
      const machine = await fakeMachine()
      setEnv({ FAKE_GPUS: '4', CUDA_VISIBLE_DEVICES: '2,3' })
      expect((await machine.run({ gpu: 1 })).session.settings.gpu).toBe(3)
      await expect(machine.run({ gpu: 2 })).rejects.toThrow(
        'There is no GPU 2: CUDA_VISIBLE_DEVICES is "2,3".',
      )
    })

    it('rejects an index that has no GPU', async () => {
      const machine = await fakeMachine()
      setEnv({ FAKE_GPUS: '2' })
      await expect(machine.run({ gpu: 2 })).rejects.toThrow(
        'There is no GPU 2: the driver lists 2.',
      )
    })
  })

  describe("the runner's output", () => {
    it('is converted to times, ratios to the interleaved reference, and verification results', async () => {
      const machine = await fakeMachine()
      const { session } = await machine.run()
      for (const { timing, verify } of session.rungs) {
        expect(verify?.passed).toBe(true)
        expect(timing!.samplesMs).toHaveLength(timing!.samples)
        expect(timing!.gflops).toBeCloseTo((2 * 1024 ** 3) / (timing!.medianMs * 1e6), 6)
        expect(timing!.ratioToReference).toBeCloseTo(
          timing!.referenceMedianMs! / timing!.medianMs,
          9,
        )
      }
      expect(rung(session, '00_cublas').timing?.ratioToReference).toBe(1)
    })

    it('includes the reference in addition to the requested rungs', async () => {
      const machine = await fakeMachine()
      const { session } = await machine.run({ rungs: ['02_coalesced'] })
      expect(session.rungs.map(({ id }) => id)).toEqual(['02_coalesced'])
      expect(rung(session, '02_coalesced').timing?.ratioToReference).toBeGreaterThan(0)
      const call = machine.calls('runner').find((words) => words[1] === 'measure')
      expect(call).toEqual(expect.arrayContaining(['--reference', '00_cublas']))
    })

    it.each([
      ['no-device', 'missing', /no CUDA-capable device/],
      ['out-of-memory', 'input', /needs 900 GiB/],
      ['reference', 'failed', /^The reference gemm\/reference\.cu failed: it returns an error$/],
      ['reference-crash', 'failed', /^The reference gemm\/reference\.cu does not finish\./],
    ])(
      '%s ends the run with an error message and without a session',
      async (refusal, kind, message) => {
        const machine = await fakeMachine()
        setEnv({ FAKE_RUNNER: refusal })
        await expect(machine.run()).rejects.toMatchObject({
          kind,
          message: expect.stringMatching(message) as string,
        })
        const { readdir } = await import('node:fs/promises')
        expect(await readdir(machine.store).catch(() => [])).toEqual([])
      },
    )
  })

  describe('canceling', () => {
    it('ends all processes immediately, even those in their own session, and saves finished results', async () => {
      const machine = await fakeMachine([], { processes: true })
      await machine.addFault('03_shared_tile', 'spawn')
      const abort = new AbortController()
      const running = machine.run({}, { signal: abort.signal })
      await expect.poll(() => machine.calls('child'), { timeout: 60_000 }).toHaveLength(1)
      abort.abort()
      const { session, folder } = await running
      expect(session.completion).toBe('cancelled')
      expect(statuses(session)).toMatchObject({
        '00_cublas': 'ok',
        '02_coalesced': 'ok',
        '03_shared_tile': 'not-run',
        '06_float4': 'not-run',
      })
      const { stderr } = (await readRaw(folder!, 'runner/measure-1'))!
      const child = Number(/child (\d+)/.exec(stderr)?.[1])
      expect(machine.calls('child')).toEqual([['child', String(child)]])
      await expect.poll(() => isAlive(child), { timeout: 60_000 }).toBe(false)
    })

    it('during a build stops the compilers without saving an empty session', async () => {
      const machine = await fakeMachine([], { processes: true })
      const rungs = ['00_cublas', '01_naive', '02_coalesced', '03_shared_tile']
      for (const id of rungs) await machine.addFault(id, 'slow-build')
      const abort = new AbortController()
      const running = machine.run({ rungs }, { signal: abort.signal })
      await expect.poll(() => machine.calls('slow').length, { timeout: 60_000 }).toBeGreaterThan(0)
      abort.abort()
      const { session, folder } = await running
      for (const [, pid] of machine.calls('slow'))
        await expect.poll(() => isAlive(Number(pid)), { timeout: 60_000 }).toBe(false)
      expect(session.completion).toBe('cancelled')
      expect(new Set(Object.values(statuses(session)))).toEqual(new Set(['not-run']))
      expect(folder).toBeNull()
    })
  })
})

describe('degraded runs', () => {
  /**
   * Metrics that can be derived from the launch and the GPU. All other metrics require counters.
   */
  const fromLaunch = ['wavesPerSm', 'theoreticalOccupancy', 'registersPerThread']
  const fromCounters = cardMetricIds.filter((id) => !fromLaunch.includes(id))

  async function withAndWithout(
    given: Parameters<Awaited<ReturnType<typeof fakeMachine>>['run']>[0],
    without: readonly string[] = [],
  ): Promise<{ session: Session; profiled: Session }> {
    const { session: profiled } = await (await fakeMachine()).run()
    const machine = await fakeMachine(without)
    const { session } = await machine.run(given)
    return { session, profiled }
  }

  describe('without counters', () => {
    it.each([
      ['profiling is turned off', { profile: 'none' as const }, [], /--profile none/],
      ['ncu is not there', {}, ['ncu'], /ncu was not found/],
    ])(
      "occupancy, waves, and registers are derived and match ncu's values if %s",
      async (_case, given, without, reason) => {
        const { session, profiled } = await withAndWithout(given, without)
        expect(session.rungs.map(({ id }) => id)).toEqual(ladderRungs)
        for (const [index, { id, status, metrics }] of session.rungs.entries()) {
          expect(status).toBe('ok')
          for (const metric of fromLaunch) {
            const ncu = profiled.rungs[index]!.metrics[metric]!
            expect(ncu.evidence).toBe('measured')
            if (isOneFigure(id, metric)) {
              expect(said(metrics[metric]), `${id} ${metric}`).toMatchObject({
                evidence: 'derived',
                unit: ncu.unit,
                reason: expect.any(String) as string,
              })
              // ncu prints two decimals.
              expect(Math.abs(metrics[metric]!.value! - ncu.value!)).toBeLessThan(0.006)
            } else
              expect(said(metrics[metric]), `${id} ${metric}`).toMatchObject({
                value: null,
                evidence: 'unavailable',
                reason: expect.stringContaining('launches 2 kernels that differ in this') as string,
              })
          }
          for (const metric of fromCounters)
            expect(said(metrics[metric]), `${id} ${metric}`).toMatchObject({
              value: null,
              evidence: 'unavailable',
              reason: expect.stringMatching(reason) as string,
            })
        }
      },
    )

    it('derived figures list the values that they were computed from', async () => {
      const { session } = await (await fakeMachine()).run({ profile: 'none' })
      const [naive] = session.rungs.filter(({ id }) => id === '01_naive')
      expect(said(naive!.metrics.wavesPerSm?.reason)).toBe(
        'Computed from 1024 threads per block, 32 registers per thread, 0 bytes of shared memory per block, and compute capability 9.0, for a grid of 1024 blocks on 132 SMs.',
      )
    })

    it('no figures are guessed if the runner could not observe the launch', async () => {
      const machine = await fakeMachine()
      setEnv({ FAKE_RUNNER: 'no-launches' })
      const { session } = await machine.run({ profile: 'none' })
      for (const { launches, timing, metrics } of session.rungs) {
        expect(launches).toBeUndefined()
        expect(timing).not.toBeNull()
        for (const metric of fromLaunch)
          expect(metrics[metric]).toMatchObject({ value: null, evidence: 'unavailable' })
      }
    })
  })

  describe('with counters', () => {
    it('counters take precedence over derived values, and the launches are also stored', async () => {
      const { session } = await (await fakeMachine()).run()
      for (const { launches, profile, metrics } of session.rungs) {
        expect(metrics.theoreticalOccupancy?.evidence).toBe('measured')
        expect(launches?.map(({ grid, block }) => ({ grid, block }))).toEqual(
          profile?.kernels.map(({ grid, block }) => ({ grid, block })),
        )
      }
    })
  })

  describe("the GPU's roofs", () => {
    it('are measured once, before the first rung, and stored in the session', async () => {
      const machine = await fakeMachine()
      await machine.addFault('02_coalesced', 'crash')
      const { session } = await machine.run()
      expect(session.ceilings?.fp32Gflops).toBeGreaterThan(0)
      const calls = machine.calls('runner').filter(([, command]) => command === 'measure')
      expect(calls.map((call) => call.includes('--ceilings'))).toEqual([true, false])
    })
  })
})
