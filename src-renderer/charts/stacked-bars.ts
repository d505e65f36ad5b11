/** A chart with one horizontal stacked bar per row. Parts that are wide enough are labeled. */
import { axisText, tooltip, axisLines, axisName, type ChartBuilder } from './chart'
import { niceEnd } from './labels'
import { widthOf } from './point-labels'

interface StackedRow {
  label: string
  /**
   * One value per series, in the same order. A part of 0 is not drawn. A difference can be
   * negative.
   */
  parts: readonly number[]
  /** Label at the end of the bar. */
  end: string
}

interface StackedBarsSpec {
  rows: readonly StackedRow[]
  /** `rest` marks the series that sums everything without its own series. */
  series: readonly { name: string; rest?: boolean }[]
  axis: string
  max?: number | undefined
  valueText: (value: number) => string
  /** If set, parts are differences and extend to both sides of zero. */
  isDifference?: boolean
  /** Formats an axis value that is not a plain number. */
  axisText?: (value: number) => string
}

const rowHeight = 34

const labelWidth = 190

/** Returns the chart height in CSS pixels that keeps the rows uncrowded. */
export const stackedBarsHeight = (rows: number): number => rows * rowHeight + 92

export const stackedBars =
  ({
    rows,
    series,
    axis,
    max,
    valueText,
    isDifference,
    axisText: tick,
  }: StackedBarsSpec): ChartBuilder =>
  (palette, size) => {
    const sums = (sign: 1 | -1) =>
      rows.map(({ parts }) => parts.reduce((sum, part) => sum + Math.max(0, sign * part), 0))
    const totals = sums(1)
    const longest = Math.max(...totals, 0)
    const lowest = isDifference ? Math.max(...sums(-1), 0) : 0
    const room = Math.max(0, size.width - labelWidth - 70)
    const fits = (value: number, text: string) =>
      (Math.abs(value) / (longest + lowest || 1)) * room > widthOf(text) + 8
    const text = axisText(palette)
    const colour = (index: number, rest: boolean | undefined) =>
      rest ? palette.rest : (palette.series[index] ?? palette.rest)
    return {
      animation: false,
      aria: { enabled: false },
      legend: {
        top: 0,
        left: labelWidth,
        itemWidth: 10,
        itemHeight: 10,
        itemGap: 14,
        textStyle: text,
        data: series.map(({ name }) => name),
      },
      grid: { left: labelWidth, right: 56, top: 44, bottom: 44, outerBoundsMode: 'none' },
      tooltip: tooltip(palette, 'axis', ({ dataIndex }) => {
        const row = rows[dataIndex]
        if (!row) return undefined
        const lines = series
          .map(({ name }, index) => ({ name, value: row.parts[index] ?? 0 }))
          .filter(({ value }) => value !== 0)
          .sort((a, b) => Math.abs(b.value) - Math.abs(a.value))
        return {
          title: row.label,
          lines: lines.map(({ name, value }) => `${valueText(value)}  ${name}`),
        }
      }),
      xAxis: {
        type: 'value',
        min: lowest > 0 ? -niceEnd(lowest) : 0,
        max: max ?? (isDifference && longest === 0 ? 0 : niceEnd(longest)),
        ...axisName(palette, axis, 'x'),
        ...axisLines(palette),
        axisLabel: { ...text, ...(tick ? { formatter: tick } : {}) },
      },
      yAxis: {
        type: 'category',
        inverse: true,
        data: rows.map(({ label }) => label),
        ...axisLines(palette),
        splitLine: { show: false },
        axisLabel: { ...text, width: labelWidth - 16, overflow: 'truncate', color: palette.text },
      },
      series: [
        ...series.map(({ name, rest }, index) => ({
          type: 'bar' as const,
          stack: 'all',
          name,
          barMaxWidth: 22,
          itemStyle: {
            color: colour(index, rest),
            borderColor: palette.surface,
            borderWidth: 0.5,
          },
          data: rows.map(({ parts }) => {
            const value = parts[index] ?? 0
            return {
              value,
              label: {
                show: fits(value, name),
                formatter: name,
                fontFamily: palette.font,
                fontSize: 11,
                color: inkOn(colour(index, rest)),
              },
            }
          }),
        })),
        {
          // Add a zero-length bar that carries the label at the end of the row.
          type: 'bar' as const,
          stack: 'all',
          name: '',
          silent: true,
          data: rows.map(({ end }, index) => ({
            value: 0,
            label: {
              show: isDifference || (totals[index] ?? 0) > 0,
              position: 'right' as const,
              formatter: end,
              fontFamily: palette.font,
              fontSize: 11,
              color: palette.text,
            },
          })),
        },
      ],
    }
  }

/** Returns black or white, whichever is more legible on a `#rrggbb` color. */
export function inkOn(colour: string): string {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((start) => {
    const part = parseInt(colour.slice(start, start + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  const luminance = 0.2126 * r + 0.7152 * g + 0.0722 * b
  return luminance > 0.18 ? '#000000' : '#ffffff'
}
