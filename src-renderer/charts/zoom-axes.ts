/** Reads and sets the axis ranges and positions that zooming and highlighting use. */
import type { ChartOption } from './chart'
import type { Chart } from './echarts'
import { valueAt, type Span, type ZoomState } from './zoom'

type Side = 'x' | 'y'

const keys = { x: 'xAxis', y: 'yAxis' } as const

interface AxisShape {
  type?: string
  min?: number
  max?: number
  inverse?: boolean
  data?: readonly unknown[]
}

/**
 * Returns the chart's first axis in a direction. If there are several axes, they zoom together.
 */
const axisOf = (option: ChartOption, side: Side): AxisShape =>
  ([option[keys[side]] ?? {}].flat()[0] ?? {}) as AxisShape

/**
 * Returns the index range of the visible categories. A category is visible if its middle is inside
 * the span.
 */
function indices(count: number, [from, to]: Span): [number, number] {
  const first = Math.min(count - 1, Math.max(0, Math.ceil(from * count - 0.5)))
  return [first, Math.max(first, Math.min(count - 1, Math.floor(to * count - 0.5)))]
}

/**
 * Returns the values at both ends of the visible part of an axis. Returns null if the option does
 * not set the ends of the axis.
 */
export function shownValues(option: ChartOption, side: Side, span: Span): [number, number] | null {
  const { type, min, max, data } = axisOf(option, side)
  if (type === 'category') return data ? indices(data.length, span) : null
  if (min === undefined || max === undefined) return null
  const axis = { min, max, log: type === 'log' }
  return [valueAt(axis, span[0]), valueAt(axis, span[1])]
}

/** Returns the option with its axes limited to the visible range. An unzoomed axis is unchanged. */
export function withZoom(option: ChartOption, zoom: ZoomState): ChartOption {
  const cut = (side: Side) => {
    const [from, to] = zoom[side]
    const values = from === 0 && to === 1 ? null : shownValues(option, side, zoom[side])
    if (!values) return {}
    const axes = [option[keys[side]] ?? {}].flat().map((axis) => ({
      ...axis,
      // Remove the interval. An interval chosen for the whole axis could leave the zoomed part
      // without ticks.
      interval: undefined,
      min: values[0],
      max: values[1],
    }))
    return { [keys[side]]: axes }
  }
  return { ...option, ...cut('x'), ...cut('y') } as ChartOption
}

/** Returns the pixel positions of both ends of an axis, in the direction of increasing values. */
export function axisPixels(chart: Chart, option: ChartOption, side: Side): [number, number] | null {
  const { type, min, max, data } = axisOf(option, side)
  const at = (value: number): number =>
    Number(chart.convertToPixel({ [`${side}AxisIndex`]: 0 }, value))
  if (type !== 'category') return min === undefined || max === undefined ? null : [at(min), at(max)]
  const count = data?.length ?? 0
  if (count === 0) return null
  const [first, last] = [min ?? 0, max ?? count - 1]
  const half = bandOf(chart, side) / 2
  const sign = Math.sign(at(last) - at(first)) || (side === 'y' ? -1 : 1)
  return [at(first) - sign * half, at(last) + sign * half]
}

/** Returns the distance between two categories in pixels. */
export function bandOf(chart: Chart, side: Side): number {
  const at = (value: number): number =>
    Number(chart.convertToPixel({ [`${side}AxisIndex`]: 0 }, value))
  // If there is only one category, position 1 is outside the drawing, but still one band away from
  // position 0.
  return Math.abs(at(1) - at(0))
}
