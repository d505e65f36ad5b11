/**
 * Warpgroup matrix products (HGMMA, and QGMMA for FP8 in shared memory).
 *
 * Each of the four warps computes 16 of the 64 rows, independently of the others, when it issues
 * the instruction. Matrix descriptors locate B in shared memory. The descriptors also locate A,
 * unless A is in registers. The summation is the same as for HMMA, but FP8 sums and their results
 * keep fewer bits.
 */
import { halfBits } from './float'
import { lanes, type Site } from './site'
import type { Step, Warp } from './warp'
import { alignedSums } from './fused/aligned-sums'
import { swizzled, type Swizzle } from './tensor-map'
import {
  tensorFloatMask,
  leastFloat,
  halfTable,
  elementsOf,
  readFragment,
  rowOf,
  type Elements,
  rows,
} from './matrix-layout'
import { keptOfEights, maskOfEights, kept, transpose, cutFloat } from './tensor-core-sums'

const warpsOfGroup = 4
/** Number of rows of A that the four warps read together. */
const groupRows = rows * warpsOfGroup
const wavefrontBytes = 128

/** Swizzle modes, indexed by the two highest bits of a descriptor. */
const swizzles: readonly Swizzle[] = [0, 3, 2, 1]

interface Descriptor {
  /** Byte offset of the matrix in shared memory. */
  start: number
  /**
   * Byte distances between matrix blocks along the leading dimension and along the other dimension.
   */
  leading: number
  stride: number
  swizzle: Swizzle
}

function descriptorOf(low: number, high: number): Descriptor | null {
  // With a base offset, the tile and its swizzle pattern start at different addresses. The emulator
  // does not support base offsets.
  if ((high >>> 17) & 7) return null
  return {
    start: (low & 0x3fff) << 4,
    leading: ((low >>> 16) & 0x3fff) << 4,
    stride: (high & 0x3fff) << 4,
    swizzle: swizzles[high >>> 30]!,
  }
}

/**
 * Returns the elements' byte offsets from the start of the matrix, before swizzling. `outer`
 * counts rows of A or columns of B, and k is the summed dimension. Eight rows of 16, 32, 64, or 128
 * bytes each are contiguous. The row size depends on the swizzle. If `transposed` is true, rows run
 * along `outer`.
 */
function elementOffsets(
  { leading, stride, swizzle }: Descriptor,
  { depth, elementBytes }: Form,
  transposed: boolean,
  first: number,
  count: number,
): Int32Array {
  const rowBytes = 16 << swizzle
  const perRow = rowBytes / elementBytes
  const chunk = 16 / elementBytes
  const along = (inner: number): number =>
    swizzle === 0
      ? Math.floor(inner / chunk) * leading + (inner % chunk) * elementBytes
      : inner * elementBytes
  const [outerStep, innerStep] = swizzle === 0 ? [stride, leading] : [leading, stride]
  return Int32Array.from({ length: count * depth }, (_, place) => {
    const outer = first + Math.floor(place / depth)
    const inner = place % depth
    return transposed
      ? (outer % perRow) * elementBytes +
          Math.floor(outer / perRow) * outerStep +
          (inner % 8) * rowBytes +
          Math.floor(inner / 8) * innerStep
      : (outer % 8) * rowBytes + Math.floor(outer / 8) * stride + along(inner)
  })
}

interface Form {
  columns: number
  depth: number
  elementBytes: number
  elements: Elements
  wide: boolean
}

function formOf(at: Site): Form {
  const shape = /^64x(\d+)x(\d+)$/.exec(at.matching(/^64x/)[0] ?? '')
  if (!shape) return at.unknown()
  const elements = elementsOf(at)
  return {
    columns: Number(shape[1]),
    depth: Number(shape[2]),
    elementBytes: 4 / elements.packed,
    elements,
    wide: at.oneOf(['F32', 'F16']) === 'F32',
  }
}

/**
 * Maximum number of tiles with cached element offsets. A copy pipeline cycles through only a few
 * tiles.
 */
const mostKnown = 256

type Words = readonly [low: (warp: Warp) => number, high: (warp: Warp) => number]

/** Returns a function that reads `count` rows of A or columns of B, starting at a given index. */
function matrixReader(
  at: Site,
  form: Form,
  [low, high]: Words,
  transposed: boolean,
  count: number,
): (warp: Warp, first: number, into: Float64Array) => void {
  const { words, halves, bytes } = at.views
  const { elementBytes } = form
  const { table } = form.elements
  const { sharedBytes } = at.machine
  const bits = new Int32Array(table ? 0 : count * form.depth)
  const floats = new Float32Array(bits.buffer)
  const known = new Map<string, Int32Array>()
  /** Returns the elements' byte offsets in shared memory. */
  const placesOf = (descriptor: Descriptor, first: number): Int32Array => {
    const { start, leading, stride, swizzle } = descriptor
    const key = `${start} ${leading} ${stride} ${swizzle} ${first}`
    const found = known.get(key)
    if (found) return found
    const offsets = elementOffsets(descriptor, form, transposed, first, count).map((offset) =>
      swizzled(start + offset, swizzle),
    )
    if (known.size === mostKnown) known.clear()
    known.set(key, offsets)
    return offsets
  }
  return (warp, first, into) => {
    const descriptor =
      descriptorOf(low(warp), high(warp)) ?? at.unknown('a matrix descriptor with a base offset')
    const places = placesOf(descriptor, first)
    const { watch, shared } = warp.block
    for (let place = 0; place < places.length; place++) {
      const offset = places[place]!
      if (offset + elementBytes > sharedBytes) {
        at.machine.report({
          kind: 'outside-shared',
          at: at.index,
          write: false,
          bytes: elementBytes,
          thread: warp.number * lanes,
          block: 0,
          address: offset,
        })
        return
      }
      watch?.shared(at.index, warp, 0, offset, elementBytes, false, false)
      const from = shared + offset
      if (!table) bits[place] = words[from >>> 2]! & tensorFloatMask
      else into[place] = table[elementBytes === 1 ? bytes[from]! : halves[from >>> 1]!]!
    }
    if (!table) into.set(floats)
  }
}

function groupProduct(at: Site): Step {
  const form = formOf(at)
  const { columns, depth, elementBytes, wide } = form
  const [descriptor] = at.all('matrix-descriptor')
  const registers = at.all('register')
  if (!descriptor) return at.unknown()
  at.take(descriptor, 'value')
  // In the emulator, products complete when they are issued, so no instruction waits for the
  // scoreboard.
  for (const scoreboard of at.all('scoreboard')) at.take(scoreboard, 'value')
  const inRegisters = registers.length === 3
  const [target, added] = [registers[0]!, registers.at(-1)!]
  const adds = at.predicate(at.all('uniform-predicate')[0])
  const has = (word: string): boolean => at.suffix(descriptor, word)
  const sign = (has('negA') ? -1 : 1) * (has('negB') ? -1 : 1)
  const uniform = (place: number) => at.uniform(descriptor.uniform + place)
  const aRows = inRegisters
    ? Array.from({ length: 4 }, (_, part) => rowOf(at, registers[1]!, part))
    : null
  // The first uniform register pair is reserved for A's descriptor, even if A is in registers.
  const readA = matrixReader(at, form, [uniform(0), uniform(1)], !inRegisters && has('tnspA'), rows)
  const readB = matrixReader(at, form, [uniform(2), uniform(3)], has('tnspB'), columns)
  const perLane = columns / (wide ? 2 : 4)
  const from = Array.from({ length: perLane }, (_, part) => rowOf(at, added, part))
  const to = from.map((_, part) => rowOf(at, target, part))
  const { words, floats } = at.views
  const half = halfTable()
  const { leastNormal, packed } = form.elements
  const [bits, cut] = packed === 4 ? [keptOfEights, maskOfEights] : [kept, -1]
  const leastAddend = wide ? leastFloat : leastNormal
  const { left, right, sums, add } = alignedSums({
    ...{ rows, columns, depth, leastNormal, leastAddend, bits },
  })
  const byColumn = new Float64Array(columns * depth)
  const { counts } = at.machine
  // The four warps share the data that they read, so each warp counts a quarter of the data.
  const wavefronts =
    ((inRegisters ? 0 : groupRows) + columns) *
    ((depth * elementBytes) / wavefrontBytes / warpsOfGroup)
  // In each group of 8 columns, a lane has two adjacent elements in its row, and two in the row 8
  // rows below.
  const placeOf = (part: number, lane: number): number => {
    const pair = wide ? part >> 1 : part
    const row = (pair & 1 ? 8 : 0) + (lane >> 2)
    return row * columns + 8 * (pair >> 1) + 2 * (lane & 3) + (wide ? part & 1 : 0)
  }
  // After serialized products, nvcc emits an empty product that has neither a result nor matrices.
  const hasResult = to[0]! >= 0
  return (warp, active) => {
    if (active !== warp.lanes) at.unknown('a part of the warp')
    const { base } = warp
    counts.wavefronts[at.index]! += wavefronts
    counts.idealWavefronts[at.index]! += wavefronts
    if (!hasResult) return
    if (aRows) readFragment(words, base, aRows, form.elements, depth, 2, left)
    else readA(warp, rows * (warp.number % warpsOfGroup), left)
    readB(warp, 0, byColumn)
    transpose(byColumn, columns, right)
    if (sign < 0) for (let place = 0; place < left.length; place++) left[place]! *= -1
    const keeps = adds(warp) !== 0
    if (!keeps) sums.fill(0)
    else
      for (let part = 0; part < perLane; part++) {
        const source = base + from[part]!
        for (let lane = 0; lane < lanes; lane++) {
          const place = placeOf(part, lane)
          if (from[part]! < 0) sums.fill(0, place, place + (wide ? 1 : 2))
          else if (wide) sums[place] = floats[source + lane]!
          else {
            sums[place] = half[words[source + lane]! & 0xffff]!
            sums[place + 1] = half[words[source + lane]! >>> 16]!
          }
        }
      }
    add()
    for (let part = 0; part < perLane; part++) {
      const result = base + to[part]!
      for (let lane = 0; lane < lanes; lane++) {
        const place = placeOf(part, lane)
        words[result + lane] = wide
          ? cutFloat(sums[place]!, cut)
          : halfBits(sums[place]!) | (halfBits(sums[place + 1]!) << 16)
      }
    }
  }
}

export const warpgroupSteps: Record<string, (at: Site) => Step> = {
  HGMMA: groupProduct,
  QGMMA: groupProduct,
}
