/** Matrix products of a warp and of a warpgroup, and how registers and shared memory hold their elements. */
import { zeroRegister, type Operand } from '../sass/instruction'
import { bitsOf, brainOf, floatOf, halfOf, halfBits, nanBits, smallFloats, smallOf } from './float'
import { lanes, type Site } from './site'
import type { Step, Warp } from './warp'
import { swizzled, type Swizzle } from './bulk-copies'
import { alignedSums } from './fused/aligned-sums'

// The elements of matrices: how registers and shared memory hold them.

export interface Elements {
  /** In a register. */
  packed: 1 | 2 | 4
  /** The number of each 16 or 8 bits; null for TF32, which is a float without its low bits. */
  table: Float32Array | null
  /** The smallest normal number: smaller ones have its exponent. */
  leastNormal: number
}

/** Bits of a float that TF32 has not. */
export const tensorFloatMask = ~0x1fff

export const leastFloat = 2 ** -126

const tables = new Map<(bits: number) => number, Float32Array>()

/** A function of 16 bits as a table of all of them. */
function tabled(toNumber: (bits: number) => number): Float32Array {
  const known = tables.get(toNumber)
  if (known) return known
  const table = Float32Array.from({ length: 65536 }, (_, bits) => toNumber(bits))
  tables.set(toNumber, table)
  return table
}

export const halfTable = (): Float32Array => tabled(halfOf)

const eights = {
  E4M3: (bits: number) => smallOf(bits & 0xff, smallFloats.e4m3),
  E5M2: (bits: number) => smallOf(bits & 0xff, smallFloats.e5m2),
}

/** What an instruction's type says: TF32, BF16, FP8 (where A and B are of one type), or else F16. */
export function elementsOf(at: Site): Elements {
  if (at.has('TF32')) return { packed: 1, table: null, leastNormal: leastFloat }
  const [eight, other] = at.matching(/^E4M3$|^E5M2$/)
  if (eight === 'E4M3' || eight === 'E5M2')
    return eight === other
      ? {
          packed: 4,
          table: tabled(eights[eight]),
          leastNormal: eight === 'E4M3' ? 2 ** -6 : 2 ** -14,
        }
      : at.unknown()
  return at.has('BF16')
    ? { packed: 2, table: tabled(brainOf), leastNormal: leastFloat }
    : { packed: 2, table: halfTable(), leastNormal: 2 ** -14 }
}

const word = new Int32Array(1)
const float = new Float32Array(word.buffer)

/**
 * Reads the fragment of a matrix from registers: of each 8 rows lane l has row l / 4, and of each 4 registers along k
 * the l % 4-th. `sources` are the rows of the registers, those of 8 rows after one another first.
 */
export function readFragment(
  words: Int32Array,
  base: number,
  sources: readonly number[],
  { table }: Elements,
  depth: number,
  rowsApart: number,
  into: Float64Array,
): void {
  for (let part = 0; part < sources.length; part++) {
    const source = sources[part]!
    const packed = table === null ? 1 : 2
    const first = (part % rowsApart) * 8 * depth + 4 * packed * Math.floor(part / rowsApart)
    for (let lane = 0; lane < lanes; lane++) {
      const bits = source < 0 ? 0 : words[base + source + lane]!
      const at = first + (lane >> 2) * depth + packed * (lane & 3)
      if (table === null) {
        word[0] = bits & tensorFloatMask
        into[at] = float[0]!
      } else {
        into[at] = table[bits & 0xffff]!
        into[at + 1] = table[bits >>> 16]!
      }
    }
  }
}

/** First word of a register's row from the warp's base, -1 for RZ. */
export function rowOf(at: Site, operand: Operand, part: number): number {
  if (operand.kind !== 'register') return at.unknown()
  at.take(operand, 'value')
  return operand.index === zeroRegister ? -1 : (operand.index + part) * lanes
}

// How Hopper's tensor cores add. All products of an element and what they are added to are aligned to the largest exponent
// among them, cut off towards zero below a number of bits, and added exactly; the sum is cut off towards zero as well. The
// exponent of a product is the sum of its factors' exponents, whatever their mantissas. This is bit for bit what an H200
// answered to 180 products of warps and 216 of warpgroups (test/domain/emulator/tensor-cores.test.ts).

/** Bits below the largest exponent that count in a sum: of FP8, and of all other types. */
export const keptOfEights = 13
/** The bits of a float that a sum of FP8 has. */
export const maskOfEights = ~(2 ** (23 - keptOfEights) - 1)
export const kept = 25

/** Columns of numbers after one another as rows of one of each column. */
export function transpose(from: Float64Array, columns: number, into: Float64Array): void {
  const depth = from.length / columns
  for (let column = 0; column < columns; column++)
    for (let k = 0; k < depth; k++) into[k * columns + column] = from[column * depth + k]!
}

const overflow = 2 ** 128

/** The bits of a number as a float, cut off towards zero, as far as the mask keeps them. */
export function cutFloat(value: number, mask = -1): number {
  const bits = bitsOf(Math.fround(value))
  if (Number.isNaN(value)) return nanBits
  return Math.abs(value) < overflow && Math.abs(floatOf(bits)) > Math.abs(value)
    ? (bits - 1) & mask
    : bits & mask
}

// Matrix products of a warp, HMMA.

const rows = 16
const columns = 8

function product(at: Site): Step {
  const shape = at.matching(/^16(\d+)$/)[0] ?? at.unknown()
  const digits = shape.slice(2)
  const depth = Number(digits.slice(1))
  const wide = at.has('F32')
  if (digits[0] !== '8' || (!wide && !at.has('F16'))) return at.unknown()
  const elements = elementsOf(at)
  if (!wide && elements.table !== halfTable()) return at.unknown('a product that a GPU refuses')
  const [a, b, c] = at.operands.sources
  const { destination } = at.operands
  if (!a || !b || !c || !destination) return at.unknown()
  const parts = depth / (4 * elements.packed)
  const aRows = Array.from({ length: 2 * parts }, (_, part) => rowOf(at, a, part))
  const bRows = Array.from({ length: parts }, (_, part) => rowOf(at, b, part))
  const cRows = Array.from({ length: wide ? 4 : 2 }, (_, part) => rowOf(at, c, part))
  const dRows = cRows.map((_, part) => rowOf(at, destination, part))
  const { words, floats } = at.views
  const half = halfTable()
  const { leastNormal } = elements
  const leastAddend = wide ? leastFloat : leastNormal
  const { left, right, sums, add } = alignedSums({
    ...{ rows, columns, depth, leastNormal, leastAddend, bits: kept },
  })
  const byColumn = new Float64Array(columns * depth)
  /** The element that a lane has in one of its four places. */
  const placeOf = (lane: number, each: number): number =>
    ((lane >> 2) + (each >= 2 ? 8 : 0)) * columns + 2 * (lane & 3) + (each & 1)
  return (warp, active) => {
    if (active !== warp.lanes) at.unknown('a part of the warp')
    const { base } = warp
    readFragment(words, base, aRows, elements, depth, 2, left)
    readFragment(words, base, bRows, elements, depth, 1, byColumn)
    transpose(byColumn, columns, right)
    for (let lane = 0; lane < lanes; lane++)
      for (let each = 0; each < 4; each++) {
        const from = cRows[wide ? each : each >> 1]!
        let before = 0
        if (from >= 0)
          before = wide
            ? floats[base + from + lane]!
            : half[(words[base + from + lane]! >>> (16 * (each & 1))) & 0xffff]!
        sums[placeOf(lane, each)] = before
      }
    add()
    for (const [part, to] of dRows.entries()) {
      if (to < 0) continue
      for (let lane = 0; lane < lanes; lane++)
        words[base + to + lane] = wide
          ? cutFloat(sums[placeOf(lane, part)]!)
          : halfBits(sums[placeOf(lane, 2 * part)]!) |
            (halfBits(sums[placeOf(lane, 2 * part + 1)]!) << 16)
    }
  }
}

export const tensorSteps: Record<string, (at: Site) => Step> = {
  HMMA: product,
}

// Matrix products of a warpgroup: HGMMA, and QGMMA of FP8 that lies in shared memory. Each of its four warps has 16 of the
// 64 rows, so that it can do its part alone; it does so when it is issued. B, and A where it is not in registers, lie in
// shared memory as a matrix descriptor says. They add as HMMA does, and of FP8 they keep fewer bits, of the result too.

const warpsOfGroup = 4
/** Rows of A that the four warps read together. */
const groupRows = rows * warpsOfGroup
const wavefrontBytes = 128

/** By the two highest bits of a descriptor. */
const swizzles: readonly Swizzle[] = [0, 3, 2, 1]

interface Descriptor {
  /** Offset in the shared memory. */
  start: number
  /** Bytes between blocks of the matrix: along the leading dimension, and along the other one. */
  leading: number
  stride: number
  swizzle: Swizzle
}

function descriptorOf(low: number, high: number): Descriptor | null {
  // A base offset tells of a tile that does not begin where its swizzle does.
  if ((high >>> 17) & 7) return null
  return {
    start: (low & 0x3fff) << 4,
    leading: ((low >>> 16) & 0x3fff) << 4,
    stride: (high & 0x3fff) << 4,
    swizzle: swizzles[high >>> 30]!,
  }
}

/**
 * Offsets of the elements of a matrix from its start, before they are swizzled: `outer` counts rows of A or columns of
 * B, k what is summed over. Eight rows of 16, 32, 64 or 128 bytes, by the swizzle, lie together; `transposed` where
 * `outer` is what runs along a row.
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

/** Tiles whose elements' places are kept: those of a pipeline are few. */
const mostKnown = 256

type Words = readonly [low: (warp: Warp) => number, high: (warp: Warp) => number]

/** Reads `count` rows of A, or columns of B, from the `first` on. */
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
  /** Offsets in the shared memory. */
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
  // Products are done when they are issued: nobody waits for the scoreboard.
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
  // The first pair of registers is A's, also where A has none.
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
  // Each warp is counted a quarter of what the four read together.
  const wavefronts =
    ((inRegisters ? 0 : groupRows) + columns) *
    ((depth * elementBytes) / wavefrontBytes / warpsOfGroup)
  // For each 8 columns a lane has two neighbors in its row, and two in the row 8 further down.
  const placeOf = (part: number, lane: number): number => {
    const pair = wide ? part >> 1 : part
    const row = (pair & 1 ? 8 : 0) + (lane >> 2)
    return row * columns + 8 * (pair >> 1) + 2 * (lane & 3) + (wide ? part & 1 : 0)
  }
  return (warp, active) => {
    if (active !== warp.lanes) at.unknown('a part of the warp')
    const { base } = warp
    counts.wavefronts[at.index]! += wavefronts
    counts.idealWavefronts[at.index]! += wavefronts
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
