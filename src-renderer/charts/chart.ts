/** Shared by the chart builders: their type, and the style of axes and tooltips. */
import type { ChartOption, ChartSize } from './echarts'
import type { Palette } from './palette'

export type { ChartOption, ChartSize }

/** The values that each axis shows; null where its ends are not known. */
export interface ShownPart {
  x: [number, number] | null
  y: [number, number] | null
}

/**
 * Returns a chart's option for a theme and a size in CSS pixels; a pure function. `shown` is set where it is zoomed:
 * the axes are then cut to it, and a chart may place its labels by it.
 */
export type ChartBuilder = (palette: Palette, size: ChartSize, shown?: ShownPart) => ChartOption

export const axisText = (palette: Palette) => ({
  color: palette.text2,
  fontFamily: palette.font,
  fontSize: 11,
})

/** An axis name: at the end of x, above y. */
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

/** Built from elements, because ECharts' HTML tooltips use inline styles, which the CSP forbids. */
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

/** The fields used of an item that ECharts passes to its tooltip callback. */
interface TipItem {
  dataIndex: number
  seriesIndex?: number | undefined
  /** As the option has it. */
  data?: unknown
}

export const tooltip = (
  palette: Palette,
  trigger: 'axis' | 'item',
  text: (item: TipItem) => { title: string; lines: readonly string[] } | undefined,
): NonNullable<ChartOption['tooltip']> => ({
  trigger,
  // The band of the rung that is pointed at is drawn under the chart, for every chart that has it.
  ...(trigger === 'axis' ? { axisPointer: { type: 'none' } } : {}),
  confine: true,
  className: 'chart-tip',
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
