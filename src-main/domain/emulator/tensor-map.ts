/**
 * Tensor maps (`CUtensorMap`), which describe an array to the copy engine in 128 bytes.
 *
 * The driver's encoding is undocumented. The probe records the arguments of its creation instead (`cuda-kernels/probe/launches.cpp`,
 * TensorMapRecord).
 */

export interface TensorMap {
  elementBytes: number
  /** Size of the array in elements, innermost dimension first. */
  sizes: number[]
  /** Size of one copy, in elements. */
  box: number[]
  /** Byte distance between elements of a dimension. */
  strides: number[]
  /** Generic address of the array. */
  low: number
  high: number
  swizzle: Swizzle
}

/** Number of row-index bits that permute the 16-byte chunks: rows of 32, 64 or 128 bytes. */
export type Swizzle = 0 | 1 | 2 | 3

/** Returns the place of a byte in swizzled shared memory: its chunk index XORed with bits of its 128-byte row index. */
export const swizzled = (offset: number, swizzle: Swizzle): number =>
  offset ^ (((offset >>> 7) & ((1 << swizzle) - 1)) << 4)

export const tensorMapBytes = 128

/** `KLTM` */
const magic = 0x4d544c4b

/** Indexed by CUtensorMapDataType; 0 for types that are converted during the copy. */
const elementBytes = [1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 0, 0, 0]

/** Returns the map in these bytes, or why it is not a known map. */
export function readTensorMap(view: DataView): TensorMap | string {
  if (view.getUint32(0, true) !== magic) return 'a tensor map of this kind'
  const rank = view.getUint8(5)
  const bytes = elementBytes[view.getUint8(4)] ?? 0
  if (bytes === 0) return 'a tensor map of this element type'
  if (view.getUint8(6) !== 0) return 'a tensor map with interleaving'
  const swizzle = view.getUint8(7)
  if (swizzle > 3) return 'a tensor map with this swizzle'
  if (view.getUint8(51) !== 0) return 'a tensor map that fills with NaN'
  const places = Array.from({ length: rank }, (_, place) => place)
  if (places.some((place) => view.getUint8(46 + place) !== 1))
    return 'a tensor map with steps between elements'
  return {
    elementBytes: bytes,
    sizes: places.map((place) => view.getUint32(16 + 4 * place, true)),
    box: places.map((place) => view.getUint16(36 + 2 * place, true)),
    strides: places.map((place) =>
      place === 0 ? bytes : Number(view.getBigUint64(56 + 8 * (place - 1), true)),
    ),
    low: view.getUint32(8, true),
    high: view.getInt32(12, true),
    swizzle: swizzle as Swizzle,
  }
}

/** A row of a box. Its bytes are contiguous in global memory, and in shared memory except for the swizzle. */
export interface BoxRow {
  /** Byte offset from the start of the array, and how many of the row's bytes contain elements. */
  from: number
  /** Bytes of the row before its first element. */
  before: number
  inside: number
}

/**
 * Returns the rows of a box at these coordinates, in shared-memory order. The engine reads nothing beyond the array, but writes whole
 * chunks (measured on an H200 with a map of 2 floats and a store of 4 to it).
 */
export function boxRows(
  map: TensorMap,
  coordinates: readonly number[],
  toShared: boolean,
): BoxRow[] {
  const { box, sizes, strides, elementBytes: bytes } = map
  const first = coordinates[0]!
  const low = Math.max(0, -first)
  const high = Math.min(box[0]!, sizes[0]! - first)
  const rows: BoxRow[] = []
  const count = box.slice(1).reduce((product, extent) => product * extent, 1)
  for (let row = 0; row < count; row++) {
    let rest = row
    let from = (first + low) * bytes
    let inside = high > low
    for (let place = 1; place < box.length; place++) {
      const at = coordinates[place]! + (rest % box[place]!)
      rest = Math.floor(rest / box[place]!)
      if (at < 0 || at >= sizes[place]!) inside = false
      from += at * strides[place]!
    }
    const length = inside ? (high - low) * bytes : 0
    rows.push({ from, before: low * bytes, inside: toShared ? length : wholeChunks(length) })
  }
  return rows
}

export const chunk = 16

const wholeChunks = (bytes: number): number => Math.ceil(bytes / chunk) * chunk

/**
 * Returns why a box may not start at this byte of a row. An H200 reports an illegal instruction unless the box starts at a chunk, and, when
 * stored, not before the row.
 */
export function boxFault(bytes: number, toShared: boolean): 'misaligned' | 'outside-global' | null {
  if (bytes % chunk !== 0) return 'misaligned'
  return toShared || bytes >= 0 ? null : 'outside-global'
}
