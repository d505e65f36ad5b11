/** Formats predicted times and ratios, including their ranges. */

/** A predicted quantity and its range. */
export interface Range {
  value: number
  low: number
  high: number
}

/**
 * Returns a number with two significant digits and no exponent. The model is not precise enough for
 * more digits.
 */
function digits(value: number): string {
  if (value === 0) return '0'
  const places = 1 - Math.floor(Math.log10(Math.abs(value)))
  return places > 0
    ? value.toFixed(Math.min(places, 20))
    : String(Math.round(value * 10 ** places) / 10 ** places)
}

const scales = [
  { below: 1, factor: 1000, unit: 'µs' },
  { below: 1000, factor: 1, unit: 'ms' },
  { below: Infinity, factor: 0.001, unit: 's' },
] as const

/** Returns a predicted time as text, such as `≈ 3.1 ms (2.7–3.6)`. */
export function formatPredictedMs({ ms, lowMs, highMs }: PredictedMs): string {
  const { factor, unit } = scales.find(({ below }) => ms < below) ?? scales[2]
  return `≈ ${digits(ms * factor)} ${unit} (${digits(lowMs * factor)}–${digits(highMs * factor)})`
}

/** Returns a predicted ratio as text, such as `≈ 1.4× (1.2–1.7)`. */
export const formatPredictedRatio = ({ value, low, high }: Range): string =>
  `≈ ${digits(value)}× (${digits(low)}–${digits(high)})`

interface PredictedMs {
  ms: number
  lowMs: number
  highMs: number
}

/**
 * Returns the ratio of the times `a` and `b`. The ratio's range covers every pair of times within
 * the two ranges.
 */
export const predictedRatio = (a: PredictedMs, b: PredictedMs): Range => ({
  value: a.ms / b.ms,
  low: a.lowMs / b.highMs,
  high: a.highMs / b.lowMs,
})
