/** What the builders of this folder share: the shape of a builder, and the look of axes and tips. */
import type { ChartOption, ChartSize } from './echarts'
import type { Palette } from './palette'

export type { ChartOption, ChartSize }

/** The option of a chart for a theme and a size in CSS pixels; draws nothing and keeps nothing. */
export type ChartBuilder = (palette: Palette, size: ChartSize) => ChartOption

export const axisText = (palette: Palette) => ({
  color: palette.text2,
  fontFamily: palette.font,
  fontSize: 11,
})

/** A name beside an axis: at its end for x, above it for y. */
export const axisName = (palette: Palette, name: string, along: 'x' | 'y') => ({
  name,
  nameLocation: along === 'x' ? ('middle' as const) : ('end' as const),
  nameGap: along === 'x' ? 26 : 10,
  nameTextStyle: {
    ...axisText(palette),
    ...(along === 'y' ? { align: 'left' as const, padding: [0, 0, 0, -4] } : {}),
  },
})

export const axisLines = (palette: Palette) => ({
  axisLine: { lineStyle: { color: palette.ruleStrong } },
  axisTick: { show: false },
  splitLine: { lineStyle: { color: palette.rule } },
})

/** ECharts writes tooltips as HTML with inline styles, which the CSP forbids: built as elements. */
export function tipElement(title: string, lines: readonly string[]): HTMLElement {
  const box = document.createElement('div')
  const head = document.createElement('strong')
  head.textContent = title
  box.append(head)
  for (const line of lines) {
    const row = document.createElement('div')
    row.textContent = line
    box.append(row)
  }
  return box
}

/** One item of ECharts' tooltip callback, as far as it is used. */
interface TipItem {
  dataIndex: number
  seriesIndex?: number | undefined
}

export const tooltip = (
  palette: Palette,
  trigger: 'axis' | 'item',
  text: (item: TipItem) => { title: string; lines: readonly string[] } | undefined,
): NonNullable<ChartOption['tooltip']> => ({
  trigger,
  ...(trigger === 'axis' ? { axisPointer: { type: 'shadow' } } : {}),
  confine: true,
  backgroundColor: palette.surface,
  borderColor: palette.ruleStrong,
  padding: [6, 8],
  textStyle: { color: palette.text, fontFamily: palette.font, fontSize: 12 },
  formatter: (params) => {
    const first = Array.isArray(params) ? params[0] : params
    const found = first && text(first)
    return found ? tipElement(found.title, found.lines) : document.createElement('div')
  },
})
