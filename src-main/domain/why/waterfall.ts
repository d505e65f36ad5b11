/**
 * Splits the difference between two times into milliseconds per factor. The time saved by one
 * factor depends on the order of the factors, because the factors are multiplied. A factor's share
 * of the total logarithm does not depend on the order. Each bar is therefore the factor's logarithm
 * times the logarithmic mean of the two times. The bars add up to the difference between the two
 * times.
 */
import { z } from 'zod'
import { partIds } from './parts'
import { contributionsOf } from './contributions'
import type { Cause, Why } from './why'

export const Bar = z.object({
  /** The cause, as in `causes`; null for the unexplained rest. */
  cause: z.enum(partIds).nullable(),
  /** Milliseconds that the factor adds to the time. Negative if the factor saves time. */
  ms: z.number(),
  /** Start and end of the bar in milliseconds. */
  fromMs: z.number(),
  toMs: z.number(),
})
export type Bar = z.infer<typeof Bar>

export interface Waterfall {
  fromMs: number
  toMs: number
  bars: (Bar & { of: Cause | null })[]
}

/** Minimum size of a visible bar, as a fraction of the longer time. */
const least = 0.0005

const logarithmicMean = (a: number, b: number): number => {
  const log = Math.log(a / b)
  return Math.abs(log) < 1e-9 ? a : (a - b) / log
}

/** Returns the bars, or null if there are no causes or a time is unknown. */
export function waterfallOf(
  why: Why,
  fromMs: number | null,
  toMs: number | null,
): Waterfall | null {
  const factors = contributionsOf(why)
  if (factors.length === 0 || !fromMs || !toMs || fromMs <= 0 || toMs <= 0) return null
  const mean = logarithmicMean(fromMs, toMs)
  let at = fromMs
  const bars = factors.map(({ cause, factor }) => {
    const ms = -mean * Math.log(factor)
    const bar = { of: cause, cause: cause?.id ?? null, ms, fromMs: at, toMs: at + ms }
    at += ms
    return bar
  })
  // The unexplained rest includes factors that are too small for their own bar.
  const rest = toMs - at
  if (Math.abs(rest) > least * Math.max(fromMs, toMs))
    bars.push({ of: null, cause: null, ms: rest, fromMs: at, toMs })
  return { fromMs, toMs, bars }
}
