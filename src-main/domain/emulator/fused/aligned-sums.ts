/**
 * Computes tensor-core sums (`tensor-core-sums.ts`) in a WebAssembly module that has its own
 * memory. The code processes two columns at a time.
 */
import { Code, encodeModule, i32, scalar, v128, vector } from '../wasm'

interface SumForm {
  rows: number
  /** Number of columns; must be a multiple of four. */
  columns: number
  depth: number
  /**
   * Smallest normal magnitude of a factor and of the addend. Denormals are aligned with the
   * exponent of the smallest normal magnitude.
   */
  leastNormal: number
  leastAddend: number
  /** Number of bits that an aligned term keeps below the largest exponent. */
  bits: number
}

interface AlignedSums {
  /** Elements of the left-hand matrix in row-major order, with `depth` elements per row. */
  left: Float64Array
  /** Elements of the right-hand matrix in row-major order. Row k has one element per column. */
  right: Float64Array
  /**
   * Sums in row-major order. The array contains the addends before the `add` call and the
   * untruncated sums after the call.
   */
  sums: Float64Array
  add(): void
}

/** A magnitude smaller than any product's magnitude. */
const leastMagnitude = 2 ** -300
/** Mask of a double's exponent bits. */
const exponentBits = [0, 0x7ff00000] as const
const doubleBytes = 8
const pageBytes = 65536
const load64Splat = 0x0a

/**
 * Replaces each double on the stack with the power of two given by its exponent. Zeros stay 0. The
 * local `value` must contain the same doubles as the stack.
 */
export function toMagnitudes(code: Code, value: number, leastNormal: number): void {
  code.words(...exponentBits, ...exponentBits)
  code.vector(vector.and)
  code.splatDouble(leastNormal)
  code.vector(vector.doubleLarger)
  code.get(value)
  code.splat(0)
  code.vector(vector.doubleNe)
  code.vector(vector.and)
}

/** Sets `scale` to the magnitude of `addend`. The products can only increase `scale`. */
export function beginScale(code: Code, scale: number, addend: number, leastNormal: number): void {
  code.splatDouble(leastMagnitude)
  code.get(addend)
  toMagnitudes(code, addend, leastNormal)
  code.vector(vector.doubleLarger)
  code.set(scale)
}

const [bias, highShift] = [1023, 20]

/**
 * Pushes 2 ** `bits` divided by each lane of the vector `value`. All lanes must be powers of two,
 * so exponents can be subtracted, which is much faster than division.
 */
function pushInverse(code: Code, value: number, bits: number): void {
  const high = (2 * bias + bits) * 2 ** highShift
  code.words(0, high, 0, high)
  code.get(value)
  code.vector(vector.longSub)
}

/** Pushes an aligned sum, converted back to an ordinary number. */
export function pushSum(code: Code, scale: number, sum: number): void {
  code.get(sum)
  pushInverse(code, scale, 0)
  code.vector(vector.doubleMul)
}

/**
 * Replaces the largest magnitude in `scale` with the alignment factor and aligns `sum` with that
 * factor.
 */
export function align(code: Code, scale: number, sum: number, bits: number): void {
  // Infinities and NaNs are not aligned.
  code.splatDouble(2 ** bits)
  code.get(scale)
  code.get(scale)
  code.splatDouble(Infinity)
  code.vector(vector.doubleEq)
  code.vector(vector.select)
  code.set(scale)
  pushInverse(code, scale, bits)
  code.set(scale)
  code.get(sum)
  code.get(scale)
  code.vector(vector.doubleMul)
  code.vector(vector.doubleTrunc)
  code.set(sum)
}

/** Emits a loop that runs `body` for each value of `counter` from 0 up to `end` (exclusive). */
function repeat(code: Code, counter: number, end: number, step: number, body: () => void): void {
  code.constant(0)
  code.set(counter)
  code.op(scalar.loop, 0x40)
  body()
  code.get(counter)
  code.constant(step)
  code.op(scalar.add)
  code.tee(counter)
  code.constant(end)
  code.op(scalar.lessUnsigned, scalar.branchIf, 0, scalar.end)
}

function make({ rows, columns, depth, leastNormal, leastAddend, bits }: SumForm): AlignedSums {
  const [leftBytes, rightBytes] = [rows * depth * doubleBytes, depth * columns * doubleBytes]
  const rowBytes = columns * doubleBytes
  const [leftSizes, right] = [leftBytes, 2 * leftBytes]
  const [rightSizes, sumsAt] = [right + rightBytes, right + 2 * rightBytes]

  const code = new Code(0)
  const [row, column, place] = [code.local(i32), code.local(i32), code.local(i32)]
  const value = code.local(v128)
  const pairs = [0, 16] as const
  const totals = pairs.map(() => code.local(v128))
  const scales = pairs.map(() => code.local(v128))
  const load = (from: number, offset: number, operation: number = vector.load): void => {
    code.get(from)
    code.vectorMemory(operation, offset)
  }

  for (const [from, length, to] of [
    [0, leftBytes, leftSizes],
    [right, rightBytes, rightSizes],
  ] as const)
    repeat(code, place, length, 16, () => {
      code.get(place)
      load(place, from)
      code.tee(value)
      toMagnitudes(code, value, leastNormal)
      code.vectorMemory(vector.store, to)
    })
  code.constant(0)
  code.set(place)
  repeat(code, row, leftBytes, depth * doubleBytes, () =>
    repeat(code, column, rowBytes, 32, () => {
      for (const [pair, offset] of pairs.entries()) {
        load(place, sumsAt + offset)
        code.set(totals[pair]!)
        beginScale(code, scales[pair]!, totals[pair]!, leastAddend)
      }
      for (let k = 0; k < depth; k++) {
        load(row, leftSizes + k * doubleBytes, load64Splat)
        code.set(value)
        for (const [pair, offset] of pairs.entries()) {
          code.get(scales[pair]!)
          code.get(value)
          load(column, rightSizes + k * rowBytes + offset)
          code.vector(vector.doubleMul)
          code.vector(vector.doubleLarger)
          code.set(scales[pair]!)
        }
      }
      for (const [pair, total] of totals.entries()) align(code, scales[pair]!, total, bits)
      for (let k = 0; k < depth; k++) {
        load(row, k * doubleBytes, load64Splat)
        code.set(value)
        for (const [pair, offset] of pairs.entries()) {
          code.get(totals[pair]!)
          code.get(value)
          load(column, right + k * rowBytes + offset)
          code.vector(vector.doubleMul)
          code.get(scales[pair]!)
          code.vector(vector.doubleMul)
          code.vector(vector.doubleTrunc)
          code.vector(vector.doubleAdd)
          code.set(totals[pair]!)
        }
      }
      for (const [pair, offset] of pairs.entries()) {
        code.get(place)
        pushSum(code, scales[pair]!, totals[pair]!)
        code.vectorMemory(vector.store, sumsAt + offset)
      }
      code.get(place)
      code.constant(32)
      code.op(scalar.add)
      code.set(place)
    }),
  )

  const pages = Math.ceil((sumsAt + rows * rowBytes) / pageBytes)
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages })
  const module = encodeModule(pages, [], [{ signature: { parameters: [], results: [] }, code }])
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module), { e: { memory } })
  return {
    left: new Float64Array(memory.buffer, 0, rows * depth),
    right: new Float64Array(memory.buffer, right, depth * columns),
    sums: new Float64Array(memory.buffer, sumsAt, rows * columns),
    add: exports['f0'] as () => void,
  }
}

const known = new Map<string, AlignedSums>()

/**
 * Returns the arrays and the `add` function for one number format. All callers share one instance,
 * because `add` keeps no state between calls.
 */
export function alignedSums(form: SumForm): AlignedSums {
  const key = Object.values(form).join()
  const found = known.get(key) ?? make(form)
  known.set(key, found)
  return found
}
