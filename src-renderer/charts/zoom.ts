/**
 * Computes the visible part of an axis. ECharts' own data zoom works on values, so the point under
 * the cursor drifts on a logarithmic axis. This module uses fractions of the drawn axis, which work
 * for every axis type.
 */

/**
 * Visible part of an axis. 0 to 1 is the initial range of the axis. Some charts can zoom out beyond
 * the initial range.
 */
export type Span = readonly [from: number, to: number]
export const wholeAxis: Span = [0, 1]
/** Limits of zooming out in a chart with data outside its initial range. */
export const beyondFrame: Span = [-1.5, 2.5]

/** The smallest fraction of an axis that zooming can show. */
const narrowest = 1 / 50

export interface ZoomState {
  x: Span
  y: Span
}
export const unzoomed: ZoomState = { x: wholeAxis, y: wholeAxis }

export const isUnzoomed = ({ x, y }: ZoomState): boolean =>
  [x, y].every(([from, to]) => from === 0 && to === 1)

/** Moves a span inside the limits. Shortens the span if it does not fit. */
function within([from, to]: Span, [least, most]: Span): Span {
  const length = Math.min(to - from, most - least)
  const start = Math.min(Math.max(from, least), most - length)
  return [start, start + length]
}

/**
 * Returns the span after zooming around `at`, a position from 0 to 1 along the visible part. A
 * `factor` above 1 zooms in.
 */
export function zoomedSpan([from, to]: Span, factor: number, at: number, limits: Span): Span {
  const length = Math.max(narrowest, (to - from) / factor)
  const place = from + at * (to - from)
  return within([place - at * length, place + (1 - at) * length], limits)
}

/** Returns the span moved by a fraction of its length. */
export function pannedSpan([from, to]: Span, by: number, limits: Span): Span {
  const distance = by * (to - from)
  return within([from + distance, to + distance], limits)
}

/** Returns the value at a fraction of an axis. */
export const valueAt = (
  { min, max, log }: { min: number; max: number; log: boolean },
  share: number,
): number => (log ? min * (max / min) ** share : min + (max - min) * share)

/**
 * Returns ticks at 1, 2, and 5 times powers of ten. A wider axis has ticks at 1 and 3 times powers
 * of ten, or only at powers of ten.
 */
export function logTicks(min: number, max: number): number[] {
  const decades = Math.log10(max / min)
  const factors = decades > 3 ? [1] : decades > 1.5 ? [1, 3] : [1, 2, 5]
  const ticks = []
  for (let power = Math.floor(Math.log10(min)); power <= Math.ceil(Math.log10(max)); power += 1)
    for (const factor of factors) {
      const tick = Number(`${factor}e${power}`)
      if (tick >= min * 0.9999 && tick <= max * 1.0001) ticks.push(tick)
    }
  // If fewer than two ticks fit, use the ends and their geometric mean.
  return ticks.length > 1 ? ticks : [min, Math.sqrt(min * max), max]
}
