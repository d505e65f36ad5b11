/**
 * Tests the waterfall from the old time to the new time. The bars' milliseconds must add up to the
 * time difference.
 */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readSession } from '../../../src-main/adapters/sessions/session-store'
import { rungOf } from '../../../src-main/domain/session/session'
import { waterfallOf } from '../../../src-main/domain/why/waterfall'
import { whyOf } from '../../../src-main/domain/why/why'
import { whyOfSteps } from '../../../src-main/domain/why/why-steps'

const session = await readSession(
  join(import.meta.dirname, '../../../resources/recordings/gemm-fp32-h200-4096'),
)
const between = (a: string, b: string) => {
  const [from, to] = [rungOf(session, a)!, rungOf(session, b)!]
  const why = whyOf({ session, rung: from }, { session, rung: to })
  return waterfallOf(why, from.timing!.medianMs, to.timing!.medianMs)
}

describe('a waterfall', () => {
  it('leads from the old time to the new time without a gap, for every recorded step with causes', () => {
    const falls = whyOfSteps(session).flatMap(
      ({ a, b, why }) => waterfallOf(why, a.timing!.medianMs, b.timing!.medianMs) ?? [],
    )
    expect(falls.length).toBeGreaterThan(8)
    for (const { fromMs, toMs, bars } of falls) {
      expect(bars[0]!.fromMs).toBe(fromMs)
      for (const [index, bar] of bars.slice(1).entries())
        expect(bar.fromMs).toBeCloseTo(bars[index]!.toMs, 9)
      const tolerance = 0.001 * Math.max(fromMs, toMs)
      expect(Math.abs(bars.at(-1)!.toMs - toMs)).toBeLessThan(tolerance)
    }
  })

  it('shows effects that oppose a faster step as added time', () => {
    const { bars } = between('08_warp_tile', '09_register_prefetch')!
    expect(bars[0]).toMatchObject({ cause: 'busy' })
    expect(bars[0]!.ms).toBeLessThan(-0.4)
    expect(bars.some(({ ms }) => ms > 0)).toBe(true)
  })

  it('does not exist if the times are the same or one time is unknown', () => {
    expect(between('13_split_k', '14_shape_dispatch')).toBeNull()
    const [a, b] = [rungOf(session, '05_thread_tile_2d')!, rungOf(session, '06_float4')!]
    const why = whyOf({ session, rung: a }, { session, rung: b })
    expect(waterfallOf(why, null, 3)).toBeNull()
    expect(waterfallOf(why, 0, 3)).toBeNull()
  })
})
