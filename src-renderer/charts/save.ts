/**
 * Saves a chart as a file. The chart is redrawn on white at the text width of a page. The caption
 * states where the data was measured.
 */
import { type ChartBuilder, type ChartSize, printPalette } from './chart'
import { withHidden } from './chart-links'
import { createDetached, type Chart } from './echarts'

/**
 * Size of 170 × 110 mm at 96 CSS pixels per inch. A chart with many rows is taller if its rows need
 * more height.
 */
export const printSize: ChartSize = { width: 643, height: 416 }
/** Pixel ratio for 300 dpi. */
const pixelRatio = 300 / 96
const captionHeight = 46

export interface Print {
  build: ChartBuilder
  title: string
  /** Device, problem, tools, and date of the measurements. */
  origin: string
  height?: number | undefined
  /** Names of the hidden series. */
  hidden?: readonly string[]
}

function draw(chart: Chart, { build, title, origin, hidden = [] }: Print, size: ChartSize): void {
  const palette = printPalette()
  const inner = { width: size.width, height: size.height - captionHeight }
  const option = withHidden(build(palette, inner), hidden)
  // Move every grid down to make room for the caption. Otherwise, the chart is the same as on
  // screen.
  const grids = [option.grid ?? {}].flat().map((grid) => ({
    ...grid,
    top: (typeof grid.top === 'number' ? grid.top : 0) + captionHeight,
  }))
  const legend =
    option.legend && [option.legend].flat().map((own) => ({ ...own, top: captionHeight }))
  const line = (text: string, y: number, font: string, fill: string) => ({
    type: 'text' as const,
    x: 12,
    y,
    silent: true,
    style: {
      text,
      font: `${font} ${palette.font}`,
      fill,
      width: size.width - 24,
      overflow: 'truncate' as const,
    },
  })
  chart.setOption({
    ...option,
    animation: false,
    backgroundColor: palette.surface,
    grid: grids,
    ...(legend ? { legend } : {}),
    graphic: [
      ...([option.graphic ?? []].flat() as object[]),
      line(title, 10, '600 14px', palette.text),
      line(origin, 29, '10px', palette.text2),
    ],
  })
}

const sizeOf = ({ height }: Print): ChartSize => ({
  width: printSize.width,
  height: Math.max(printSize.height, height ?? 0) + captionHeight,
})

export function chartSvg(print: Print): Blob {
  const size = sizeOf(print)
  const chart = createDetached(size, 'svg')
  draw(chart, print, size)
  const text = chart.renderToSVGString()
  chart.dispose()
  return new Blob([text], { type: 'image/svg+xml' })
}

export async function chartPng(print: Print): Promise<Blob> {
  const size = sizeOf(print)
  const chart = createDetached(size, { pixelRatio })
  draw(chart, print, size)
  const canvas = chart.renderToCanvas({ pixelRatio })
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, 'image/png'))
  chart.dispose()
  if (!blob) throw new Error('The browser could not render the chart as an image.')
  return blob
}
