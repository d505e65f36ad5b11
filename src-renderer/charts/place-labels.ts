/** Places for the labels of points in a plane, such that none lies on another or on a point. Pure. */

export interface LabelPoint {
  x: number
  y: number
  /** From the fullest to the shortest, of which the first that has a place is used. */
  texts: readonly string[]
}

export interface PlacedLabel {
  text: string
  /** Left end and middle of the label. */
  x: number
  y: number
  /** Far enough from its point that a line has to join them. */
  moved: boolean
}

export interface Box {
  left: number
  right: number
  top: number
  bottom: number
}

const overlap = (a: Box, b: Box): boolean =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom

/** Average width of a letter, and height of a line, of an 11 px label. */
const letter = 6.1
const line = 14
/** Half the size of a point with the gap around it. */
const dot = 6
const near = 10
/** Distances at which places are tried, nearest first. */
const distances = [near, 20, 32, 46, 62, 80]
/** Unit steps around a point, the right first, since that is where a label is looked for. */
const directions = [
  [1, 0],
  [-1, 0],
  [0.7, 0.9],
  [0.7, -0.9],
  [-0.7, -0.9],
  [-0.7, 0.9],
  [0, -1.4],
  [0, 1.4],
] as const

/** Letters of scripts that are drawn as wide as they are high. */
const wide = /[\u1100-\u115f\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60]/u
const widthOf = (text: string): number =>
  [...text].reduce((sum, one) => sum + (wide.test(one) ? 11 : letter), 0)

/** Null for a point without a place; `taken` is what must stay free. */
export function placeLabels(
  points: readonly LabelPoint[],
  room: Box,
  taken: readonly Box[] = [],
): (PlacedLabel | null)[] {
  const boxes: Box[] = [
    ...taken,
    ...points.map(({ x, y }) => ({ left: x - dot, right: x + dot, top: y - dot, bottom: y + dot })),
  ]
  const isFree = (box: Box): boolean =>
    box.left >= room.left &&
    box.right <= room.right &&
    box.top >= room.top &&
    box.bottom <= room.bottom &&
    !boxes.some((other) => overlap(box, other))
  return points.map(({ x, y, texts }) => {
    for (const text of texts) {
      const width = widthOf(text)
      for (const distance of distances)
        for (const [across, down] of directions) {
          const from = x + across * distance
          const left = across > 0 ? from : across < 0 ? from - width : from - width / 2
          const middle = y + down * distance
          const box = {
            left,
            right: left + width,
            top: middle - line / 2,
            bottom: middle + line / 2,
          }
          if (!isFree(box)) continue
          boxes.push(box)
          return { text, x: left, y: middle, moved: distance > near }
        }
    }
    return null
  })
}
