/** Places point labels in a plane so that none covers another label, a point, or a line. */

interface LabelPoint {
  x: number
  y: number
  /** Alternative labels, longest first. The first label that fits is used. */
  texts: readonly string[]
}

interface PlacedLabel {
  text: string
  /** Left edge and vertical center of the label. */
  x: number
  y: number
  /** Whether the label is far enough from its point to need a leader line. */
  moved: boolean
  /** End of the leader line at the label, on the side nearest to the point. */
  anchor: { x: number; y: number }
}

export interface Box {
  left: number
  right: number
  top: number
  bottom: number
}

/** A line segment's end points in pixels. */
export type Line = readonly [x1: number, y1: number, x2: number, y2: number]

export const overlap = (a: Box, b: Box): boolean =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom

/** Returns whether any part of the line is inside the box (Liang–Barsky clipping). */
export function crosses([x1, y1, x2, y2]: Line, box: Box): boolean {
  let [from, to] = [0, 1]
  const cuts: [number, number][] = [
    [x1 - x2, x1 - box.left],
    [x2 - x1, box.right - x1],
    [y1 - y2, y1 - box.top],
    [y2 - y1, box.bottom - y1],
  ]
  for (const [step, room] of cuts) {
    if (step === 0 && room < 0) return false
    if (step < 0) from = Math.max(from, room / step)
    if (step > 0) to = Math.min(to, room / step)
  }
  return from <= to
}

/** Returns whether two lines cross. Lines that only touch do not cross. */
function linesCross([x1, y1, x2, y2]: Line, [x3, y3, x4, y4]: Line): boolean {
  const side = (x: number, y: number, [ax, ay, bx, by]: Line) =>
    Math.sign((bx - ax) * (y - ay) - (by - ay) * (x - ax))
  return (
    side(x1, y1, [x3, y3, x4, y4]) * side(x2, y2, [x3, y3, x4, y4]) < 0 &&
    side(x3, y3, [x1, y1, x2, y2]) * side(x4, y4, [x1, y1, x2, y2]) < 0
  )
}

/** Line height of an 11 px label. */
const line = 14

/** Half the size of a point, including the gap around it. */
const dot = 6

const near = 10

/** Minimum gap between labels in the same row. Without a gap, two numbers look like one number. */
const between = 4

/** Distances from the point to try, nearest first. */
const distances = [near, 20, 32, 46, 62, 80, 100, 125]

/**
 * Maximum distance between a point and a label that was moved away from a line. If the label would
 * be farther away, a label near the point is better, even if it covers a line.
 */
const clearWithin = 46

/** Directions to try. The right side is first, because readers look for the label there. */
const directions = [
  [1, 0],
  [-1, 0],
  [0.7, 0.9],
  [0.7, -0.9],
  [-0.7, -0.9],
  [-0.7, 0.9],
  [0, -1.4],
  [0, 1.4],
  [0.4, 1.2],
  [-0.4, 1.2],
  [0.9, 0.4],
  [0.9, -0.4],
  [-0.9, 0.4],
  [-0.9, -0.4],
] as const

/**
 * Character widths in an 11 px label. The first match applies: full-width scripts, wide letters,
 * narrow letters, then capitals and digits.
 */
const widths = [
  [/[\u1100-\u115f\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60]/u, 11],
  [/[mwMW@%]/, 10.5],
  [/[ijlftr.,:;'|!()[\]\- ]/, 4],
  [/[A-Z\d]/, 7.5],
] as const

/** Returns the width of an 11 px label in pixels. */
export const widthOf = (text: string): number =>
  [...text].reduce((sum, one) => sum + (widths.find(([kind]) => kind.test(one))?.[1] ?? 6.5), 0)

/**
 * Returns one label position per point. A point without a free position within `farthest` pixels
 * gets null. A label never covers anything in `taken` or `walls`. A label covers one of `lines`
 * only if it would otherwise be far away or shortened.
 */
export function placeLabels(
  points: readonly LabelPoint[],
  room: Box,
  taken: readonly Box[] = [],
  lines: readonly Line[] = [],
  farthest = Number.POSITIVE_INFINITY,
  walls: readonly Line[] = [],
): (PlacedLabel | null)[] {
  const boxes: Box[] = [
    ...taken,
    ...points.map(({ x, y }) => ({ left: x - dot, right: x + dot, top: y - dot, bottom: y + dot })),
  ]
  const leaders: Line[] = []
  const labels: Box[] = []
  const isFree = (box: Box): boolean =>
    box.left >= room.left &&
    box.right <= room.right &&
    box.top >= room.top &&
    box.bottom <= room.bottom &&
    !boxes.some((other) => overlap(box, other)) &&
    !walls.some((wall) => crosses(wall, box))
  /** Returns whether a leader line crosses no other leader line, wall, or label. */
  const leadsClear = (leader: Line): boolean =>
    ![...leaders, ...walls].some((other) => linesCross(leader, other)) &&
    !labels.some((box) => crosses(leader, box))
  const place = (
    { x, y }: LabelPoint,
    text: string,
    { within, onLines }: { within: number; onLines: boolean },
  ) => {
    const width = widthOf(text)
    for (const distance of distances.filter((one) => one <= within))
      for (const [across, down] of directions) {
        const from = x + across * distance
        const left = across > 0 ? from : across < 0 ? from - width : from - width / 2
        const middle = y + down * distance
        const box = {
          left: left - between / 2,
          right: left + width + between / 2,
          top: middle - line / 2,
          bottom: middle + line / 2,
        }
        if (!isFree(box) || (!onLines && lines.some((other) => crosses(other, box)))) continue
        const moved = distance > near
        const anchor = {
          x: across < 0 ? left + width : across > 0 ? left : x,
          y: across === 0 ? middle - (Math.sign(down) * line) / 2 : middle,
        }
        const leader: Line = [x, y, anchor.x, anchor.y]
        if (leaders.some((other) => crosses(other, box))) continue
        if (moved && !leadsClear(leader)) continue
        boxes.push(box)
        labels.push(box)
        if (moved) leaders.push(leader)
        return { text, x: left, y: middle, moved, anchor }
      }
    return null
  }
  return points.map((point) => {
    for (const text of point.texts) {
      const found =
        place(point, text, { within: Math.min(clearWithin, farthest), onLines: false }) ??
        place(point, text, { within: farthest, onLines: true })
      if (found) return found
    }
    return null
  })
}
