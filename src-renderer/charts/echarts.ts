/** The parts of ECharts that are used; a chart type is added here with the screen that needs it. */
import { BarChart } from 'echarts/charts'
import {
  AriaComponent,
  GridComponent,
  MarkLineComponent,
  TooltipComponent,
} from 'echarts/components'
import { init, use, type ComposeOption, type EChartsType } from 'echarts/core'
import { CanvasRenderer } from 'echarts/renderers'
import type { BarSeriesOption } from 'echarts/charts'
import type {
  AriaComponentOption,
  GridComponentOption,
  MarkLineComponentOption,
  TooltipComponentOption,
} from 'echarts/components'

use([BarChart, GridComponent, MarkLineComponent, TooltipComponent, AriaComponent, CanvasRenderer])

export type ChartOption = ComposeOption<
  | BarSeriesOption
  | GridComponentOption
  | MarkLineComponentOption
  | TooltipComponentOption
  | AriaComponentOption
>
export type Chart = EChartsType
export const createChart = (host: HTMLElement): Chart =>
  init(host, undefined, { renderer: 'canvas' })
