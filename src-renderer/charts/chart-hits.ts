/** Finds the part of a drawn chart at a pixel. */
import { distanceToLine, rungJoins, type RungAxis, type RungJoin } from './chart-links'
import type { DrawnChart } from './use-drawn-chart'
import { axisPixels } from './zoom-axes'

/** Returns the rung whose row or column contains a pixel, or null. */
export function rungInRow(
  { chart, option }: DrawnChart,
  { axis, rungs }: RungAxis,
  [x, y]: readonly [number, number],
): string | null {
  const ends = axisPixels(chart, option, axis)
  const other = axisPixels(chart, option, axis === 'x' ? 'y' : 'x')
  if (!ends) return null
  const [place, across] = axis === 'x' ? [x, y] : [y, x]
  if (place < Math.min(...ends) || place > Math.max(...ends)) return null
  // The names next to the axis are part of their rows. The space past the end of the axis is not
  // part of any row.
  if (other && axis === 'y' && across > Math.max(...other) + 150) return null
  const index = Number(chart.convertFromPixel({ [`${axis}AxisIndex`]: 0 }, place))
  return rungs[Math.round(index)] ?? null
}

/** Maximum distance in pixels between the pointer and a line that it hits. */
const joinPixels = 6

/** Returns the visible line between two rungs that is nearest to a pixel, or null. */
export function joinAt(
  { chart, option }: DrawnChart,
  hidden: readonly string[],
  at: readonly [number, number],
): RungJoin | null {
  const pixel = (series: number, point: [number, number]) =>
    chart.convertToPixel({ seriesIndex: series }, point) as [number, number]
  const near = rungJoins(option)
    .filter(({ name }) => name === undefined || !hidden.includes(name))
    .filter(({ series }) => chart.containPixel({ seriesIndex: series }, [...at]))
    .map((join) => ({
      join,
      away: distanceToLine(at, pixel(join.series, join.from), pixel(join.series, join.to)),
    }))
    .filter(({ away }) => away <= joinPixels)
    .sort((one, other) => one.away - other.away)
  return near[0]?.join ?? null
}

/**
 * Returns the position of a pixel along an axis, from 0 to 1 in the direction of increasing values.
 */
export function shareAt(
  { chart, option }: DrawnChart,
  side: 'x' | 'y',
  pixel: number,
): number | null {
  const ends = axisPixels(chart, option, side)
  if (!ends || ends[0] === ends[1]) return null
  return (pixel - ends[0]) / (ends[1] - ends[0])
}
