/**
 * A chart of one rung's times across sessions. The chart shows each time, the steps, and the median
 * level between steps.
 */
import { axisLines, axisName, axisText, tooltip, type ChartBuilder } from './chart'

interface HistoryChartSpec {
  /** The measured times, oldest first. */
  points: readonly { date: string; session: string; ms: number }[]
  /** The steps. `at` is the index of the first point of each new level. */
  steps: readonly { at: number; text: string }[]
  axis: { time: string; session: string }
  timeText: (ms: number) => string
}

const frame = { left: 72, right: 28, top: 44, bottom: 46 }

const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const half = sorted.length / 2
  return sorted.length % 2 === 1
    ? sorted[Math.floor(half)]!
    : (sorted[half - 1]! + sorted[half]!) / 2
}

/** Returns the median of each level, repeated for each of the level's points. */
function levels(times: readonly number[], steps: readonly { at: number }[]): number[] {
  const edges = [0, ...steps.map(({ at }) => at), times.length]
  return edges.slice(1).flatMap((to, index) => {
    const own = times.slice(edges[index], to)
    return own.map(() => median(own))
  })
}

export const historyChart =
  ({ points, steps, axis, timeText }: HistoryChartSpec): ChartBuilder =>
  (palette) => {
    const text = axisText(palette)
    const times = points.map(({ ms }) => ms)
    const [low, high] = [Math.min(...times), Math.max(...times)]
    // Times change by only a few percent, so the axis does not start at zero. The axis margin is at
    // least one percent of the longest time.
    const margin = Math.max((high - low) * 0.15, high * 0.01)
    return {
      animation: false,
      aria: { enabled: false },
      grid: { ...frame, outerBoundsMode: 'none' as const },
      tooltip: tooltip(palette, 'item', ({ dataIndex }) => {
        const point = points[dataIndex]
        return point && { title: timeText(point.ms), lines: [point.date, point.session] }
      }),
      xAxis: {
        type: 'category' as const,
        data: points.map(({ date }) => date),
        ...axisLines(palette),
        axisLabel: { ...text, hideOverlap: true },
        ...axisName(palette, axis.session, 'x'),
      },
      yAxis: {
        type: 'value' as const,
        min: low - margin,
        max: high + margin,
        ...axisLines(palette),
        axisLabel: {
          ...text,
          formatter: (ms: number) => timeText(ms),
          showMinLabel: false,
          showMaxLabel: false,
        },
        ...axisName(palette, axis.time, 'y'),
      },
      series: [
        {
          type: 'line' as const,
          symbol: 'none',
          step: 'middle' as const,
          silent: true,
          lineStyle: { color: palette.mark, width: 1.5 },
          data: levels(times, steps),
          markLine: {
            silent: true,
            symbol: 'none',
            lineStyle: { color: palette.ruleStrong, type: 'dashed' as const, width: 1 },
            label: { ...text, color: palette.text, position: 'end' as const },
            data: steps.map(({ at, text: label }) => ({
              xAxis: at,
              label: { formatter: label },
            })),
          },
        },
        {
          type: 'scatter' as const,
          symbolSize: 7,
          itemStyle: { color: palette.series[0] ?? palette.rest },
          data: times,
        },
      ],
    }
  }
