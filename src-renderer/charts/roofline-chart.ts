/** Throughput over arithmetic intensity, both logarithmic, under the roofs; a line joins the rungs of the climb. */
import { axisLines, axisName, axisText, tooltip, type ChartBuilder, type ShownPart } from './chart'
import { logTicks } from './zoom'
import { crosses, overlap, placeLabels, widthOf, type Box, type Line } from './point-labels'

interface RooflinePoint {
  rung: string
  /** Text on the mark: the rung's number. */
  mark: string
  title: string
  /** Operations per byte. */
  x: number
  /** GFLOP/s. */
  y: number
  /** Its time, by which the hottest of a crowd are named; 0 if unknown. */
  ms: number
  /** Further lines of the tooltip. */
  lines: readonly string[]
  quiet: boolean
}

/** The rungs at one level of memory, and its roof. */
export interface RooflinePath {
  name: string
  points: readonly RooflinePoint[]
  /** GB/s; null if unknown, and then no slope is drawn. */
  bandwidth: { value: number; name: string } | null
}

export interface RooflineSpec {
  /** One, or every level at once; the last is labeled. */
  paths: readonly RooflinePath[]
  /** GFLOP/s. */
  compute: { value: number; name: string } | null
  /** The rungs that a line joins, in its order: each builds on the one before it. */
  climb: readonly string[]
  /** The point that others are held against. */
  base?: { x: number; y: number; title: string } | undefined
  xAxis: string
  yAxis: string
  xText: (value: number) => string
  yText: (value: number) => string
  /** Names the points that lie under a mark as well, for its tooltip. */
  alsoHere?: (names: readonly string[]) => string
}

interface Extent {
  xMin: number
  xMax: number
  yMin: number
  yMax: number
}

/** A roof this many times above the best rung still belongs into the picture. */
const nearRoof = 4

/** Around the points, and the roof of arithmetic if it is near: what else there is, zooming out shows. */
export function rooflineExtent({ paths, compute }: RooflineSpec): Extent {
  const points = paths.flatMap((path) => path.points)
  const xs = points.map(({ x }) => x)
  const ys = points.map(({ y }) => y)
  const top = Math.max(...ys)
  const roof = compute && compute.value < nearRoof * top ? [compute.value] : []
  const [xMin, xMax] = spread(Math.min(...xs) / 1.5, Math.max(...xs) * 1.5)
  const [yMin, yMax] = spread(Math.min(...ys) / 1.5, Math.max(top, ...roof) * 1.35)
  return { xMin, xMax, yMin, yMax }
}

/** At least a decade, so that small differences look small. */
function spread(min: number, max: number): [number, number] {
  const more = Math.max(1, Math.sqrt(10 / (max / min)))
  return [min / more, max * more]
}

const margin = { left: 64, right: 24, top: 44, bottom: 48 }
/** Symbols of the levels, by their place. */
const symbols = ['circle', 'rect', 'diamond'] as const

const extentOf = (spec: RooflineSpec, shown: ShownPart | undefined): Extent => {
  const whole = rooflineExtent(spec)
  const [xMin, xMax] = shown?.x ?? [whole.xMin, whole.xMax]
  const [yMin, yMax] = shown?.y ?? [whole.yMin, whole.yMax]
  return { xMin, xMax, yMin, yMax }
}

/** Pixels within the drawing, and back. */
function planeOf({ xMin, xMax, yMin, yMax }: Extent, size: { width: number; height: number }) {
  const width = Math.max(1, size.width - margin.left - margin.right)
  const height = Math.max(1, size.height - margin.top - margin.bottom)
  return {
    room: { left: 0, right: width, top: 0, bottom: height },
    right: (x: number) => (width * Math.log(x / xMin)) / Math.log(xMax / xMin),
    down: (y: number) => (height * Math.log(yMax / y)) / Math.log(yMax / yMin),
    x: (right: number) => xMin * (xMax / xMin) ** (right / width),
    y: (down: number) => yMax * (yMin / yMax) ** (down / height),
  }
}

/** A straight line on logarithmic axes, cut to what is shown; null if none of it is. */
function slopeOf(bandwidth: number, ridge: number, { xMin, xMax, yMin, yMax }: Extent) {
  const from = Math.max(xMin, yMin / bandwidth)
  const to = Math.min(xMax, ridge, yMax / bandwidth)
  return from < to ? { from, to } : null
}

/** How far the name of a roof is moved up or down, nearest first: farther off it would seem to be another's. */
const shifts = [0, 3, -3, 6, -6, 9, -9, 12, -12, 15, -15, 18, -18, 21, -21]

/** Of more rungs than this only numbers are written, only beside their points, and one where points coincide. */
const crowd = 40
const crowdReach = 20
/** Marks closer than this, in pixels, cannot be told apart. */
const sameSpot = 6

interface Spot {
  point: RooflinePoint
  /** Those that coincide with it, hottest first. */
  below: RooflinePoint[]
}

/** The points of a crowd by the hottest at each place. */
function spotsOf(points: readonly RooflinePoint[], plane: ReturnType<typeof planeOf>): Spot[] {
  const spots: (Spot & { x: number; y: number })[] = []
  for (const point of [...points].sort((a, b) => b.ms - a.ms)) {
    const [x, y] = [plane.right(point.x), plane.down(point.y)]
    const taken = spots.find((spot) => Math.hypot(spot.x - x, spot.y - y) < sameSpot)
    if (taken) taken.below.push(point)
    else spots.push({ point, below: [], x, y })
  }
  return spots
}

/** The points that a line joins, in its order. */
const joinedOf = ({ climb }: RooflineSpec, points: readonly RooflinePoint[]): RooflinePoint[] =>
  climb.flatMap((rung) => points.find((point) => point.rung === rung) ?? [])

function segments(of: readonly RooflinePoint[], plane: ReturnType<typeof planeOf>): Line[] {
  const ends = of.map(({ x, y }) => [plane.right(x), plane.down(y)] as const)
  return ends.slice(1).map((to, index) => [...ends[index]!, ...to])
}

/** Of the labeled path; null for a rung that is not shown or has no place. */
export function labelPlaces(
  spec: RooflineSpec,
  size: { width: number; height: number },
  shown?: ShownPart,
  taken: readonly Box[] = [],
  roofs: readonly Line[] = [],
) {
  const extent = extentOf(spec, shown)
  const plane = planeOf(extent, size)
  const points = spec.paths.at(-1)?.points ?? []
  const isShown = ({ x, y }: RooflinePoint): boolean =>
    x >= extent.xMin && x <= extent.xMax && y >= extent.yMin && y <= extent.yMax
  const seen = points.filter(isShown)
  const others = spec.paths
    .slice(0, -1)
    .flatMap((path) => path.points.filter(isShown))
    .map(({ x, y }) => {
      const [right, down] = [plane.right(x), plane.down(y)]
      return { left: right - 5, right: right + 5, top: down - 5, bottom: down + 5 }
    })
  const isCrowd = seen.length > crowd
  const spots = isCrowd ? spotsOf(seen, plane) : seen.map((point): Spot => ({ point, below: [] }))
  const placed = placeLabels(
    spots.map(({ point: { x, y, mark, title }, below }) => ({
      x: plane.right(x),
      y: plane.down(y),
      texts: isCrowd
        ? [below.length > 0 ? `${mark} +${below.length}` : mark]
        : [`${mark} ${title}`, mark],
    })),
    plane.room,
    [...taken, ...others],
    spec.paths.flatMap(({ points }) => segments(joinedOf(spec, points), plane)),
    isCrowd ? crowdReach : undefined,
    roofs,
  )
  const placeOf = new Map(spots.map(({ point }, index) => [point, placed[index]]))
  return points.map((point) => {
    const found = placeOf.get(point)
    return found
      ? { text: found.text, x: plane.x(found.x), y: plane.y(found.y), moved: found.moved }
      : null
  })
}

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
    // Names of the roofs are placed first: they are few, and belong to lines.
    const taken: Box[] = []
    const roofLines: Line[] = []
    const marks = paths.flatMap(({ points }) =>
      points.map((point): Box => {
        const [right, down] = [plane.right(point.x), plane.down(point.y)]
        return { left: right - 5, right: right + 5, top: down - 5, bottom: down + 5 }
      }),
    )
    /** Its name is put at the first of `lefts` and at `middle`, or near there, on no other name and if it can be on no roof or mark. */
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
            // At its end: slopes come from the left.
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
          // No rung is above a slope, so its name is, if there is room.
          { lefts: [right - width > 10 ? right - width - 8 : right + 14], middle },
        )
      }),
    ]
    const places = labelPlaces(spec, size, shown, taken, roofLines)
    const labeled = paths.at(-1)
    const below = new Map(
      paths.flatMap(({ points }) =>
        points.length > crowd
          ? spotsOf(points, plane).map((spot) => [spot.point, spot.below] as const)
          : [],
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
              // The hottest on top, where the pointer meets it.
              .sort((a, b) => a.ms - b.ms)
              .map((point) => mark(point, path)),
          },
        ]),
        ...(labeled?.points ?? []).flatMap((point, index) => {
          const place = places[index]
          if (!place) return []
          // A label, with a thin line to its point if it had to move.
          return [
            {
              type: 'line' as const,
              name: labeled!.name,
              silent: true,
              symbol: 'circle',
              symbolSize: 0,
              showSymbol: true,
              lineStyle: { color: palette.ruleStrong, width: place.moved ? 1 : 0 },
              data: [
                { value: [point.x, point.y] },
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
                    // Keeps the label legible over lines that it cannot avoid.
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
