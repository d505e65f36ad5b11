/** Lines over one shared horizontal axis, a panel a figure; each line is named at its end. */
import { axisLines, axisName, axisText, tooltip, type ChartBuilder } from './chart'

export interface PanelLine {
  name: string
  /** One figure a place of the axis; null where there is none: the line has a gap. */
  values: readonly (number | null)[]
  /** Which of the theme's series; `mark` is the reference. */
  colour: number | 'mark'
  dashed?: boolean
}

export interface Panel {
  axis: string
  lines: readonly PanelLine[]
  valueText: (value: number) => string
  /** A level line with its name: 1 in a chart of ratios. */
  level?: { value: number; name: string }
  max?: number | undefined
}

export interface LinePanelsSpec {
  /** The places of the horizontal axis, as they read. */
  places: readonly string[]
  axis: string
  panels: readonly Panel[]
}

const symbols = ['circle', 'rect', 'triangle', 'diamond'] as const
const nameWidth = 190

export const linePanels =
  ({ places, axis, panels }: LinePanelsSpec): ChartBuilder =>
  (palette, size) => {
    const text = axisText(palette)
    const top = 30
    const bottom = 46
    const gap = 44
    const each = Math.max(
      60,
      (size.height - top - bottom - gap * (panels.length - 1)) / panels.length,
    )
    const flat = panels.flatMap((panel, index) =>
      panel.lines.map((line) => ({ line, panel, index })),
    )
    return {
      animation: false,
      aria: { enabled: false },
      grid: panels.map((_, index) => ({
        left: 64,
        right: nameWidth,
        top: top + index * (each + gap),
        height: each,
      })),
      tooltip: tooltip(palette, 'item', ({ dataIndex, seriesIndex }) => {
        const found = flat[seriesIndex ?? -1]
        const value = found?.line.values[dataIndex]
        return found && value != null
          ? {
              title: found.line.name,
              lines: [`${axis}: ${places[dataIndex] ?? ''}`, found.panel.valueText(value)],
            }
          : undefined
      }),
      xAxis: panels.map((_, index) => ({
        type: 'category' as const,
        gridIndex: index,
        data: [...places],
        boundaryGap: true,
        ...axisLines(palette),
        axisLabel: { ...text, show: index === panels.length - 1 },
        ...(index === panels.length - 1 ? axisName(palette, axis, 'x') : {}),
      })),
      yAxis: panels.map((panel, index) => ({
        type: 'value' as const,
        gridIndex: index,
        min: 0,
        ...(panel.max === undefined ? {} : { max: panel.max }),
        ...axisName(palette, panel.axis, 'y'),
        ...axisLines(palette),
        splitNumber: panels.length > 1 ? 3 : 5,
        axisLabel: { ...text, formatter: panel.valueText },
      })),
      series: flat.map(({ line, panel, index }) => {
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
            label: {
              show: place === last,
              position: 'right' as const,
              distance: 8,
              formatter: line.name,
              fontFamily: palette.font,
              fontSize: 11,
              color: palette.text,
              width: nameWidth - 24,
              overflow: 'truncate' as const,
            },
          })),
          labelLayout: { moveOverlap: 'shiftY' as const },
          ...(panel.level && panel.lines[0] === line
            ? {
                markLine: {
                  silent: true,
                  symbol: 'none',
                  lineStyle: { color: palette.mark, type: 'solid' as const, width: 1 },
                  label: {
                    ...text,
                    formatter: panel.level.name,
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
