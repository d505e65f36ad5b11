/** The chart builder type, and the shared axis and tooltip styles. */
import type { ChartOption, ChartSize } from './echarts'

/**
 * Design tokens. Canvas code reads the tokens' values, because a canvas cannot use CSS custom
 * properties.
 */
const names = {
  text: '--text',
  text2: '--text-2',
  text3: '--text-3',
  rule: '--rule',
  ruleStrong: '--rule-strong',
  bar: '--bar',
  barQuiet: '--bar-quiet',
  mark: '--mark',
  accent: '--accent',
  surface: '--surface',
  rest: '--series-rest',
} as const

const seriesNames = [1, 2, 3, 4, 5, 6].map((number) => `--series-${number}`)

export type Palette = Record<keyof typeof names, string> & {
  /** Colors of the categories, in order. `rest` is the color of the remainder. */
  series: readonly string[]
  font: string
}

function paletteFrom(value: (name: string) => string, font: string): Palette {
  const colours = Object.fromEntries(
    Object.entries(names).map(([key, name]) => [key, value(name).trim()]),
  ) as Record<keyof typeof names, string>
  return { ...colours, series: seriesNames.map((name) => value(name).trim()), font }
}

export function readPalette(element: Element): Palette {
  const style = getComputedStyle(element)
  return paletteFrom((name) => style.getPropertyValue(name), style.fontFamily)
}

/** Returns the light palette, because a saved chart is printed on white paper. */
export function printPalette(): Palette {
  const root = [...document.styleSheets]
    .flatMap((sheet) => [...sheet.cssRules])
    .find(
      (rule): rule is CSSStyleRule =>
        rule instanceof CSSStyleRule &&
        rule.selectorText === ':root' &&
        rule.style.getPropertyValue(names.surface) !== '',
    )
  if (!root) return readPalette(document.documentElement)
  return paletteFrom((name) => root.style.getPropertyValue(name), 'Helvetica, Arial, sans-serif')
}

export type { ChartOption, ChartSize }

/** The visible range of each axis. A range is null if the axis limits are unknown. */
export interface ShownPart {
  x: [number, number] | null
  y: [number, number] | null
}

/**
 * A pure function that returns a chart's option for a theme and a size in CSS pixels. `shown` is
 * set while the chart is zoomed. While zoomed, the function limits the axes to the shown range and
 * can place labels for it.
 */
export type ChartBuilder = (palette: Palette, size: ChartSize, shown?: ShownPart) => ChartOption

export const axisText = (palette: Palette) => ({
  color: palette.text2,
  fontFamily: palette.font,
  fontSize: 11,
})

/** Returns ECharts options that place an axis name at the end of the x axis or above the y axis. */
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

/**
 * Builds a tooltip from DOM elements. ECharts' HTML tooltips use inline styles, which the CSP
 * forbids.
 */
function tipElement(title: string, lines: readonly string[]): HTMLElement {
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

/** The fields of an ECharts tooltip item that this program uses. */
interface TipItem {
  dataIndex: number
  seriesIndex?: number | undefined
  data?: unknown
}

export const tooltip = (
  palette: Palette,
  trigger: 'axis' | 'item',
  text: (item: TipItem) => { title: string; lines: readonly string[] } | undefined,
): NonNullable<ChartOption['tooltip']> => ({
  trigger,
  // ChartHost draws the highlighted band under every chart, so ECharts must not draw its own.
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
