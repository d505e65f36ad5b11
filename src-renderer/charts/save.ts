/** A chart as a file: drawn anew at the width of a page's text, on white, with where it is from. */
import type { ChartBuilder, ChartSize } from './chart'
import { createDetached, type Chart } from './echarts'
import { printPalette } from './palette'

/** 170 × 110 mm at 96 CSS pixels an inch; a chart of many rows may ask for a greater height. */
export const printSize: ChartSize = { width: 643, height: 416 }
/** 300 dots an inch. */
const pixelRatio = 300 / 96
const captionHeight = 46

export interface Print {
  build: ChartBuilder
  title: string
  /** What the figures rest on: device, problem, tools, date. */
  origin: string
  height?: number | undefined
}

function draw(chart: Chart, { build, title, origin }: Print, size: ChartSize): void {
  const palette = printPalette()
  const inner = { width: size.width, height: size.height - captionHeight }
  const option = build(palette, inner)
  // Every grid moves down by the caption; the rest of the option is what the screen shows.
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
  if (!blob) throw new Error('The browser made no picture of the chart.')
  return blob
}
