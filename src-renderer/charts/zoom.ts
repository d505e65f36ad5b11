/**
 * Which part of an axis is shown. ECharts' own data zoom works on values, so that on a logarithmic axis the place
 * under the pointer runs away; shares of the axis as drawn behave alike on every kind of axis. Pure.
 */
import type { ChartOption } from './chart'
import type { Chart } from './echarts'

/** From 0 to 1 is the whole axis as the chart frames it; a chart may allow more on either side. */
export type Span = readonly [from: number, to: number]
export const wholeAxis: Span = [0, 1]
/** How far beyond its frame a chart that has more to show can be zoomed out. */
export const beyondFrame: Span = [-1.5, 2.5]

/** The smallest part that can be shown. */
const narrowest = 1 / 50

export interface ZoomState {
  x: Span
  y: Span
}
export const unzoomed: ZoomState = { x: wholeAxis, y: wholeAxis }

export const isUnzoomed = ({ x, y }: ZoomState): boolean =>
  [x, y].every(([from, to]) => from === 0 && to === 1)

/** Moves a span back inside the limits, and cuts what is longer than they are. */
function within([from, to]: Span, [least, most]: Span): Span {
  const length = Math.min(to - from, most - least)
  const start = Math.min(Math.max(from, least), most - length)
  return [start, start + length]
}

/** `factor` above 1 shows less; `at`, from 0 to 1 along the shown part, stays where it is. */
export function zoomedSpan([from, to]: Span, factor: number, at: number, limits: Span): Span {
  const length = Math.max(narrowest, (to - from) / factor)
  const place = from + at * (to - from)
  return within([place - at * length, place + (1 - at) * length], limits)
}

/** Moves the shown part by a share of its length. */
export function pannedSpan([from, to]: Span, by: number, limits: Span): Span {
  const distance = by * (to - from)
  return within([from + distance, to + distance], limits)
}

/** The value at a share of an axis. */
export const valueAt = (
  { min, max, log }: { min: number; max: number; log: boolean },
  share: number,
): number => (log ? min * (max / min) ** share : min + (max - min) * share)

/** 1, 2 and 5 times powers of ten between both ends, of which a wide axis keeps the powers alone. */
export function logTicks(min: number, max: number): number[] {
  const decades = Math.log10(max / min)
  const factors = decades > 3 ? [1] : decades > 1.5 ? [1, 3] : [1, 2, 5]
  const ticks = []
  for (let power = Math.floor(Math.log10(min)); power <= Math.ceil(Math.log10(max)); power += 1)
    for (const factor of factors) {
      const tick = Number(`${factor}e${power}`)
      if (tick >= min * 0.9999 && tick <= max * 1.0001) ticks.push(tick)
    }
  // Zoomed in between two of them.
  return ticks.length > 1 ? ticks : [min, Math.sqrt(min * max), max]
}

// The axes of a chart's option as zooming and highlighting need them: what they show, and where.

type Side = 'x' | 'y'
const keys = { x: 'xAxis', y: 'yAxis' } as const

interface AxisShape {
  type?: string
  min?: number
  max?: number
  inverse?: boolean
  data?: readonly unknown[]
}

/** The first axis; charts of several have one zoom for all. */
const axisOf = (option: ChartOption, side: Side): AxisShape =>
  ([option[keys[side]] ?? {}].flat()[0] ?? {}) as AxisShape

/** Index range of a category axis, of which a span shows the categories whose middle is inside. */
function indices(count: number, [from, to]: Span): [number, number] {
  const first = Math.min(count - 1, Math.max(0, Math.ceil(from * count - 0.5)))
  return [first, Math.max(first, Math.min(count - 1, Math.floor(to * count - 0.5)))]
}

/** The values between which an axis shows a span; null if the option does not state its ends. */
export function shownValues(option: ChartOption, side: Side, span: Span): [number, number] | null {
  const { type, min, max, data } = axisOf(option, side)
  if (type === 'category') return data ? indices(data.length, span) : null
  if (min === undefined || max === undefined) return null
  const axis = { min, max, log: type === 'log' }
  return [valueAt(axis, span[0]), valueAt(axis, span[1])]
}

/** The option with its axes cut to what is shown; an axis that is wholly shown is left as it is. */
export function withZoom(option: ChartOption, zoom: ZoomState): ChartOption {
  const cut = (side: Side) => {
    const [from, to] = zoom[side]
    const values = from === 0 && to === 1 ? null : shownValues(option, side, zoom[side])
    if (!values) return {}
    const axes = [option[keys[side]] ?? {}].flat().map((axis) => ({
      ...axis,
      // One that is stated for the whole axis would leave a part of it without ticks.
      interval: undefined,
      min: values[0],
      max: values[1],
    }))
    return { [keys[side]]: axes }
  }
  return { ...option, ...cut('x'), ...cut('y') } as ChartOption
}

/** Pixels of an axis' ends as drawn, in the direction of growing values. */
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

/** Pixels between two categories. */
export function bandOf(chart: Chart, side: Side): number {
  const at = (value: number): number =>
    Number(chart.convertToPixel({ [`${side}AxisIndex`]: 0 }, value))
  // Of an axis that shows one category the next is as far away, though outside.
  return Math.abs(at(1) - at(0))
}
