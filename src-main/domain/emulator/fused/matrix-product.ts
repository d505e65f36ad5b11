/**
 * Executes HMMA for a whole warp in WebAssembly, two columns at a time. The results match the
 * interpreted instruction's results (`hmma.ts`).
 *
 * Each lane has the fragment elements of row lane / 4. Four words of a register therefore form one
 * matrix row. A separate pass first aligns all addends to the largest magnitude.
 */
import { zeroRegister, type Instruction, type RegisterOperand } from '../../sass/instruction'
import { nanBits } from '../float'
import { align, beginScale, pushSum, toMagnitudes } from './aligned-sums'
import { highPart, lowHalves, Code, i32, scalar, v128, vector } from '../wasm'
import { lanes } from '../site'
import { leastFloat, tensorFloatMask } from '../matrix-layout'
import { kept } from '../tensor-core-sums'

const registerBytes = 4 * lanes
const rowBytes = 16
const rowsOfLoop = 8
/**
 * Matrix columns of the two doubles in each vector. The vectors are in the order of the sum's
 * registers.
 */
const columnPairs = [
  [0, 2],
  [4, 6],
  [1, 3],
  [5, 7],
] as const
const columns = 8

type Type = 'TF32' | 'BF16' | 'F16'

/**
 * Converts the words on the stack to floats. For packed halves, `place` selects the half to
 * convert.
 */
function pushFloats(code: Code, type: Type, place: number, halves: number): void {
  if (type === 'TF32') {
    code.splat(tensorFloatMask)
    code.vector(vector.and)
  } else if (type === 'BF16' && place === 0) {
    code.constant(16)
    code.vector(vector.shl)
  } else if (type === 'BF16') {
    code.splat(0xffff0000 | 0)
    code.vector(vector.and)
  } else {
    code.constant(place === 0 ? 16 : 0)
    code.vector(vector.shl)
    code.constant(16)
    code.vector(vector.shrU)
    code.set(halves)
    // Shift the exponent into position and correct the bias for FP32. Values with the highest
    // exponent become infinities.
    code.get(halves)
    code.splat(0x7fff)
    code.vector(vector.and)
    code.constant(13)
    code.vector(vector.shl)
    code.splat((127 + 112) << 23)
    code.vector(vector.floatMul)
    code.get(halves)
    code.splat(0x7c00)
    code.vector(vector.and)
    code.splat(0x7c00)
    code.vector(vector.intEq)
    code.splat(0x7f800000)
    code.vector(vector.and)
    code.vector(vector.or)
    code.get(halves)
    code.splat(0x8000)
    code.vector(vector.and)
    code.constant(16)
    code.vector(vector.shl)
    code.vector(vector.or)
  }
}

/** Mask of a double's mantissa bits that a float lacks. */
const lowBits = [0xe0000000 | 0, -1] as const
const leastDenormal = 2 ** -149

/**
 * Returns an instruction's compiled function, or null if the instruction must be interpreted. The
 * function has the same parameters as a compiled memory access.
 */
export function matrixProduct({ mnemonic, modifiers, operands }: Instruction): Code | null {
  const shape = modifiers.map((word) => /^168(4|8|16)$/.exec(word)).find(Boolean)
  if (mnemonic !== 'HMMA' || !shape || !modifiers.includes('F32')) return null
  if (operands.length !== 4 || operands.some(({ kind }) => kind !== 'register')) return null
  const [d, a, b, c] = operands as [
    RegisterOperand,
    RegisterOperand,
    RegisterOperand,
    RegisterOperand,
  ]
  if (d.index === zeroRegister) return null
  const type: Type = modifiers.includes('TF32')
    ? 'TF32'
    : modifiers.includes('BF16')
      ? 'BF16'
      : 'F16'
  const packed = type === 'TF32' ? 1 : 2
  const depth = Number(shape[1])
  const parts = depth / (4 * packed)

  const code = new Code(3)
  const local = (): number => code.local(v128)
  const [pointer, count] = [code.local(i32), code.local(i32)]
  const [halves, factor, loaded] = [local(), local(), local()]
  const floats = Array.from({ length: columns }, local)
  /** Locals for the elements of B, indexed by k and column pair. */
  const right = Array.from({ length: depth }, () => columnPairs.map(local))
  const rightSizes = right.map((pairs) => pairs.map(local))
  const factors = right.map(local)
  const sums = columnPairs.map(local)
  const scales = columnPairs.map(local)
  const leastNormal = type === 'F16' ? 2 ** -14 : leastFloat
  const results = Array.from({ length: 4 }, local)

  const load = (base: number, register: RegisterOperand, part: number, offset = 0): void => {
    if (register.index === zeroRegister) return code.splat(0)
    code.get(base)
    code.vectorMemory(vector.load, (register.index + part) * registerBytes + offset)
  }
  /** Moves the word at index `word` of two vectors into the low half of one vector. */
  const pick = (first: number, second: number, word: number): void => {
    code.get(first)
    code.get(second)
    const bytes = [0, 1, 2, 3].map((byte) => 4 * word + byte)
    code.shuffle([...bytes, ...bytes.map((byte) => byte + 16), ...bytes, ...bytes])
    code.vector(vector.promote)
  }

  code.get(1)
  code.constant(-1)
  code.op(scalar.ne, scalar.if, 0x40)
  code.constant(0)
  code.op(scalar.return, scalar.end)

  for (let part = 0; part < parts; part++)
    for (let place = 0; place < packed; place++) {
      for (let column = 0; column < columns; column++) {
        load(0, b, part, rowBytes * column)
        pushFloats(code, type, place, halves)
        code.set(floats[column]!)
      }
      for (let word = 0; word < 4; word++)
        for (const [pair, [first, second]] of columnPairs.entries()) {
          pick(floats[first]!, floats[second]!, word)
          const k = packed * (4 * part + word) + place
          code.tee(right[k]![pair]!)
          toMagnitudes(code, right[k]![pair]!, leastNormal)
          code.set(rightSizes[k]![pair]!)
        }
    }

  code.get(0)
  code.set(pointer)
  code.op(scalar.loop, 0x40)
  for (const half of [0, 1]) {
    for (const odd of [0, 1]) {
      load(pointer, c, 2 * half + odd)
      code.tee(loaded)
      code.vector(vector.promote)
      code.set(sums[2 * odd]!)
      code.get(loaded)
      code.get(loaded)
      code.shuffle(highPart)
      code.vector(vector.promote)
      code.set(sums[2 * odd + 1]!)
    }
    for (const [pair, scale] of scales.entries()) beginScale(code, scale, sums[pair]!, leastFloat)
    for (let part = 0; part < parts; part++) {
      for (let place = 0; place < packed; place++) {
        load(pointer, a, 2 * part + half)
        pushFloats(code, type, place, halves)
        code.set(floats[place]!)
      }
      for (let step = 0; step < 4 * packed; step++) {
        const from = floats[step % packed]!
        const k = 4 * packed * part + step
        pick(from, from, Math.floor(step / packed))
        code.tee(factors[k]!)
        toMagnitudes(code, factors[k]!, leastNormal)
        code.set(factor)
        for (const [pair, largest] of scales.entries()) {
          code.get(largest)
          code.get(factor)
          code.get(rightSizes[k]![pair]!)
          code.vector(vector.doubleMul)
          code.vector(vector.doubleLarger)
          code.set(largest)
        }
      }
    }
    for (const [pair, scale] of scales.entries()) align(code, scale, sums[pair]!, kept)
    for (const [k, value] of factors.entries())
      for (const [pair, sum] of sums.entries()) {
        code.get(sum)
        code.get(value)
        code.get(right[k]![pair]!)
        code.vector(vector.doubleMul)
        code.get(scales[pair]!)
        code.vector(vector.doubleMul)
        code.vector(vector.doubleTrunc)
        code.vector(vector.doubleAdd)
        code.set(sum)
      }
    for (const odd of [0, 1]) {
      const result = results[2 * half + odd]!
      for (const pair of [2 * odd, 2 * odd + 1]) {
        // Truncate to the mantissa of a float, or to the bits of a denormal float.
        pushSum(code, scales[pair]!, sums[pair]!)
        code.words(...lowBits, ...lowBits)
        code.vector(vector.and)
        code.splatDouble(1 / leastDenormal)
        code.vector(vector.doubleMul)
        code.vector(vector.doubleTrunc)
        code.splatDouble(leastDenormal)
        code.vector(vector.doubleMul)
        code.vector(vector.demote)
      }
      code.shuffle(lowHalves)
      code.set(loaded)
      code.splat(nanBits)
      code.get(loaded)
      code.get(loaded)
      code.get(loaded)
      code.vector(vector.floatNe)
      code.vector(vector.select)
      code.set(result)
    }
  }
  // The destination may overlap A's registers, but all rows of A have been read by now.
  for (const [part, result] of results.entries()) {
    code.get(pointer)
    code.get(result)
    code.vectorMemory(vector.store, (d.index + part) * registerBytes)
  }
  code.get(pointer)
  code.constant(rowBytes)
  code.op(scalar.add)
  code.set(pointer)
  code.get(count)
  code.constant(1)
  code.op(scalar.add)
  code.tee(count)
  code.constant(rowsOfLoop)
  code.op(scalar.lessUnsigned, scalar.branchIf, 0, scalar.end)
  code.constant(1)
  return code
}
