/**
 * Draws a bar chart of all rungs for printed and Markdown reports. The chart is a self-contained
 * SVG, black on white, readable without color. Charts in the UI use a chart library instead.
 */
import { formatCount } from '../../domain/metrics/units'
import { html } from './html-markup'

/** Returns the width and height that the SVG declares, in CSS pixels. */
export function sizeOfSvg(svg: string): { width: number; height: number } {
  const of = (name: string): number =>
    Number(new RegExp(`^<svg[^>]* ${name}="(\\d+)`).exec(svg)?.[1])
  const [width, height] = [of('width'), of('height')]
  if (!(width > 0 && height > 0)) throw new Error('The drawing does not state its size.')
  return { width, height }
}

export interface Bar {
  /** The bar's label, which is a rung's number, or its number and title. */
  label: string
  /** The bar's value. If the value is null, the bar is empty, and `text` contains the reason. */
  value: number | null
  /** The value as text, including its unit. */
  text: string
  /**
   * Whether this bar represents the reference. The reference is drawn lighter, and a line marks its
   * value across all rows.
   */
  isReference: boolean
}

export interface BarChart {
  /** Part of the chart's file name. */
  id: string
  title: string
  /** Alternative text, which is a sentence that describes the chart. */
  description: string
  bars: readonly Bar[]
  /**
   * Formats axis values. Needed only if the default count format does not suit the unit.
   */
  axisText?: (value: number) => string
  /** Maximum value on the axis, for units with a fixed maximum. */
  max?: number
  /**
   * Value at which a line crosses all rows, or null for no line (default: the reference's value).
   */
  reference?: number | null
  /** Number of consecutive bars that form a group (default: 1). */
  together?: number
}

export interface Layout {
  /** Width in CSS pixels. The height depends on the number of rows. */
  width: number
  labelWidth: number
}

const row = 18
const head = 26
const foot = 18
const textWidth = 74
const colours = {
  bar: '#0a746d',
  quiet: '#8f99a5',
  mark: '#171a1f',
  grid: '#d9dde2',
  text: '#171a1f',
  faint: '#525b67',
}

/**
 * Returns an axis step of 1, 2, or 5 times a power of ten. The step is chosen so that the axis has
 * only a few ticks and their labels fit.
 */
function stepOf(top: number, plot: number): number {
  const most = Math.min(6, Math.max(2, Math.floor(plot / 48)))
  const power = 10 ** Math.floor(Math.log10(top / most))
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => top / step <= most) ?? top
}

/** Formats round counts without decimals, such as `20 M` instead of `20.0 M`. */
const plainCount = (value: number): string => formatCount(value).replace(/\.0+(?=\D|$)/, '')

const at = (value: number): string => String(+value.toFixed(2))

/** Truncates text to about the given width and adds an ellipsis. */
function fit(text: string, width: number): string {
  const most = Math.floor(width / 6)
  const letters = [...text]
  return letters.length <= most ? text : `${letters.slice(0, most - 1).join('')}…`
}

const text = (
  x: number,
  y: number,
  words: string,
  { anchor = 'start', colour = colours.text, weight = 400 } = {},
): string =>
  `<text x="${at(x)}" y="${at(y)}" text-anchor="${anchor}" fill="${colour}" font-weight="${weight}">${html(words)}</text>`

const rect = (x: number, y: number, width: number, height: number, fill: string): string =>
  `<rect x="${at(x)}" y="${at(y)}" width="${at(width)}" height="${at(height)}" fill="${fill}"/>`

const line = (x: number, y1: number, y2: number, stroke: string, more = ''): string =>
  `<line x1="${at(x)}" x2="${at(x)}" y1="${at(y1)}" y2="${at(y2)}" stroke="${stroke}"${more}/>`

/** Returns a chart's height in CSS pixels. */
export const barsHeight = ({ bars }: BarChart): number => head + bars.length * row + foot

export const referenceOf = ({ bars, reference }: BarChart): number | null =>
  reference !== undefined
    ? reference
    : (bars.find(({ isReference, value }) => isReference && value !== null)?.value ?? null)

export function barsSvg(chart: BarChart, { width, labelWidth }: Layout): string {
  const { title, description, bars, axisText = plainCount } = chart
  const values = bars.flatMap(({ value }) => value ?? [])
  const top = chart.max ?? Math.max(0, ...values)
  const height = barsHeight(chart)
  const plot = width - labelWidth - textWidth
  const x = (value: number): number => labelWidth + (top > 0 ? (value / top) * plot : 0)
  const bottom = head + bars.length * row
  const step = top > 0 ? stepOf(top, plot) : 1
  const ticks =
    top > 0 ? Array.from({ length: Math.floor(top / step + 1e-9) + 1 }, (_, n) => n * step) : [0]
  const reference = referenceOf(chart)
  const parts = [
    `<title>${html(title)}</title><desc>${html(description)}</desc>`,
    rect(0, 0, width, height, '#ffffff'),
    text(0, 14, title, { weight: 600 }),
    ...ticks.flatMap((tick) => [
      line(x(tick), head - 4, bottom, colours.grid),
      text(x(tick), bottom + 13, axisText(tick), { anchor: 'middle', colour: colours.faint }),
    ]),
    ...bars.flatMap(({ label, value, text: figure, isReference }, index) => {
      const y = head + index * row
      const filled = value === null ? 0 : x(value) - labelWidth
      return [
        text(labelWidth - 8, y + 12, fit(label, labelWidth - 8), { anchor: 'end' }),
        ...(value === null
          ? []
          : [rect(labelWidth, y + 3, filled, row - 7, isReference ? colours.quiet : colours.bar)]),
        text(width, y + 12, figure, {
          anchor: 'end',
          colour: value === null ? colours.faint : colours.text,
        }),
      ]
    }),
    ...(reference === null
      ? []
      : [
          line(
            x(reference),
            head - 4,
            bottom,
            colours.mark,
            ' stroke-width="1.2" stroke-dasharray="4 3"',
          ),
        ]),
  ]
  return `<svg xmlns="http://www.w3.org/2000/svg" role="img" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="Helvetica, Arial, 'Liberation Sans', sans-serif" font-size="11">\n${parts.join('\n')}\n</svg>\n`
}
