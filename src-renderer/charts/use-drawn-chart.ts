/** Owns one ECharts instance: creates, draws, resizes, themes, and disposes of it. */
import { onBeforeUnmount, onMounted, shallowRef, watch, type Ref } from 'vue'
import { theme } from '../ui/theme'
import { readPalette, type ChartBuilder, type ChartOption } from './chart'
import { legendOf, withHidden, type LegendEntry } from './chart-links'
import { createChart, type Chart } from './echarts'
import { isUnzoomed, type ZoomState } from './zoom'
import { shownValues, withZoom } from './zoom-axes'

/** A chart and the option that it shows. Each redraw creates a new `DrawnChart`. */
export interface DrawnChart {
  chart: Chart
  option: ChartOption
}

/** Height of the ECharts legend in pixels. If the legend is hidden, the rows use this space. */
const legendHeight = 20

/** Removes the ECharts legend, because the screen shows the legend as toggles above the chart. */
const withoutLegend = (option: ChartOption, hasRows: boolean): ChartOption => ({
  ...option,
  legend: [option.legend ?? []].flat().map((own) => ({ ...own, show: false })),
  ...(hasRows
    ? {
        grid: [option.grid ?? []].flat().map((grid) => ({
          ...grid,
          top: Math.max(0, Number(grid.top ?? 0) - legendHeight),
        })),
      }
    : {}),
})

export function useDrawnChart({
  canvas,
  builder,
  hasRows,
  hidden,
  zoomState,
  onDraw,
}: {
  canvas: Readonly<Ref<HTMLElement | undefined>>
  builder: () => ChartBuilder
  /** Whether the chart has one row or column per rung. */
  hasRows: () => boolean
  /** Names of the hidden series. */
  hidden: () => readonly string[] | undefined
  zoomState: Readonly<Ref<ZoomState>>
  onDraw: (drawn: DrawnChart, legend: LegendEntry[]) => void
}): Readonly<Ref<DrawnChart | undefined>> {
  const drawn = shallowRef<DrawnChart>()
  let chart: Chart | undefined
  let observer: ResizeObserver | undefined

  function draw(): void {
    if (!canvas.value || !chart) return
    const size = { width: canvas.value.clientWidth, height: canvas.value.clientHeight }
    const palette = readPalette(canvas.value)
    const whole = builder()(palette, size)
    // The chart needs the visible range if it places its own labels.
    const view = isUnzoomed(zoomState.value)
      ? undefined
      : {
          x: shownValues(whole, 'x', zoomState.value.x),
          y: shownValues(whole, 'y', zoomState.value.y),
        }
    const framed = view ? withZoom(builder()(palette, size, view), zoomState.value) : whole
    const legend = legendOf(whole)
    let option = withHidden(framed, hidden() ?? [])
    if (legend.length > 0) option = withoutLegend(option, hasRows())
    chart.setOption(option, { notMerge: true })
    drawn.value = { chart, option }
    onDraw(drawn.value, legend)
  }

  onMounted(() => {
    if (!canvas.value) return
    chart = createChart(canvas.value)
    observer = new ResizeObserver(() => {
      chart?.resize()
      draw()
    })
    observer.observe(canvas.value)
    draw()
  })
  watch([builder, hidden, theme, zoomState], draw)
  onBeforeUnmount(() => {
    observer?.disconnect()
    chart?.dispose()
  })

  return drawn
}
