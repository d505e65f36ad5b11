/** The geometry of the roofline chart: its points, the visible range, and label positions. */
import type { ShownPart } from './chart'
import { placeLabels, type Box, type Line } from './point-labels'

export interface RooflinePoint {
  rung: string
  /** Text on the mark, which is the rung's number. */
  mark: string
  title: string
  /** Arithmetic intensity in operations per byte. */
  x: number
  /** Throughput in GFLOP/s. */
  y: number
  /**
   * Time in milliseconds, or 0 if unknown. If points are crowded, the slowest points get the
   * labels.
   */
  ms: number
  /** Additional tooltip lines. */
  lines: readonly string[]
  quiet: boolean
}

/** The points at one memory level, and that level's roof. */
export interface RooflinePath {
  name: string
  points: readonly RooflinePoint[]
  /** Bandwidth in GB/s. If the bandwidth is unknown (null), no slope is drawn. */
  bandwidth: { value: number; name: string } | null
}

export interface RooflineSpec {
  /** One memory level, or all memory levels. Only the points of the last level are labeled. */
  paths: readonly RooflinePath[]
  /** Compute roof in GFLOP/s. */
  compute: { value: number; name: string } | null
  /** The rungs joined by a line, in order. Each rung builds on the previous one. */
  climb: readonly string[]
  /** The baseline point. */
  base?: { x: number; y: number; title: string } | undefined
  xAxis: string
  yAxis: string
  xText: (value: number) => string
  yText: (value: number) => string
  /** Returns the tooltip line with the names of the points hidden under a mark. */
  alsoHere?: (names: readonly string[]) => string
}

interface Extent {
  xMin: number
  xMax: number
  yMin: number
  yMax: number
}

/** The range ends at the highest point's value multiplied by this factor. */
const headroom = 1.35

/** The compute roof is shown if it is below this many times the best rung's throughput. */
const nearRoof = 4

/**
 * Returns the throughput limit that the roofs set at a point. Returns undefined if no roof is
 * known.
 */
function roofOver({ x, path }: { x: number; path: RooflinePath }, compute: number | undefined) {
  const roofs = [compute, path.bandwidth && path.bandwidth.value * x]
  return roofs.filter((roof) => roof != null).sort((a, b) => a - b)[0]
}

/**
 * Returns the range around the points. The range includes the compute roof if that roof is near the
 * fastest point. If no roof would be visible, the range includes the roof over the fastest point.
 * Users can zoom out to see the other roofs.
 */
export function rooflineExtent({ paths, compute }: RooflineSpec): Extent {
  const points = paths.flatMap((path) => path.points.map((point) => ({ ...point, path })))
  const xs = points.map(({ x }) => x)
  const ys = points.map(({ y }) => y)
  const top = Math.max(...ys)
  const fastest = points.find(({ y }) => y === top)
  const [xMin, xMax] = spread(Math.min(...xs) / 1.5, Math.max(...xs) * 1.5)
  const isNear = compute && compute.value < nearRoof * top
  const isOnSlope = paths.some(
    ({ bandwidth }) => bandwidth && bandwidth.value * xMin < top * headroom,
  )
  const roof = isNear
    ? [compute.value]
    : isOnSlope || !fastest
      ? []
      : [roofOver(fastest, compute?.value) ?? top]
  const [yMin, yMax] = spread(Math.min(...ys) / 1.5, Math.max(top, ...roof) * headroom)
  return { xMin, xMax, yMin, yMax }
}

/** Widens a range to at least a decade, so that small differences look small. */
function spread(min: number, max: number): [number, number] {
  const more = Math.max(1, Math.sqrt(10 / (max / min)))
  return [min / more, max * more]
}

export const margin = { left: 64, right: 24, top: 44, bottom: 48 }

export const extentOf = (spec: RooflineSpec, shown: ShownPart | undefined): Extent => {
  const whole = rooflineExtent(spec)
  const [xMin, xMax] = shown?.x ?? [whole.xMin, whole.xMax]
  const [yMin, yMax] = shown?.y ?? [whole.yMin, whole.yMax]
  return { xMin, xMax, yMin, yMax }
}

/** Returns functions that convert between values and pixels of the drawing. */
export function planeOf(
  { xMin, xMax, yMin, yMax }: Extent,
  size: { width: number; height: number },
) {
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

/**
 * Returns the part of a memory roof inside the visible range, or null if no part is visible. The
 * roof is a straight line on logarithmic axes.
 */
export function slopeOf(bandwidth: number, ridge: number, { xMin, xMax, yMin, yMax }: Extent) {
  const from = Math.max(xMin, yMin / bandwidth)
  const to = Math.min(xMax, ridge, yMax / bandwidth)
  return from < to ? { from, to } : null
}

/**
 * Vertical offsets in pixels to try for a roof's name, nearest first. At a larger offset, the name
 * would seem to belong to another roof.
 */
export const shifts = [0, 3, -3, 6, -6, 9, -9, 12, -12, 15, -15, 18, -18, 21, -21]

/**
 * Maximum number of rungs in a chart that labels its points with titles. In larger charts, labels
 * show only numbers and stay next to their points. If points coincide, the label includes the
 * number of points.
 */
export const crowd = 40

const crowdReach = 20

/** Marks closer than this many pixels look like one mark. */
const sameSpot = 6

interface Spot {
  point: RooflinePoint
  /** The points that coincide with this point, slowest first. */
  below: RooflinePoint[]
}

/** Groups coinciding points under the slowest point. */
export function spotsOf(
  points: readonly RooflinePoint[],
  plane: ReturnType<typeof planeOf>,
): Spot[] {
  const spots: (Spot & { x: number; y: number })[] = []
  for (const point of [...points].sort((a, b) => b.ms - a.ms)) {
    const [x, y] = [plane.right(point.x), plane.down(point.y)]
    const taken = spots.find((spot) => Math.hypot(spot.x - x, spot.y - y) < sameSpot)
    if (taken) taken.below.push(point)
    else spots.push({ point, below: [], x, y })
  }
  return spots
}

const marksOf = (points: readonly RooflinePoint[]): string[] => points.map(({ mark }) => mark)

/** Returns the points joined by the line, in order. */
export const joinedOf = (
  { climb }: RooflineSpec,
  points: readonly RooflinePoint[],
): RooflinePoint[] => climb.flatMap((rung) => points.find((point) => point.rung === rung) ?? [])

function segments(of: readonly RooflinePoint[], plane: ReturnType<typeof planeOf>): Line[] {
  const ends = of.map(({ x, y }) => [plane.right(x), plane.down(y)] as const)
  return ends.slice(1).map((to, index) => [...ends[index]!, ...to])
}

/**
 * Returns label positions for the labeled memory level. The position is null for a rung that is
 * hidden or has no room for a label.
 */
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
  const spots = spotsOf(seen, plane)
  const placed = placeLabels(
    spots.map(({ point: { x, y, mark, title }, below }) => ({
      x: plane.right(x),
      y: plane.down(y),
      texts: isCrowd
        ? [below.length > 0 ? `${mark} +${below.length}` : mark]
        : [
            [`${mark} ${title}`, ...marksOf(below)],
            [mark, ...marksOf(below)],
          ].map((names) => names.join(', ')),
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
      ? {
          text: found.text,
          x: plane.x(found.x),
          y: plane.y(found.y),
          moved: found.moved,
          anchor: { x: plane.x(found.anchor.x), y: plane.y(found.anchor.y) },
        }
      : null
  })
}
