/**
 * The ECharts modules that this program uses. Register a chart type here when a screen needs it.
 */
import { BarChart, CustomChart, LineChart, ScatterChart } from 'echarts/charts'
import {
  AriaComponent,
  GraphicComponent,
  GridComponent,
  LegendComponent,
  MarkLineComponent,
  TooltipComponent,
} from 'echarts/components'
import { init, use, type ComposeOption, type EChartsType } from 'echarts/core'
import { LabelLayout } from 'echarts/features'
import { CanvasRenderer, SVGRenderer } from 'echarts/renderers'
import type {
  BarSeriesOption,
  CustomSeriesOption,
  LineSeriesOption,
  ScatterSeriesOption,
} from 'echarts/charts'
import type {
  AriaComponentOption,
  GraphicComponentOption,
  GridComponentOption,
  LegendComponentOption,
  MarkLineComponentOption,
  TooltipComponentOption,
} from 'echarts/components'

use([
  BarChart,
  CustomChart,
  LineChart,
  ScatterChart,
  GraphicComponent,
  GridComponent,
  LegendComponent,
  MarkLineComponent,
  TooltipComponent,
  AriaComponent,
  LabelLayout,
  CanvasRenderer,
  SVGRenderer,
])

export type ChartOption = ComposeOption<
  | BarSeriesOption
  | CustomSeriesOption
  | LineSeriesOption
  | ScatterSeriesOption
  | GraphicComponentOption
  | GridComponentOption
  | LegendComponentOption
  | MarkLineComponentOption
  | TooltipComponentOption
  | AriaComponentOption
>
export type Chart = EChartsType

export const createChart = (host: HTMLElement): Chart =>
  init(host, undefined, { renderer: 'canvas' })

/** A chart's width and height in CSS pixels. */
export interface ChartSize {
  width: number
  height: number
}

/** Returns an off-screen chart of the given size, for saving. */
export function createDetached(size: ChartSize, as: 'svg' | { pixelRatio: number }): Chart {
  if (as === 'svg') return init(null, undefined, { renderer: 'svg', ssr: true, ...size })
  return init(document.createElement('div'), undefined, {
    renderer: 'canvas',
    devicePixelRatio: as.pixelRatio,
    ...size,
  })
}
