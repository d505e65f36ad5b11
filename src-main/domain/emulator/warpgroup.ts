/**
 * Matrix products of a warpgroup, HGMMA. Each of its four warps has 16 of the 64 rows, so that it can do its part alone;
 * it does so when it is issued. B, and A where it is not in registers, lie in shared memory as a matrix descriptor
 * says. Sums are rounded as those of HMMA are.
 */
import type { Instruction } from '../sass/instruction'
import { bitsOf, brainOf, floatOf, halfBits, halfOf, tensorFloat } from './float'
import { lanes, type Site } from './site'
import { swizzled, type Swizzle } from './tensor-map'
import type { Step, Warp } from './warp'

const rows = 16
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
 * Offset of an element in shared memory: `outer` counts rows of A or columns of B, `k` what is summed over. Eight rows
 * of 16, 32, 64 or 128 bytes, by the swizzle, lie together; `transposed` where `outer` is what runs along a row.
 */
function elementOffset(
  { start, leading, stride, swizzle }: Descriptor,
  outer: number,
  k: number,
  bytes: number,
  transposed: boolean,
): number {
  const rowBytes = 16 << swizzle
  const perRow = rowBytes / bytes
  let offset: number
  if (!transposed) {
    const chunk = 16 / bytes
    const along = swizzle === 0 ? Math.floor(k / chunk) * leading + (k % chunk) * bytes : k * bytes
    offset = (outer % 8) * rowBytes + Math.floor(outer / 8) * stride + along
  } else {
    const [outerStep, innerStep] = swizzle === 0 ? [stride, leading] : [leading, stride]
    offset =
      (outer % perRow) * bytes +
      Math.floor(outer / perRow) * outerStep +
      (k % 8) * rowBytes +
      Math.floor(k / 8) * innerStep
  }
  return swizzled(start + offset, swizzle)
}

interface Form {
  columns: number
  depth: number
  elementBytes: number
  toNumber: (bits: number) => number
  wide: boolean
}

function formOf(at: Site, { modifiers }: Instruction): Form {
  const shape = modifiers.map((word) => /^64x(\d+)x(\d+)$/.exec(word)).find(Boolean)
  if (!shape) return at.unknown()
  const single = at.has('TF32')
  return {
    columns: Number(shape[1]),
    depth: Number(shape[2]),
    elementBytes: single ? 4 : 2,
    toNumber: single ? tensorFloat : at.has('BF16') ? brainOf : halfOf,
    wide: at.has('F32'),
  }
}

/** Reads a matrix of shared memory into `into`, `count` by `depth`, and tells the watch of it. */
function readMatrix(
  at: Site,
  warp: Warp,
  form: Form,
  descriptor: Descriptor,
  transposed: boolean,
  first: number,
  count: number,
  into: (outer: number, k: number, value: number) => void,
): void {
  const { words, halves } = at.views
  const { depth, elementBytes, toNumber } = form
  const { watch, shared } = warp.block
  const { sharedBytes } = at.machine
  for (let outer = 0; outer < count; outer++)
    for (let k = 0; k < depth; k++) {
      const offset = elementOffset(descriptor, first + outer, k, elementBytes, transposed)
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
      const place = shared + offset
      into(outer, k, toNumber(elementBytes === 4 ? words[place >>> 2]! : halves[place >>> 1]!))
    }
}

function groupProduct(at: Site): Step {
  const { operands } = at.instruction
  const form = formOf(at, at.instruction)
  const { columns, depth, elementBytes, toNumber, wide } = form
  const descriptor = operands.find((operand) => operand.kind === 'matrix-descriptor')
  const registers = operands.filter((operand) => operand.kind === 'register')
  if (!descriptor) return at.unknown()
  const aRegister = registers.length === 3 ? registers[1]! : null
  const [target, sum] = [registers[0]!, registers.at(-1)!]
  const adds = at.predicate(operands.find((operand) => operand.kind === 'uniform-predicate'))
  const has = (word: string): boolean => descriptor.suffixes.includes(word)
  const sign = (has('negA') ? -1 : 1) * (has('negB') ? -1 : 1)
  const word = (place: number) => at.uniform(descriptor.uniform + place)
  const aWords = aRegister ? null : ([word(0), word(1)] as const)
  const bWords = aRegister ? ([word(0), word(1)] as const) : ([word(2), word(3)] as const)
  const perLane = columns / (wide ? 2 : 4)
  const gets = Array.from({ length: perLane }, (_, part) => at.raw(sum, part))
  const puts = Array.from({ length: perLane }, (_, part) => at.putRegister(target, part))
  const packed = 4 / elementBytes
  const aGets = aRegister ? Array.from({ length: 4 }, (_, part) => at.raw(aRegister, part)) : []
  const left = new Float64Array(rows * depth)
  const right = new Float64Array(depth * columns)
  const sums = new Float64Array(columns)
  const results = new Float64Array(rows * columns)
  const { counts } = at.machine
  // Each warp is counted a quarter of what the four read together.
  const wavefronts =
    ((aRegister ? 0 : groupRows) + columns) *
    ((depth * elementBytes) / wavefrontBytes / warpsOfGroup)
  const descriptorAt = (
    warp: Warp,
    [low, high]: readonly [(warp: Warp) => number, (warp: Warp) => number],
  ) => descriptorOf(low(warp), high(warp)) ?? at.unknown('a matrix descriptor with a base offset')
  return (warp, active) => {
    if (active !== warp.lanes) at.unknown('a part of the warp')
    const { base } = warp
    counts.wavefronts[at.index]! += wavefronts
    counts.idealWavefronts[at.index]! += wavefronts
    if (aWords)
      readMatrix(
        at,
        warp,
        form,
        descriptorAt(warp, aWords),
        has('tnspA'),
        rows * (warp.number % warpsOfGroup),
        rows,
        (row, k, value) => {
          left[row * depth + k] = value
        },
      )
    else
      for (let lane = 0; lane < lanes; lane++)
        for (let part = 0; part < 4; part++)
          for (let place = 0; place < packed; place++) {
            const row = (lane >> 2) + (part & 1 ? 8 : 0)
            const k = 4 * packed * (part >> 1) + packed * (lane & 3) + place
            const bits = aGets[part]!(base, lane)
            left[row * depth + k] = toNumber(packed === 1 ? bits : (bits >>> (16 * place)) & 0xffff)
          }
    readMatrix(
      at,
      warp,
      form,
      descriptorAt(warp, bWords),
      has('tnspB'),
      0,
      columns,
      (column, k, value) => {
        right[k * columns + column] = value
      },
    )
    const keeps = adds(warp) !== 0
    for (let row = 0; row < rows; row++) {
      sums.fill(0)
      for (let k = 0; k < depth; k++) {
        const a = sign * left[row * depth + k]!
        const from = k * columns
        for (let column = 0; column < columns; column++) sums[column]! += a * right[from + column]!
      }
      results.set(sums, row * columns)
    }
    for (let lane = 0; lane < lanes; lane++)
      for (let each = 0; each < columns / 4; each++) {
        // Pairs of neighbors: of the lane's row, then of the one 8 further down, for each 8 columns.
        const row = (lane >> 2) + (each & 1 ? 8 : 0)
        const from = row * columns + 8 * (each >> 1) + 2 * (lane & 3)
        const [first, second] = [results[from]!, results[from + 1]!]
        if (wide) {
          const [x, y] = [2 * each, 2 * each + 1]
          const before = (part: number): number => (keeps ? floatOf(gets[part]!(base, lane)) : 0)
          puts[x]!(base, lane, bitsOf(Math.fround(before(x) + first)))
          puts[y]!(base, lane, bitsOf(Math.fround(before(y) + second)))
        } else {
          const bits = keeps ? gets[each]!(base, lane) : 0
          const [low, high] = [halfOf(bits & 0xffff), halfOf(bits >>> 16)]
          puts[each]!(base, lane, halfBits(low + first) | (halfBits(high + second) << 16))
        }
      }
  }
}

export const warpgroupSteps: Record<string, (at: Site) => Step> = {
  HGMMA: groupProduct,
}
