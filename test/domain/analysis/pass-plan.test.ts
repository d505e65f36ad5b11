import { describe, expect, it } from 'vitest'
import { planProfile, profileSeconds } from '../../../src-main/domain/analysis/pass-plan'

const rungs = [
  { id: '01_naive', medianMs: 262 },
  { id: '06_float4', medianMs: 4.5 },
  { id: '07_unknown', medianMs: null },
]

describe('what profiling will cost', () => {
  it('is passes and seconds a rung, more at each level and for each slower rung', () => {
    const seconds = (['card', 'standard', 'deep'] as const).map((level) =>
      planProfile({ level, computeCapability: '9.0', rungs }),
    )
    expect(seconds.map(({ passes }) => passes)).toEqual([1, 7, 40])
    for (const { rungs: planned } of seconds)
      expect(planned[0]!.seconds).toBeGreaterThan(planned[1]!.seconds!)
    expect(seconds[0]!.seconds).toBeLessThan(seconds[1]!.seconds)
    expect(seconds[1]!.seconds).toBeLessThan(seconds[2]!.seconds)
  })

  it('adds up over what is not left out', () => {
    const all = planProfile({ level: 'deep', computeCapability: '9.0', rungs })
    const some = planProfile({
      level: 'deep',
      computeCapability: '9.0',
      rungs,
      skip: ['01_naive'],
    })
    expect(some.rungs.map(({ skipped }) => skipped)).toEqual([true, false, false])
    expect(all.seconds - some.seconds).toBeCloseTo(profileSeconds('deep', 262), 6)
  })

  it('leaves out what is expected to take longer than a limit, and nothing of unknown length', () => {
    const { rungs: planned } = planProfile({
      level: 'deep',
      computeCapability: '9.0',
      rungs,
      limitSeconds: 5,
    })
    expect(planned.filter(({ skipped }) => skipped).map(({ id }) => id)).toEqual(['01_naive'])
    expect(planned[2]).toEqual({ id: '07_unknown', seconds: null, skipped: false })
  })

  it('says when the GPU at hand is not the one it is known of', () => {
    const on = (computeCapability: string | null): boolean =>
      planProfile({ level: 'card', computeCapability, rungs }).otherGpu
    expect([on('9.0'), on('8.6'), on(null)]).toEqual([false, true, true])
  })
})
