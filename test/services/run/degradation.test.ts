import { describe, expect, it } from 'vitest'
import { cardMetricIds } from '../../../src-main/domain/metrics/metrics'
import type { Session } from '../../../src-main/domain/session/session'
import { fakeMachine, isOneFigure, ladderRungs, setEnv } from '../support'
import { said } from '../../said'

/** What follows from the launch and the GPU; the rest needs counters. */
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
    'occupancy, waves and registers are derived, and are what ncu measures, when %s',
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

  it('says what a derived figure was computed from', async () => {
    const { session } = await (await fakeMachine()).run({ profile: 'none' })
    const [naive] = session.rungs.filter(({ id }) => id === '01_naive')
    expect(said(naive!.metrics.wavesPerSm?.reason)).toBe(
      'Computed from 1024 threads per block, 32 registers per thread, 0 bytes of shared memory per block and compute capability 9.0, for a grid of 1024 blocks on 132 SMs.',
    )
  })

  it('guesses nothing where the runner could not see the launch', async () => {
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
  it('they are what counts, and the launches are kept beside them', async () => {
    const { session } = await (await fakeMachine()).run()
    for (const { launches, profile, metrics } of session.rungs) {
      expect(metrics.theoreticalOccupancy?.evidence).toBe('measured')
      expect(launches?.map(({ grid, block }) => ({ grid, block }))).toEqual(
        profile?.kernels.map(({ grid, block }) => ({ grid, block })),
      )
    }
  })
})

describe('the roofs of the GPU', () => {
  it('are measured once, before the first rung, and kept with the session', async () => {
    const machine = await fakeMachine()
    await machine.addFault('02_coalesced', 'crash')
    const { session } = await machine.run()
    expect(session.ceilings?.fp32Gflops).toBeGreaterThan(0)
    const calls = machine.calls('runner').filter(([, command]) => command === 'measure')
    expect(calls.map((call) => call.includes('--ceilings'))).toEqual([true, false])
  })
})
