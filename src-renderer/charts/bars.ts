/** Horizontal bars, one per rung. */
import { axisText, tooltip, type Palette } from './chart'
import type { ChartOption } from './echarts'
import type { ScaleKind } from '../ui/scale'

export interface RungBar {
  /** The rung's number, shown on the axis. */
  number: string
  title: string
  /** The bar's value. null leaves the row blank. */
  value: number | null
  /** The value with its unit. */
  text: string
  quiet: boolean
  /** The comparison with the baseline, as text. */
  against?: string | undefined
}

interface RungBarsSpec {
  bars: readonly RungBar[]
  scale: ScaleKind
  /** Upper end of a linear axis, set if the unit has a maximum. */
  max?: number | undefined
  axisText: (value: number) => string
  reference?: { value: number; name: string } | undefined
  /** The baseline rung, drawn as a dashed line. */
  base?: { value: number; name: string } | undefined
}

/** Returns a chart with one bar per rung, in ladder order. */
export function rungBars(spec: RungBarsSpec, palette: Palette): ChartOption {
  const { bars, reference, base } = spec
  const positive = bars.flatMap(({ value }) => (value !== null && value > 0 ? [value] : []))
  const floor = positive.length ? 10 ** Math.floor(Math.log10(Math.min(...positive))) : 1
  const label = axisText(palette)
  return {
    animation: false,
    aria: { enabled: false },
    grid: { left: 8, right: 12, top: 12, bottom: 4, outerBoundsMode: 'same' },
    tooltip: tooltip(palette, 'axis', ({ dataIndex }) => {
      const bar = bars[dataIndex]
      return (
        bar && {
          title: `${bar.number} ${bar.title}`,
          lines: [bar.text, ...(bar.against ? [bar.against] : [])],
        }
      )
    }),
    xAxis: {
      type: 'category',
      data: bars.map(({ number }) => number),
      axisTick: { show: false },
      axisLine: { lineStyle: { color: palette.ruleStrong } },
      axisLabel: { ...label, interval: 'auto' },
    },
    yAxis: {
      type: spec.scale === 'log' ? 'log' : 'value',
      ...(spec.scale === 'log' ? { min: floor } : { min: 0 }),
      ...(spec.scale === 'linear' && spec.max !== undefined
        ? { max: spec.max, interval: spec.max / 4 }
        : {}),
      splitNumber: 3,
      axisLabel: { ...label, formatter: spec.axisText },
      splitLine: { lineStyle: { color: palette.rule } },
    },
    series: [
      {
        type: 'bar',
        barMaxWidth: 28,
        barCategoryGap: '30%',
        data: bars.map(({ value, quiet }) => ({
          value: value ?? '-',
          itemStyle: { color: quiet ? palette.barQuiet : palette.bar },
        })),
        markLine: {
          silent: true,
          symbol: 'none',
          label: { show: false },
          data: [
            ...(reference
              ? [
                  {
                    yAxis: reference.value,
                    name: reference.name,
                    lineStyle: { color: palette.mark, type: 'solid' as const, width: 1.5 },
                  },
                ]
              : []),
            ...(base
              ? [
                  {
                    yAxis: base.value,
                    name: base.name,
                    lineStyle: { color: palette.accent, type: 'dashed' as const, width: 1.5 },
                  },
                ]
              : []),
          ],
        },
      },
    ],
  }
}
