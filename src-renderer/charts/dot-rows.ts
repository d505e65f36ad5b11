/**
 * A chart with one row per rung and one mark per kind on a shared axis. This chart type suits
 * values that are compared rather than added.
 */
import { axisLines, axisName, axisText, tooltip, type ChartBuilder } from './chart'

interface DotRow {
  label: string
  /** One value per kind, in the order of `kinds`. A missing value is null. */
  values: readonly (number | null)[]
  /**
   * Indices of the kinds whose marks are filled and labeled. The marks of all other kinds are
   * outlines. If absent, all marks are filled.
   */
  strong?: readonly number[] | undefined
  /** Text to the right of the last mark. */
  note?: string | undefined
}

interface DotRowsSpec {
  rows: readonly DotRow[]
  kinds: readonly string[]
  axis: string
  scale: 'linear' | 'log'
  /** Base of a logarithmic axis, for example 2 for bytes. */
  base?: number | undefined
  /** Fixed ends of the axis. Only a logarithmic axis can have a fixed lower end. */
  min?: number | undefined
  max?: number | undefined
  valueText: (value: number) => string
  /** Positions of the axis labels. If absent, ECharts chooses the positions. */
  ticks?: readonly number[] | undefined
  /** A labeled line across all rows. */
  line?: { value: number; name: string } | undefined
}

/**
 * Symbols for the kinds of marks. The last symbol is small so that it stays visible inside another
 * mark.
 */
const symbols = [
  { symbol: 'circle', symbolSize: 11 },
  { symbol: 'rect', symbolSize: 11 },
  { symbol: 'triangle', symbolSize: 11 },
  { symbol: 'diamond', symbolSize: 11 },
  { symbol: 'roundRect', symbolSize: 6 },
] as const
const rowHeight = 34
const labelWidth = 190

export const dotRowsHeight = (rows: number): number => rows * rowHeight + 92

export const dotRows =
  (spec: DotRowsSpec): ChartBuilder =>
  (palette) => {
    const { rows, kinds, line } = spec
    const text = axisText(palette)
    const colour = (kind: number) => palette.series[kind] ?? palette.rest
    const span = rows.map(({ values }) => {
      const known = values.filter((value): value is number => value !== null)
      return known.length ? { from: Math.min(...known), to: Math.max(...known) } : null
    })
    return {
      animation: false,
      aria: { enabled: false },
      legend: {
        top: 0,
        left: labelWidth,
        itemWidth: 11,
        itemHeight: 11,
        itemGap: 16,
        textStyle: text,
        data: kinds.map((name) => ({ name })),
      },
      grid: { left: labelWidth, right: 150, top: 44, bottom: 44, outerBoundsMode: 'none' },
      tooltip: tooltip(palette, 'axis', ({ dataIndex }) => {
        const row = rows[dataIndex]
        return (
          row && {
            title: row.label,
            lines: [
              ...kinds.flatMap((name, kind) => {
                const value = row.values[kind]
                return value == null ? [] : [`${spec.valueText(value)}  ${name}`]
              }),
              ...(row.note ? [row.note] : []),
            ],
          }
        )
      }),
      xAxis: {
        ...(spec.scale === 'log'
          ? { type: 'log' as const, logBase: spec.base ?? 10 }
          : { type: 'value' as const }),
        ...(spec.scale === 'linear' ? { min: 0 } : {}),
        ...(spec.min === undefined ? {} : { min: spec.min }),
        ...(spec.max === undefined ? {} : { max: spec.max }),
        ...axisName(palette, spec.axis, 'x'),
        ...axisLines(palette),
        // Omit the grid line at a fixed end, because it would cross the notes.
        splitLine: {
          ...axisLines(palette).splitLine,
          showMaxLine: spec.max === undefined,
        },
        ...(spec.ticks ? { axisTick: { show: false, customValues: [...spec.ticks] } } : {}),
        axisLabel: {
          ...text,
          ...(spec.ticks ? { customValues: [...spec.ticks] } : {}),
          formatter: spec.valueText,
          hideOverlap: true,
          // Don't label fixed ends, because they only make room for the marks.
          showMinLabel: spec.min === undefined,
          showMaxLabel: spec.max === undefined,
        },
      },
      yAxis: {
        type: 'category',
        inverse: true,
        data: rows.map(({ label }) => label),
        ...axisLines(palette),
        axisLabel: { ...text, width: labelWidth - 16, overflow: 'truncate', color: palette.text },
      },
      series: [
        {
          // Draw a line from the smallest to the largest value of a row to guide the eye.
          type: 'custom',
          silent: true,
          name: '',
          data: span.map((own, index) => [own?.from ?? 0, index, own?.to ?? 0]),
          renderItem: (_params, api) => {
            const index = Number(api.value(1))
            if (!span[index]) return { type: 'group', children: [] }
            const [x1 = 0, y = 0] = api.coord([api.value(0), index])
            const [x2 = 0] = api.coord([api.value(2), index])
            return {
              type: 'line',
              shape: { x1, y1: y, x2, y2: y },
              style: { stroke: palette.ruleStrong, lineWidth: 1 },
            }
          },
          ...(line
            ? {
                markLine: {
                  silent: true,
                  symbol: 'none',
                  lineStyle: { color: palette.mark, type: 'dashed' as const, width: 1 },
                  label: {
                    ...text,
                    color: palette.text,
                    formatter: line.name,
                    // Rows are drawn downward, so the line's start is at the top.
                    position: 'start' as const,
                    distance: 4,
                  },
                  data: [{ xAxis: line.value }],
                },
              }
            : {}),
        },
        ...[false, true].flatMap((filled) =>
          kinds.map((name, kind) => ({
            type: 'scatter' as const,
            name,
            // Draw filled marks over outlined marks.
            z: filled ? 4 : 3,
            ...symbols[kind % symbols.length],
            itemStyle: { color: colour(kind) },
            data: rows.flatMap((row, index) => {
              const value = row.values[kind]
              if (value == null || (spec.scale === 'log' && value <= 0)) return []
              if ((row.strong?.includes(kind) ?? true) !== filled) return []
              return [
                {
                  value: [value, index],
                  itemStyle: filled
                    ? { color: colour(kind) }
                    : { color: palette.surface, borderColor: colour(kind), borderWidth: 1.5 },
                  label: {
                    show: row.strong?.[0] === kind,
                    position: 'top' as const,
                    align: 'left' as const,
                    offset: [-5, 0],
                    distance: 3,
                    formatter: `${(row.strong ?? []).map((own) => kinds[own]).join(', ')} ${spec.valueText(value)}`,
                    fontFamily: palette.font,
                    fontSize: 11,
                    color: palette.text,
                  },
                },
              ]
            }),
          })),
        ),
        {
          type: 'scatter',
          name: '',
          silent: true,
          symbolSize: 0,
          data: rows.flatMap((row, index) => {
            const own = span[index]
            if (!row.note || !own) return []
            return [
              {
                value: [own.to, index],
                label: {
                  show: true,
                  position: 'right' as const,
                  distance: 12,
                  formatter: row.note,
                  fontFamily: palette.font,
                  fontSize: 11,
                  color: palette.text2,
                },
              },
            ]
          }),
        },
      ],
    }
  }
