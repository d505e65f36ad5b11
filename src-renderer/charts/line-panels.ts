/** Line panels, one per quantity, over a shared horizontal axis; each line is labeled at its end. */
import { axisLines, axisName, axisText, tooltip, type ChartBuilder } from './chart'
import { niceEnd, spreadLabels } from './labels'

export interface PanelLine {
  name: string
  /** One value per axis position; null leaves a gap in the line. */
  values: readonly (number | null)[]
  /** Index into the theme's series colors; `mark` is the reference. */
  colour: number | 'mark'
  dashed?: boolean
  /** The rung of each position. */
  rungs?: readonly (string | undefined)[]
}

export interface Panel {
  /** With its unit. */
  axis: string
  lines: readonly PanelLine[]
  /** A value with its unit. */
  valueText: (value: number) => string
  /** A tick label without a unit, which is in the axis name. */
  tickText: (value: number) => string
  /** A labeled horizontal line: 1 in a chart of ratios. */
  level?: { value: number; name: string }
  max?: number | undefined
}

export interface LinePanelsSpec {
  /** Labels of the positions on the horizontal axis. */
  places: readonly string[]
  axis: string
  panels: readonly Panel[]
}

const symbols = ['circle', 'rect', 'triangle', 'diamond'] as const
const nameWidth = 244
const nameHeight = 15
const edge = { left: 64, top: 30, bottom: 46, between: 44 }

export const linePanels =
  ({ places, axis, panels }: LinePanelsSpec): ChartBuilder =>
  (palette, size) => {
    const text = axisText(palette)
    const room = size.height - edge.top - edge.bottom - edge.between * (panels.length - 1)
    const height = Math.max(60, room / panels.length)
    const flat = panels.flatMap((panel, index) => {
      const known = panel.lines.flatMap(({ values }) => values.filter((value) => value !== null))
      const max = panel.max ?? niceEnd(Math.max(...known, panel.level?.value ?? 0))
      const ends = panel.lines.map(({ values }) => values.findLast((value) => value !== null) ?? 0)
      const wanted = ends.map((value) => height * (1 - value / max))
      const placed = spreadLabels(wanted, nameHeight, 0, height)
      return panel.lines.map((line, order) => ({
        line,
        panel,
        index,
        max,
        // From the line's end to the place that spreading gave its label.
        shift: (placed[order] ?? 0) - (wanted[order] ?? 0),
      }))
    })
    const maxOf = (index: number) => flat.find((own) => own.index === index)?.max ?? 1
    return {
      animation: false,
      aria: { enabled: false },
      grid: panels.map((_, index) => ({
        left: edge.left,
        right: nameWidth,
        top: edge.top + index * (height + edge.between),
        height,
        outerBoundsMode: 'none' as const,
      })),
      tooltip: tooltip(palette, 'item', ({ dataIndex, seriesIndex }) => {
        const found = flat[seriesIndex ?? -1]
        const value = found?.line.values[dataIndex]
        return found && value != null
          ? {
              title: found.line.name,
              lines: [`${axis} ${places[dataIndex] ?? ''}`, found.panel.valueText(value)],
            }
          : undefined
      }),
      xAxis: panels.map((_, index) => ({
        type: 'category' as const,
        gridIndex: index,
        data: [...places],
        boundaryGap: false,
        ...axisLines(palette),
        axisLabel: { ...text, show: index === panels.length - 1 },
        ...(index === panels.length - 1 ? axisName(palette, axis, 'x') : {}),
      })),
      yAxis: panels.map((panel, index) => ({
        type: 'value' as const,
        gridIndex: index,
        min: 0,
        max: maxOf(index),
        ...(panel.max === undefined ? {} : { interval: panel.max / 4 }),
        ...axisName(palette, panel.axis, 'y'),
        ...axisLines(palette),
        splitNumber: panels.length > 1 ? 3 : 5,
        axisLabel: { ...text, formatter: panel.tickText },
      })),
      series: flat.map(({ line, panel, index, shift }) => {
        const colour =
          line.colour === 'mark'
            ? palette.mark
            : (palette.series[line.colour % palette.series.length] ?? palette.rest)
        const shape = line.colour === 'mark' ? 0 : Math.floor(line.colour / palette.series.length)
        const last = line.values.findLastIndex((value) => value !== null)
        return {
          type: 'line' as const,
          name: line.name,
          xAxisIndex: index,
          yAxisIndex: index,
          symbol: symbols[shape % symbols.length] ?? 'circle',
          symbolSize: 7,
          showAllSymbol: true,
          connectNulls: false,
          lineStyle: {
            color: colour,
            width: 1.75,
            type: line.dashed ? ('dashed' as const) : ('solid' as const),
          },
          itemStyle: line.dashed
            ? { color: palette.surface, borderColor: colour, borderWidth: 1.5 }
            : { color: colour },
          emphasis: { focus: 'series' as const, lineStyle: { width: 2.5 } },
          data: line.values.map((value, place) => ({
            value: value ?? '-',
            rung: value === null ? undefined : line.rungs?.[place],
            label: {
              show: place === last,
              position: 'right' as const,
              distance: 9,
              offset: [0, shift],
              formatter: line.name,
              fontFamily: palette.font,
              fontSize: 11,
              color: palette.text,
              width: nameWidth - 24,
              overflow: 'truncate' as const,
            },
          })),
          ...(panel.level && panel.lines[0] === line
            ? {
                markLine: {
                  silent: true,
                  symbol: 'none',
                  lineStyle: { color: palette.mark, type: 'solid' as const, width: 1 },
                  label: {
                    ...text,
                    color: palette.text,
                    formatter: panel.level.name,
                    // The best rungs end near the line at the last size; there is more space at its start.
                    position: 'insideStartTop' as const,
                  },
                  data: [{ yAxis: panel.level.value }],
                },
              }
            : {}),
        }
      }),
    }
  }

// The times of one rung over its sessions: points, the level between steps, and each step with its size.

export interface HistoryChartSpec {
  /** Oldest first. */
  points: readonly { date: string; session: string; ms: number }[]
  /** Where a new level begins, by the index of its first point. */
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

/** The median between one step and the next, at each point. */
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
    // Steps of percents: the axis does not begin at zero, and is never narrower than one percent of the time.
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
            data: steps.map(({ at, text: said }) => ({
              xAxis: at,
              label: { formatter: said },
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
