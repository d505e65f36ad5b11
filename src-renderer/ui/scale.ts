/**
 * Linear and logarithmic scales for bars and their axes. A scale converts a value to a fraction of
 * the axis length.
 */
export type ScaleKind = 'linear' | 'log'

export interface Scale {
  kind: ScaleKind
  min: number
  max: number
}

/**
 * Returns a scale for the values. A linear scale starts at 0. A logarithmic scale starts at the
 * largest power of ten that is not above the smallest positive value.
 */
export function makeScale(kind: ScaleKind, values: readonly number[]): Scale {
  const positive = values.filter((value) => Number.isFinite(value) && value > 0)
  if (positive.length === 0) return { kind, min: kind === 'log' ? 1 : 0, max: 10 }
  const max = Math.max(...positive)
  if (kind === 'linear') return { kind, min: 0, max }
  const min = 10 ** Math.floor(Math.log10(Math.min(...positive)))
  return { kind, min, max: Math.max(max, min * 10) }
}

/**
 * Returns a value's position from 0 to 1. On a linear scale, a positive value is always visible. On
 * a logarithmic scale, the position is never negative.
 */
export function share(scale: Scale, value: number): number {
  if (!(value > 0)) return 0
  const raw =
    scale.kind === 'linear'
      ? value / scale.max
      : Math.log(value / scale.min) / Math.log(scale.max / scale.min)
  return Math.min(1, Math.max(0, raw))
}

/** Returns tick positions: three to five round values on a linear axis, or the powers of ten. */
export function ticks(scale: Scale): number[] {
  if (scale.kind === 'log') {
    const result: number[] = []
    for (let tick = scale.min; tick <= scale.max * 1.0001; tick *= 10) result.push(tick)
    return result
  }
  const rough = scale.max / 3
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough)!
  const result: number[] = []
  for (let tick = 0; tick <= scale.max * 1.0001; tick += step) result.push(tick)
  return result
}
