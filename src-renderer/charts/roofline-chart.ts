/** Throughput over arithmetic intensity, both logarithmic, under the roofs; a line joins the rungs in order. */
import { axisLines, axisName, axisText, tooltip, type ChartBuilder } from './chart'
import { spreadLabels } from './spread-labels'

export interface RooflineSpec {
  points: readonly {
    /** Text on the mark: the rung's number. */
    mark: string
    title: string
    /** Operations per byte. */
    x: number
    /** GFLOP/s. */
    y: number
    /** Further lines of the tooltip. */
    lines: readonly string[]
    quiet: boolean
  }[]
  /** GB/s; null if unknown, and then no slope is drawn. */
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

/** Axis ranges that hold every point and the ridge, if any, with a margin. */
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

const margin = { left: 64, right: 150, top: 34, bottom: 48 }
/** Line height of a label and its distance from its point, in pixels. */
const line = 14
const beside = 12
/** Width of a letter, on average. */
const letter = 6

/**
 * Position of each point's label in axis coordinates: beside the point, or moved up or down where labels
 * would overlap.
 */
export function labelPlaces(spec: RooflineSpec, size: { width: number; height: number }) {
  const { xMin, xMax, yMin, yMax } = rooflineExtent(spec)
  const width = Math.max(1, size.width - margin.left - margin.right)
  const height = Math.max(1, size.height - margin.top - margin.bottom)
  const down = (y: number) => (height * Math.log(yMax / y)) / Math.log(yMax / yMin)
  const wanted = spec.points.map(({ y }) => down(y))
  const places = spreadLabels(wanted, line, 0, height)
  return spec.points.map(({ x }, index) => ({
    x: x * (xMax / xMin) ** (beside / width),
    y: yMax * (yMin / yMax) ** (places[index]! / height),
    moved: Math.abs(places[index]! - wanted[index]!) > line / 2,
  }))
}

/** Nothing is above the slope, so its label is left of it, unless the y axis leaves no room there. */
function slopeLabelSide(
  slope: { from: number; to: number },
  name: string,
  { xMin, xMax }: { xMin: number; xMax: number },
  { width }: { width: number },
): 'left' | 'right' {
  const middle = Math.sqrt(slope.from * slope.to)
  const room =
    ((width - margin.left - margin.right) * Math.log(middle / xMin)) / Math.log(xMax / xMin)
  return room > name.length * letter + beside ? 'left' : 'right'
}

export const rooflineChart =
  (spec: RooflineSpec): ChartBuilder =>
  (palette, size) => {
    const { points, bandwidth, compute } = spec
    const { xMin, xMax, yMin, yMax } = rooflineExtent(spec)
    const text = axisText(palette)
    const log = {
      type: 'log' as const,
      ...axisLines(palette),
      minorSplitLine: { show: false },
    }
    // The slope starts where it enters the plot, on the left or at the bottom.
    const slope = bandwidth && {
      from: Math.max(xMin, yMin / bandwidth.value),
      to: Math.min(xMax, (compute?.value ?? yMax) / bandwidth.value),
    }
    const roof = (name: string, data: [number, number][], label: object) => ({
      type: 'line' as const,
      name,
      silent: true,
      symbol: 'circle',
      symbolSize: 0,
      showSymbol: true,
      lineStyle: { color: palette.mark, width: 1.5 },
      data: data.map((value, index) => ({
        value,
        label: { show: index === 1, formatter: name, ...text, color: palette.text, ...label },
      })),
    })
    const climbed = points.filter(({ quiet }) => !quiet)
    const mark = (point: (typeof points)[number]) => ({
      value: [point.x, point.y],
      itemStyle: { color: point.quiet ? palette.rest : (palette.series[0] ?? palette.accent) },
    })
    /** A point's label, with a thin line to the point if the label had to move. */
    const named = (
      point: (typeof points)[number],
      place: { x: number; y: number; moved: boolean },
    ) => ({
      type: 'line' as const,
      name: '',
      silent: true,
      symbol: 'circle',
      symbolSize: 0,
      showSymbol: true,
      lineStyle: { color: palette.ruleStrong, width: place.moved ? 1 : 0 },
      data: [
        [point.x, point.y],
        {
          value: [place.x, place.y],
          label: {
            show: true,
            position: 'right' as const,
            distance: 1,
            formatter: `${point.mark} ${point.title}`,
            fontFamily: palette.font,
            fontSize: 11,
            color: palette.text,
            // Keeps the label legible over points and lines that it cannot avoid.
            textBorderColor: palette.surface,
            textBorderWidth: 3,
          },
        },
      ],
    })
    const places = labelPlaces(spec, size)
    return {
      animation: false,
      aria: { enabled: false },
      grid: { ...margin, outerBoundsMode: 'none' },
      tooltip: tooltip(palette, 'item', ({ dataIndex, seriesIndex }) => {
        const of = [climbed, points.filter(({ quiet }) => quiet)][seriesIndex ?? -1]
        const point = of?.[dataIndex]
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
        axisLabel: {
          ...text,
          formatter: (value: number) => String(+(value / 1000).toPrecision(3)),
        },
      },
      series: [
        {
          // The path up the ladder; the reference is not part of it.
          type: 'line',
          name: '',
          symbol: 'circle',
          symbolSize: 9,
          showAllSymbol: true,
          lineStyle: { color: palette.series[0] ?? palette.accent, width: 1.25 },
          data: climbed.map(mark),
        },
        {
          type: 'scatter',
          name: '',
          symbolSize: 9,
          data: points.filter(({ quiet }) => quiet).map(mark),
        },
        ...points.map((point, index) => named(point, places[index]!)),
        ...(slope && slope.from < slope.to
          ? [
              roof(
                bandwidth.name,
                [slope.from, Math.sqrt(slope.from * slope.to), slope.to].map((x) => [
                  x,
                  x * bandwidth.value,
                ]),
                {
                  position: slopeLabelSide(slope, bandwidth.name, { xMin, xMax }, size),
                  distance: 10,
                },
              ),
            ]
          : []),
        ...(compute
          ? [
              // Labeled at its start: the rungs near it, and their labels, are at its end.
              roof(
                compute.name,
                [
                  [xMax, compute.value],
                  [
                    bandwidth ? Math.max(xMin, compute.value / bandwidth.value) : xMin,
                    compute.value,
                  ],
                ],
                { position: 'top', align: 'left', distance: 5 },
              ),
            ]
          : []),
      ],
    }
  }
