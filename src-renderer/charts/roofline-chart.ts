/** Throughput over operations a byte, both logarithmic, under the roofs; the rungs are joined in their order. */
import { axisLines, axisName, axisText, tooltip, type ChartBuilder } from './chart'

export interface RooflineSpec {
  points: readonly {
    /** On the mark: the rung's number. */
    mark: string
    title: string
    /** Operations a byte. */
    x: number
    /** GFLOP/s. */
    y: number
    /** More lines for the tooltip. */
    lines: readonly string[]
    quiet: boolean
  }[]
  /** GB/s; null where it is not known, and no slope is drawn. */
  bandwidth: { value: number; name: string } | null
  /** GFLOP/s. */
  compute: { value: number; name: string } | null
  xAxis: string
  yAxis: string
  xText: (value: number) => string
  yText: (value: number) => string
}

const decade = (value: number, round: (exponent: number) => number): number =>
  10 ** round(Math.log10(value))

/** The window that holds every point, the ridge where there is one, and a little room. */
export function rooflineExtent({ points, bandwidth, compute }: RooflineSpec) {
  const ridge = bandwidth && compute ? [compute.value / bandwidth.value] : []
  const xs = [...points.map(({ x }) => x), ...ridge]
  const ys = [...points.map(({ y }) => y), ...(compute ? [compute.value] : [])]
  return {
    xMin: decade(Math.min(...xs) / 1.5, Math.floor),
    xMax: decade(Math.max(...xs) * 2, Math.ceil),
    yMin: decade(Math.min(...ys) / 1.5, Math.floor),
    yMax: decade(Math.max(...ys) * 1.2, Math.ceil),
  }
}

export const rooflineChart =
  (spec: RooflineSpec): ChartBuilder =>
  (palette) => {
    const { points, bandwidth, compute } = spec
    const { xMin, xMax, yMin, yMax } = rooflineExtent(spec)
    const text = axisText(palette)
    const log = {
      type: 'log' as const,
      ...axisLines(palette),
      minorSplitLine: { show: false },
    }
    // The slope starts where it enters the window, from the left or from below.
    const slope = bandwidth && {
      from: Math.max(xMin, yMin / bandwidth.value),
      to: Math.min(xMax, (compute?.value ?? yMax) / bandwidth.value),
    }
    const line = (
      name: string,
      data: [number, number][],
      labelAt: 'start' | 'end',
      rotate: boolean,
    ) => ({
      type: 'line' as const,
      name,
      silent: true,
      symbol: 'none',
      lineStyle: { color: palette.mark, width: 1.5 },
      data,
      markPoint: undefined,
      markLine: {
        silent: true,
        symbol: 'none',
        lineStyle: { opacity: 0 },
        label: {
          ...text,
          color: palette.text,
          formatter: name,
          position: labelAt === 'end' ? ('insideEndTop' as const) : ('insideMiddleTop' as const),
          ...(rotate ? {} : { rotate: 0 }),
        },
        data: [[{ coord: data[0] }, { coord: data[1] }]] as [
          { coord: [number, number] },
          { coord: [number, number] },
        ][],
      },
    })
    return {
      animation: false,
      aria: { enabled: false },
      grid: { left: 64, right: 150, top: 34, bottom: 48, outerBoundsMode: 'none' },
      tooltip: tooltip(palette, 'item', ({ dataIndex, seriesIndex }) => {
        const point = seriesIndex === 0 ? points[dataIndex] : undefined
        return (
          point && {
            title: `${point.mark} ${point.title}`,
            lines: [spec.yText(point.y), spec.xText(point.x), ...point.lines],
          }
        )
      }),
      xAxis: {
        ...log,
        min: xMin,
        max: xMax,
        ...axisName(palette, spec.xAxis, 'x'),
        axisLabel: { ...text, formatter: (value: number) => String(+value.toPrecision(3)) },
      },
      yAxis: {
        ...log,
        min: yMin,
        max: yMax,
        ...axisName(palette, spec.yAxis, 'y'),
        axisLabel: { ...text, formatter: spec.yText },
      },
      series: [
        {
          type: 'line',
          name: '',
          symbol: 'circle',
          symbolSize: 9,
          lineStyle: { color: palette.series[0] ?? palette.accent, width: 1.25 },
          labelLayout: { moveOverlap: 'shiftY' },
          data: points.map(({ x, y, mark, title, quiet }) => ({
            value: [x, y],
            itemStyle: { color: quiet ? palette.rest : (palette.series[0] ?? palette.accent) },
            label: {
              show: true,
              position: 'right' as const,
              distance: 7,
              formatter: `${mark} ${title}`,
              fontFamily: palette.font,
              fontSize: 11,
              color: palette.text,
            },
          })),
        },
        ...(slope && slope.from < slope.to
          ? [
              line(
                bandwidth.name,
                [
                  [slope.from, slope.from * bandwidth.value],
                  [slope.to, slope.to * bandwidth.value],
                ],
                'start',
                true,
              ),
            ]
          : []),
        ...(compute
          ? [
              line(
                compute.name,
                [
                  [
                    bandwidth ? Math.max(xMin, compute.value / bandwidth.value) : xMin,
                    compute.value,
                  ],
                  [xMax, compute.value],
                ],
                'end',
                false,
              ),
            ]
          : []),
      ],
    }
  }
