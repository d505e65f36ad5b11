/**
 * Tensor maps (`CUtensorMap`), which describe an array to TMA in 128 bytes.
 *
 * The driver's encoding is undocumented. The probe therefore records the arguments with which the
 * host created a map (`cuda-kernels/probe/launches.cpp`, TensorMapRecord).
 */

export interface TensorMap {
  elementBytes: number
  /** Size of the array in elements, innermost dimension first. */
  sizes: number[]
  /** Size of a box in elements; one instruction copies one box. */
  box: number[]
  /** Distance in bytes between adjacent elements along each dimension. */
  strides: number[]
  /** Generic address of the array. */
  low: number
  high: number
  swizzle: Swizzle
}

/**
 * Number of row-index bits that the swizzle uses to permute 16-byte chunks. The values 1 to 3
 * correspond to rows of 32, 64 and 128 bytes.
 */
export type Swizzle = 0 | 1 | 2 | 3

/**
 * Returns a byte's offset in swizzled shared memory. The low bits of the 128-byte row index
 * are XORed into the chunk index.
 */
export const swizzled = (offset: number, swizzle: Swizzle): number =>
  offset ^ (((offset >>> 7) & ((1 << swizzle) - 1)) << 4)

export const tensorMapBytes = 128

/** Signature of a record: the characters `KLTM`. */
const magic = 0x4d544c4b

/**
 * Element sizes in bytes, indexed by CUtensorMapDataType. The element size is 0 for types that are
 * converted during the copy.
 */
const elementBytes = [1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 0, 0, 0]

/**
 * Returns the tensor map encoded in the given bytes, or a description of the unsupported feature.
 */
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

/**
 * A row of a box. The row's bytes are contiguous in global memory. In shared memory, the bytes are
 * contiguous except for the swizzle.
 */
export interface BoxRow {
  /** Byte offset of the row's first in-bounds element, from the start of the array. */
  from: number
  /** Number of bytes in the row before its first in-bounds element. */
  before: number
  inside: number
}

/**
 * Returns the rows of a box at the given coordinates, in shared-memory order. TMA never reads
 * outside the array, but it writes whole chunks. On an H200, storing 4 floats through a map of 2
 * floats confirmed that TMA writes whole chunks.
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
 * Returns the error if a box starts at the given byte of a row, or null if the start is valid. On
 * an H200, a box must start at a multiple of 16 bytes. In addition, the box of a TMA store must not
 * start before the row. If a box violates either rule, the GPU reports an illegal instruction.
 */
export function boxFault(bytes: number, toShared: boolean): 'misaligned' | 'outside-global' | null {
  if (bytes % chunk !== 0) return 'misaligned'
  return toShared || bytes >= 0 ? null : 'outside-global'
}
