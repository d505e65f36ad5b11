/**
 * The roofline chart: throughput versus arithmetic intensity on logarithmic axes, below the roofs.
 * A line joins the rungs that build on each other.
 */
import { axisLines, axisName, axisText, tooltip, type ChartBuilder } from './chart'
import { logTicks } from './zoom'
import { crosses, overlap, widthOf, type Box, type Line } from './point-labels'
import {
  rooflineExtent,
  margin,
  extentOf,
  planeOf,
  slopeOf,
  shifts,
  spotsOf,
  joinedOf,
  labelPlaces,
  type RooflinePoint,
  type RooflineSpec,
} from './roofline-plane'
/** One symbol per memory level. */
const symbols = ['circle', 'rect', 'diamond'] as const

export const rooflineChart =
  (spec: RooflineSpec): ChartBuilder =>
  (palette, size, shown) => {
    const { paths, compute, base } = spec
    const whole = rooflineExtent(spec)
    const extent = extentOf(spec, shown)
    const { xMin, xMax, yMin, yMax } = extent
    const plane = planeOf(extent, size)
    const text = axisText(palette)
    const axis = (min: number, max: number, from: number, to: number) => {
      const ticks = { customValues: logTicks(from, to) }
      return {
        type: 'log' as const,
        ...axisLines(palette),
        axisTick: { show: false, ...ticks },
        minorSplitLine: { show: false },
        min,
        max,
        labels: { ...text, ...ticks, hideOverlap: true },
      }
    }
    const colour = (path: number) => palette.series[path] ?? palette.accent
    // Place the names of the roofs first. There are only a few roof names, and each name must stay
    // near its roof.
    const taken: Box[] = []
    const roofLines: Line[] = []
    const marks = paths.flatMap(({ points }) =>
      points.map((point): Box => {
        const [right, down] = [plane.right(point.x), plane.down(point.y)]
        return { left: right - 5, right: right + 5, top: down - 5, bottom: down + 5 }
      }),
    )
    /**
     * Places a roof's name near y `middle`, at the first x in `lefts` that fits. If possible, the
     * name does not overlap other names, roofs, or marks.
     */
    const roof = (
      name: string,
      path: { name: string; colour: string },
      ends: [[number, number], [number, number]],
      { lefts, middle: from }: { lefts: readonly number[]; middle: number },
    ) => {
      const width = widthOf(name)
      const [[x1, y1], [x2, y2]] = ends
      roofLines.push([plane.right(x1), plane.down(y1), plane.right(x2), plane.down(y2)])
      const first = Math.max(8, from)
      const places = lefts.flatMap((wanted) => {
        const left = Math.max(2, Math.min(plane.room.right - width, wanted))
        return shifts.map((shift): Box => {
          const middle = first + shift
          return { left, right: left + width, top: middle - 7, bottom: middle + 7 }
        })
      })
      const isApart = (box: Box): boolean =>
        box.top >= plane.room.top &&
        box.bottom <= plane.room.bottom &&
        !taken.some((other) => overlap(box, other))
      const isFree = (box: Box): boolean =>
        isApart(box) &&
        !marks.some((other) => overlap(box, other)) &&
        !roofLines.some((line) => crosses(line, box))
      const box = places.find(isFree) ?? places.find(isApart) ?? places[0]!
      taken.push(box)
      const { left } = box
      const middle = box.top + 7
      return [
        {
          type: 'line' as const,
          name: path.name,
          silent: true,
          symbol: 'none',
          lineStyle: { color: path.colour, width: 1.5 },
          data: ends,
        },
        {
          type: 'scatter' as const,
          name: path.name,
          silent: true,
          symbolSize: 0.01,
          data: [
            {
              value: [plane.x(left), plane.y(middle)],
              label: {
                show: true,
                position: 'right' as const,
                distance: 0,
                formatter: name,
                ...text,
                color: palette.text,
                textBorderColor: palette.surface,
                textBorderWidth: 3,
              },
            },
          ],
        },
      ]
    }
    const ridges = paths.flatMap(({ bandwidth }) =>
      compute && bandwidth ? [compute.value / bandwidth.value] : [],
    )
    const flatFrom = ridges.length > 0 ? Math.max(xMin, Math.min(...ridges)) : xMin
    const isFlatShown =
      compute !== null && compute.value > yMin && compute.value < yMax && flatFrom < xMax
    const roofs = [
      ...(isFlatShown
        ? roof(
            compute.name,
            { name: '', colour: palette.mark },
            [
              [flatFrom, compute.value],
              [xMax, compute.value],
            ],
            // Place the name at the end of the flat roof, because the slopes start on the left.
            {
              lefts: [1, 0.75, 0.5].map((share) => share * plane.room.right),
              middle: plane.down(compute.value) - 10,
            },
          )
        : []),
      ...paths.flatMap(({ name, bandwidth }, index) => {
        const ridge = compute && bandwidth ? compute.value / bandwidth.value : Infinity
        const slope = bandwidth && slopeOf(bandwidth.value, ridge, extent)
        if (!slope) return []
        const halfway = Math.sqrt(slope.from * slope.to)
        const [right, middle] = [plane.right(halfway), plane.down(halfway * bandwidth.value)]
        const width = widthOf(bandwidth.name)
        return roof(
          bandwidth.name,
          { name, colour: paths.length > 1 ? colour(index) : palette.mark },
          [
            [slope.from, slope.from * bandwidth.value],
            [slope.to, slope.to * bandwidth.value],
          ],
          // No rung is above a slope, so place the slope's name there if the name fits.
          { lefts: [right - width > 10 ? right - width - 8 : right + 14], middle },
        )
      }),
    ]
    const places = labelPlaces(spec, size, shown, taken, roofLines)
    const labeled = paths.at(-1)
    const below = new Map(
      paths.flatMap(({ points }) =>
        spotsOf(points, plane).map((spot) => [spot.point, spot.below] as const),
      ),
    )
    const mark = (point: RooflinePoint, path: number) => ({
      value: [point.x, point.y],
      rung: point.rung,
      tip: {
        title: `${point.mark} ${point.title}`,
        lines: [
          ...(paths.length > 1 ? [paths[path]!.name] : []),
          spec.yText(point.y),
          spec.xText(point.x),
          ...point.lines,
          ...(below.get(point)?.length && spec.alsoHere
            ? [spec.alsoHere(below.get(point)!.map((one) => `${one.mark} ${one.title}`))]
            : []),
        ],
      },
      itemStyle: { color: point.quiet ? palette.rest : colour(path) },
    })
    const [x, y] = [
      axis(whole.xMin, whole.xMax, xMin, xMax),
      axis(whole.yMin, whole.yMax, yMin, yMax),
    ]
    const { labels: xLabels, ...xAxis } = x
    const { labels: yLabels, ...yAxis } = y
    return {
      animation: false,
      aria: { enabled: false },
      ...(paths.length > 1
        ? {
            legend: {
              top: 0,
              left: margin.left,
              itemWidth: 11,
              itemHeight: 11,
              itemGap: 16,
              textStyle: text,
              data: paths.map(({ name }) => name),
            },
          }
        : {}),
      grid: { ...margin, outerBoundsMode: 'none' },
      tooltip: tooltip(
        palette,
        'item',
        ({ data }) => (data as ReturnType<typeof mark> | undefined)?.tip,
      ),
      xAxis: {
        ...xAxis,
        ...axisName(palette, spec.xAxis, 'x'),
        axisLabel: { ...xLabels, formatter: (value: number) => String(+value.toPrecision(3)) },
      },
      yAxis: {
        ...yAxis,
        ...axisName(palette, spec.yAxis, 'y'),
        axisLabel: {
          ...yLabels,
          formatter: (value: number) => String(+(value / 1000).toPrecision(3)),
        },
      },
      series: [
        ...paths.flatMap(({ name, points }, path) => [
          {
            type: 'line' as const,
            name,
            symbol: symbols[path % symbols.length] ?? 'circle',
            symbolSize: 9,
            showAllSymbol: true,
            itemStyle: { color: colour(path) },
            lineStyle: { color: colour(path), width: 1.25 },
            data: joinedOf(spec, points).map((point, index, joined) => {
              const before = joined[index - 1]?.rung
              return before === undefined ? mark(point, path) : { ...mark(point, path), before }
            }),
          },
          {
            type: 'scatter' as const,
            name,
            symbol: symbols[path % symbols.length] ?? 'circle',
            symbolSize: 9,
            data: points
              .filter(({ rung }) => !spec.climb.includes(rung))
              // Draw the slowest kernels on top, where the pointer hits them.
              .sort((a, b) => a.ms - b.ms)
              .map((point) => mark(point, path)),
          },
        ]),
        ...(labeled?.points ?? []).flatMap((point, index) => {
          const place = places[index]
          if (!place) return []
          const common = { name: labeled!.name, silent: true, symbol: 'circle', symbolSize: 0 }
          // Draw the label. If the label was moved, also draw a thin line to its point.
          return [
            ...(place.moved
              ? [
                  {
                    ...common,
                    type: 'line' as const,
                    lineStyle: { color: palette.ruleStrong, width: 1 },
                    data: [
                      { value: [point.x, point.y] },
                      { value: [place.anchor.x, place.anchor.y] },
                    ],
                  },
                ]
              : []),
            {
              ...common,
              type: 'scatter' as const,
              itemStyle: { opacity: 1 },
              data: [
                {
                  value: [place.x, place.y],
                  label: {
                    show: true,
                    position: 'right' as const,
                    distance: 0,
                    formatter: place.text,
                    fontFamily: palette.font,
                    fontSize: 11,
                    color: palette.text,
                    // An outline keeps the label legible over lines that it cannot avoid.
                    textBorderColor: palette.surface,
                    textBorderWidth: 3,
                  },
                },
              ],
            },
          ]
        }),
        ...roofs,
        ...(base
          ? [
              {
                type: 'scatter' as const,
                name: '',
                silent: true,
                symbol: 'circle',
                symbolSize: 15,
                itemStyle: {
                  color: 'transparent',
                  borderColor: palette.mark,
                  borderWidth: 1.5,
                  borderType: 'dashed' as const,
                },
                data: [{ value: [base.x, base.y] }],
              },
            ]
          : []),
      ],
    }
  }
