/** Matrix products of a warp and of a warpgroup, and how registers and shared memory hold their elements. */
import { zeroRegister, type Operand } from '../sass/instruction'
import { bitsOf, brainOf, halfOf, halfBits, smallFloats, smallOf } from './float'
import { lanes, type Site } from './site'
import type { Step, Warp } from './warp'
import { swizzled, type Swizzle } from './bulk-copies'

// The elements of matrices: how registers and shared memory hold them.

export interface Elements {
  /** In a register. */
  packed: 1 | 2 | 4
  /** The number of each 16 or 8 bits; null for TF32, which is a float without its low bits. */
  table: Float32Array | null
}

/** Bits of a float that TF32 has not. */
export const tensorFloatMask = ~0x1fff

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
  if (at.has('TF32')) return { packed: 1, table: null }
  const [eight, other] = at.matching(/^E4M3$|^E5M2$/)
  if (eight === 'E4M3' || eight === 'E5M2')
    return eight === other ? { packed: 4, table: tabled(eights[eight]) } : at.unknown()
  return { packed: 2, table: at.has('BF16') ? tabled(brainOf) : halfTable() }
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

/** A sum in double precision as the bits of a float. */
export const signedSum = (sum: number): number => bitsOf(Math.fround(sum))

// Matrix products of a warp, HMMA. Products are exact and are summed in double precision, then rounded to the nearest;
// the tensor cores cut low bits of the sum off, so that a result may differ from theirs in its last bits.

const rows = 16
const columns = 8

function product(at: Site): Step {
  const shape = at.matching(/^16(\d+)$/)[0] ?? at.unknown()
  const digits = shape.slice(2)
  const depth = Number(digits.slice(1))
  const wide = at.has('F32')
  if (digits[0] !== '8' || (!wide && !at.has('F16'))) return at.unknown()
  const elements = elementsOf(at)
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
  const left = new Float64Array(rows * depth)
  const right = new Float64Array(columns * depth)
  const sums = new Float64Array(4 * lanes)
  return (warp, active) => {
    if (active !== warp.lanes) at.unknown('a part of the warp')
    const { base } = warp
    readFragment(words, base, aRows, elements, depth, 2, left)
    readFragment(words, base, bRows, elements, depth, 1, right)
    for (let lane = 0; lane < lanes; lane++)
      for (let each = 0; each < 4; each++) {
        const row = ((lane >> 2) + (each >= 2 ? 8 : 0)) * depth
        const column = (2 * (lane & 3) + (each & 1)) * depth
        const from = cRows[wide ? each : each >> 1]!
        let sum = 0
        if (from >= 0)
          sum = wide
            ? floats[base + from + lane]!
            : half[(words[base + from + lane]! >>> (16 * (each & 1))) & 0xffff]!
        for (let k = 0; k < depth; k++) sum += left[row + k]! * right[column + k]!
        sums[4 * lane + each] = sum
      }
    for (const [part, to] of dRows.entries()) {
      if (to < 0) continue
      for (let lane = 0; lane < lanes; lane++)
        words[base + to + lane] = wide
          ? signedSum(sums[4 * lane + part]!)
          : halfBits(sums[4 * lane + 2 * part]!) | (halfBits(sums[4 * lane + 2 * part + 1]!) << 16)
    }
  }
}

export const tensorSteps: Record<string, (at: Site) => Step> = {
  HMMA: product,
}

// Matrix products of a warpgroup: HGMMA, and QGMMA of FP8 that lies in shared memory. Each of its four warps has 16 of the
// 64 rows, so that it can do its part alone; it does so when it is issued. B, and A where it is not in registers, lie in
// shared memory as a matrix descriptor says. Sums are rounded as those of HMMA are; Hopper keeps some 14 bits of those of FP8.

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
  const [target, sum] = [registers[0]!, registers.at(-1)!]
  const adds = at.predicate(at.all('uniform-predicate')[0])
  const has = (word: string): boolean => at.suffix(descriptor, word)
  const sign = (has('negA') ? -1 : 1) * (has('negB') ? -1 : 1)
  const uniform = (place: number) => at.uniform(descriptor.uniform + place)
  const left = new Float64Array(rows * depth)
  const right = new Float64Array(columns * depth)
  const aRows = inRegisters
    ? Array.from({ length: 4 }, (_, part) => rowOf(at, registers[1]!, part))
    : null
  // The first pair of registers is A's, also where A has none.
  const readA = matrixReader(at, form, [uniform(0), uniform(1)], !inRegisters && has('tnspA'), rows)
  const readB = matrixReader(at, form, [uniform(2), uniform(3)], has('tnspB'), columns)
  const perLane = columns / (wide ? 2 : 4)
  const from = Array.from({ length: perLane }, (_, part) => rowOf(at, sum, part))
  const to = from.map((_, part) => rowOf(at, target, part))
  const { words, floats } = at.views
  const half = halfTable()
  const products = new Float64Array(rows * columns)
  /** Every row of A by every column of B, four columns at a time: one sum would wait for itself at each addition. */
  const multiply = (): void => {
    for (let row = 0; row < rows; row++)
      for (let column = 0; column < columns; column += 4) {
        const [one, two] = [column * depth, (column + 1) * depth]
        const [three, four] = [(column + 2) * depth, (column + 3) * depth]
        let [a, b, c, d] = [0, 0, 0, 0]
        for (let k = 0; k < depth; k++) {
          const value = left[row * depth + k]!
          a += value * right[one + k]!
          b += value * right[two + k]!
          c += value * right[three + k]!
          d += value * right[four + k]!
        }
        const place = row * columns + column
        products[place] = a
        products[place + 1] = b
        products[place + 2] = c
        products[place + 3] = d
      }
  }
  const { counts } = at.machine
  // Each warp is counted a quarter of what the four read together.
  const wavefronts =
    ((inRegisters ? 0 : groupRows) + columns) *
    ((depth * elementBytes) / wavefrontBytes / warpsOfGroup)
  return (warp, active) => {
    if (active !== warp.lanes) at.unknown('a part of the warp')
    const { base } = warp
    counts.wavefronts[at.index]! += wavefronts
    counts.idealWavefronts[at.index]! += wavefronts
    if (aRows) readFragment(words, base, aRows, form.elements, depth, 2, left)
    else readA(warp, rows * (warp.number % warpsOfGroup), left)
    readB(warp, 0, right)
    const keeps = adds(warp) !== 0
    multiply()
    // For each 8 columns a lane has two neighbors in its row, and two in the row 8 further down.
    for (let pair = 0; pair < columns / 4; pair++) {
      const corner = (pair & 1 ? 8 : 0) * columns + 8 * (pair >> 1)
      if (wide)
        for (let each = 0; each < 2; each++) {
          const source = keeps ? from[2 * pair + each]! : -1
          const result = base + to[2 * pair + each]!
          for (let lane = 0; lane < lanes; lane++) {
            const product = products[corner + each + (lane >> 2) * columns + 2 * (lane & 3)]!
            const before = source < 0 ? 0 : floats[base + source + lane]!
            floats[result + lane] = before + sign * product
          }
        }
      else {
        const source = keeps ? from[pair]! : -1
        for (let lane = 0; lane < lanes; lane++) {
          const place = corner + (lane >> 2) * columns + 2 * (lane & 3)
          const before = source < 0 ? 0 : words[base + source + lane]!
          const [low, high] = [half[before & 0xffff]!, half[before >>> 16]!]
          words[base + to[pair]! + lane] =
            halfBits(low + sign * products[place]!) |
            (halfBits(high + sign * products[place + 1]!) << 16)
        }
      }
    }
  }
}

export const warpgroupSteps: Record<string, (at: Site) => Step> = {
  HGMMA: groupProduct,
  QGMMA: groupProduct,
}
