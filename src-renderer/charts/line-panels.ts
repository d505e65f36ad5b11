/**
 * A chart with one line panel per quantity over a shared horizontal axis. Each line is labeled at
 * its end.
 */
import { axisLines, axisName, axisText, tooltip, type ChartBuilder } from './chart'
import { niceEnd, spreadLabels } from './labels'

interface PanelLine {
  name: string
  /** One value per axis position. A null value leaves a gap in the line. */
  values: readonly (number | null)[]
  /** Index into the theme's series colors, or `mark` for the reference line. */
  colour: number | 'mark'
  dashed?: boolean
  /** The rung at each axis position. */
  rungs?: readonly (string | undefined)[]
}

export interface Panel {
  /** Axis name, including the unit. */
  axis: string
  lines: readonly PanelLine[]
  /** Formats a value and its unit. */
  valueText: (value: number) => string
  /** Formats a tick without its unit, because the axis name includes the unit. */
  tickText: (value: number) => string
  /** A labeled horizontal line, for example at 1 in a chart of ratios. */
  level?: { value: number; name: string }
  max?: number | undefined
}

export interface LinePanelsSpec {
  /** Labels for the positions on the horizontal axis. */
  places: readonly string[]
  axis: string
  panels: readonly Panel[]
}

/**
 * Symbols that distinguish lines of the same color. The first six lines use the first symbol, and
 * the next six lines use the second symbol.
 */
const shapes = [
  { symbol: 'circle', sign: '●', dash: 'solid' },
  { symbol: 'rect', sign: '■', dash: [7, 4] },
  { symbol: 'triangle', sign: '▲', dash: [2, 3] },
  { symbol: 'diamond', sign: '◆', dash: [9, 3, 2, 3] },
] as const
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
        // Distance between the end of the line and the label's final position.
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
        const group = line.colour === 'mark' ? 0 : Math.floor(line.colour / palette.series.length)
        const shape = shapes[group % shapes.length] ?? shapes[0]
        const last = line.values.findLastIndex((value) => value !== null)
        return {
          type: 'line' as const,
          name: line.name,
          xAxisIndex: index,
          yAxisIndex: index,
          symbol: shape.symbol,
          symbolSize: 7,
          showAllSymbol: true,
          connectNulls: false,
          lineStyle: {
            color: colour,
            width: 1.75,
            type: line.dashed
              ? ('dashed' as const)
              : typeof shape.dash === 'string'
                ? shape.dash
                : [...shape.dash],
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
              // Repeat the line's symbol in its label, because labels move apart if lines end close
              // together.
              formatter: `{line|${shape.sign}} ${line.name}`,
              rich: { line: { color: colour, fontFamily: palette.font, fontSize: 11 } },
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
                    // Place the label at the start of the line, because the fastest rungs end near
                    // this line at the largest size.
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
