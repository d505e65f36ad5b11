/**
 * A parallel-coordinates chart with an axis per parameter, an axis for the time, and a line per
 * point.
 */
import { axisText, tooltip, type ChartBuilder } from './chart'

interface ParallelChartSpec {
  axes: readonly { name: string; values: readonly number[] }[]
  /** The tuning points, fastest first. Each point has a value on every axis. */
  points: readonly { params: Readonly<Record<string, number>>; ms: number }[]
  /** Number of fastest points to draw on top of the others. */
  best: number
  timeAxis: string
  timeText: (ms: number) => string
}

const edge = { left: 40, right: 84, top: 40, bottom: 28 }
/**
 * Fraction of an axis over which the lines through the same value are spread. The width of a bundle
 * shows how many lines it contains.
 */
const spread = 0.06

/**
 * Returns a point's position on each axis, from 0 to 1. Parameter values are evenly spaced. Times
 * are logarithmic.
 */
export function heightsOf({
  axes,
  points,
}: Pick<ParallelChartSpec, 'axes' | 'points'>): number[][] {
  const times = points.map(({ ms }) => Math.log(ms))
  const [low, high] = [Math.min(...times), Math.max(...times)]
  return points.map(({ params }, index) => {
    const aside = points.length < 2 ? 0 : (index / (points.length - 1) - 0.5) * spread
    return [
      ...axes.map(({ name, values }) => {
        const place = values.indexOf(params[name]!)
        return (
          (values.length < 2 ? 0.5 : place / (values.length - 1)) * (1 - spread) +
          spread / 2 +
          aside
        )
      }),
      high === low ? 0 : (times[index]! - low) / (high - low),
    ]
  })
}

export const parallelChart =
  (spec: ParallelChartSpec): ChartBuilder =>
  (palette) => {
    const { axes, points, best } = spec
    const text = axisText(palette)
    const heights = heightsOf(spec)
    const names = [...axes.map(({ name }) => name), spec.timeAxis]
    // ECharts draws the last line on top.
    const order = points.map((_, index) => points.length - 1 - index)
    const times = points.map(({ ms }) => ms)
    const labels = [
      ...axes.flatMap(({ values }, axis) =>
        values.map((value, place) => ({
          axis,
          at: (values.length < 2 ? 0.5 : place / (values.length - 1)) * (1 - spread) + spread / 2,
          text: `${value}`,
        })),
      ),
      ...(points.length === 0 ? [] : [0, 1]).map((at) => ({
        axis: axes.length,
        at,
        text: spec.timeText(at === 0 ? Math.min(...times) : Math.max(...times)),
      })),
    ]
    return {
      animation: false,
      aria: { enabled: false },
      grid: { ...edge, outerBoundsMode: 'none' as const },
      tooltip: tooltip(palette, 'item', ({ dataIndex, seriesIndex }) => {
        const point = seriesIndex === 0 ? points[order[dataIndex]!] : undefined
        return (
          point && {
            title: spec.timeText(point.ms),
            lines: axes.map(({ name }) => `${name} ${point.params[name]}`),
          }
        )
      }),
      xAxis: {
        type: 'value' as const,
        min: 0,
        max: Math.max(1, names.length - 1),
        interval: 1,
        position: 'top' as const,
        axisLine: { show: false },
        axisTick: { show: false },
        splitLine: { lineStyle: { color: palette.ruleStrong } },
        axisLabel: {
          ...text,
          color: palette.text,
          fontWeight: 600,
          formatter: (at: number) => names[at] ?? '',
        },
      },
      yAxis: { type: 'value' as const, min: 0, max: 1, show: false },
      series: [
        {
          type: 'custom' as const,
          data: order.map((index) => [0, heights[index]![0] ?? 0]),
          renderItem: (params, api) => {
            const index = order[params.dataIndex]!
            const isBest = index < best
            return {
              type: 'polyline' as const,
              shape: { points: heights[index]!.map((y, x) => api.coord([x, y])) },
              style: {
                stroke: isBest ? palette.accent : palette.rest,
                lineWidth: isBest ? 1.8 : 1,
                opacity: isBest ? 0.95 : 0.35,
                fill: 'none',
              },
              emphasis: { style: { stroke: palette.text, lineWidth: 2, opacity: 1 } },
            }
          },
        },
        {
          type: 'custom' as const,
          silent: true,
          data: labels.map(({ axis, at }) => [axis, at]),
          renderItem: (params, api) => {
            const { axis, at, text: label } = labels[params.dataIndex]!
            const [x = 0, y = 0] = api.coord([axis, at])
            return {
              type: 'text' as const,
              style: {
                text: label,
                x: x + 5,
                y,
                verticalAlign: 'middle' as const,
                fill: palette.text,
                stroke: palette.surface,
                lineWidth: 3,
                fontSize: text.fontSize,
                fontFamily: text.fontFamily,
              },
            }
          },
        },
      ],
    }
  }
