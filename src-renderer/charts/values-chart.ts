/**
 * A chart of the best and median times among the tuning points for each value of each parameter.
 */
import { axisLines, axisName, axisText, tooltip, type ChartBuilder } from './chart'

interface ValuesChartSpec {
  parameters: readonly {
    name: string
    values: readonly {
      value: number
      bestMs: number | null
      medianMs: number | null
      points: number
    }[]
  }[]
  words: { best: string; median: string; time: string; points: (count: number) => string }
  timeText: (ms: number) => string
}

const edge = { left: 72, right: 24, top: 56, bottom: 52 }

export const valuesChart =
  ({ parameters, words, timeText }: ValuesChartSpec): ChartBuilder =>
  (palette) => {
    const text = axisText(palette)
    const columns = parameters.flatMap(({ name, values }) =>
      values.map((one, index) => ({ ...one, name, first: index === 0, of: values.length })),
    )
    const times = columns.flatMap(({ bestMs, medianMs }) =>
      [bestMs, medianMs].filter((ms) => ms !== null),
    )
    const [low, high] = times.length === 0 ? [1, 10] : [Math.min(...times), Math.max(...times)]
    const data = (of: 'bestMs' | 'medianMs') =>
      columns.map((column) => (column[of] === null ? '-' : column[of]))
    return {
      animation: false,
      aria: { enabled: false },
      grid: { ...edge, outerBoundsMode: 'none' as const },
      legend: { show: true, top: 4, right: 8, textStyle: text, data: [words.best, words.median] },
      tooltip: tooltip(palette, 'item', ({ dataIndex }) => {
        const column = columns[dataIndex]
        if (!column) return undefined
        const { name, value, bestMs, medianMs, points } = column
        return {
          title: `${name} ${value}`,
          lines: [
            ...(bestMs === null ? [] : [`${words.best} ${timeText(bestMs)}`]),
            ...(medianMs === null ? [] : [`${words.median} ${timeText(medianMs)}`]),
            words.points(points),
          ],
        }
      }),
      xAxis: {
        type: 'category' as const,
        data: columns.map(({ name, value }, index) => ({ value: `${name}|${value}|${index}` })),
        ...axisLines(palette),
        splitLine: {
          show: true,
          interval: (index: number) => columns[index]?.first ?? false,
          lineStyle: { color: palette.ruleStrong },
        },
        axisLabel: {
          ...text,
          interval: 0,
          // Show the parameter's name below its middle value.
          formatter: (_: string, index: number) => {
            const column = columns[index]
            if (!column) return ''
            const start = columns.findIndex(({ name }) => name === column.name)
            const isMiddle = index === start + Math.floor((column.of - 1) / 2)
            return isMiddle ? `${column.value}\n{name|${column.name}}` : `${column.value}\n `
          },
          rich: { name: { ...text, color: palette.text, fontWeight: 600, padding: [4, 0, 0, 0] } },
        },
      },
      yAxis: {
        type: 'log' as const,
        min: low * 0.95,
        max: high * 1.05,
        ...axisLines(palette),
        axisLabel: { ...text, formatter: (ms: number) => timeText(ms) },
        ...axisName(palette, words.time, 'y'),
      },
      series: [
        {
          type: 'scatter' as const,
          name: words.best,
          symbolSize: 10,
          itemStyle: { color: palette.accent },
          data: data('bestMs'),
        },
        {
          type: 'scatter' as const,
          name: words.median,
          symbol: 'rect',
          symbolSize: [14, 3],
          itemStyle: { color: palette.mark },
          data: data('medianMs'),
        },
      ],
    }
  }
