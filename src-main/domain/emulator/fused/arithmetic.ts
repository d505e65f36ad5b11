/** Code generators for the floating-point and integer arithmetic in a run of instructions. */
import { type Operand, truePredicate } from '../../sass/instruction'
import { scalar, vector, highPart, lowHalves, evenWords, oddWords, zipLow, zipHigh } from '../wasm'
import {
  type RunWriter,
  unsupported,
  isZero,
  type Predicate,
  type RegisterLike,
} from './run-writer'
import type { Operands } from '../site-operands'

export function fusedMultiplyAdd(
  run: RunWriter,
  first: Operand,
  second: Operand,
  third: Operand,
  destination: RegisterLike | null,
): void {
  const { code } = run
  if (run.setting.nativeMultiplyAdd) {
    run.float(first)
    run.float(second)
    run.float(third)
    code.vector(vector.relaxedMultiplyAdd)
    run.canonicalNan()
    return run.write(destination)
  }
  const [a, b, c, low, high, result] = run.temporaries as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  run.float(first)
  code.set(a)
  run.float(second)
  code.set(b)
  run.float(third)
  code.set(c)
  const half = (upper: boolean, into: number): void => {
    for (const local of [a, b, c]) {
      code.get(local)
      if (upper) {
        code.get(local)
        code.shuffle(highPart)
      }
      code.vector(vector.promote)
      if (local === b) code.vector(vector.doubleMul)
    }
    code.vector(vector.doubleAdd)
    code.tee(into)
    code.vector(vector.demote)
  }
  half(false, low)
  half(true, high)
  code.shuffle(lowHalves)
  code.set(result)
  // Denormal floats, and doubles at the midpoint between two floats, need careful rounding.
  for (const local of [low, high]) {
    code.get(local)
    code.words(0x1fffffff, 0, 0x1fffffff, 0)
    code.vector(vector.and)
    code.words(0x10000000, 0, 0x10000000, 0)
    code.vector(vector.longEq)
  }
  code.vector(vector.or)
  code.get(result)
  code.splat(0x7fffffff)
  code.vector(vector.and)
  code.splat(1)
  code.vector(vector.intSub)
  code.splat(0x7fffff)
  code.vector(vector.intLtU)
  code.vector(vector.or)
  code.vector(vector.any)
  code.op(scalar.if, 0x40)
  for (const [place, local] of [a, b, c].entries()) {
    code.tables()
    code.get(local)
    code.vectorMemory(vector.store, run.setting.fixPlace + 16 * place)
  }
  code.call(run.setting.fixFunction)
  code.tables()
  code.vectorMemory(vector.load, run.setting.fixPlace + 48)
  code.set(result)
  code.op(scalar.end)
  code.get(result)
  run.canonicalNan()
  run.write(destination)
}

export function multiplyAdd(
  run: RunWriter,
  { sources, destination, outs, ins }: Operands,
  has: (modifier: string) => boolean,
  only: (...allowed: string[]) => void,
): void {
  const { code } = run
  const [a, b, c] = sources
  if (!a || !b || !c || outs.length > 0) return unsupported()
  only('U32', 'MOV', 'IADD', 'SHL', 'WIDE', 'HI', 'X')
  if (has('WIDE') || has('HI')) {
    if (has('X') || ('negated' in c && c.negated)) return unsupported()
    const [x, y, low, high] = run.temporaries as [number, number, number, number]
    run.int(a)
    code.set(x)
    run.int(b)
    code.set(y)
    const unsigned = has('U32')
    const wide = (upper: boolean): void => {
      code.get(x)
      code.get(y)
      code.vector(
        unsigned
          ? upper
            ? vector.mulHighU
            : vector.mulLowU
          : upper
            ? vector.mulHighS
            : vector.mulLowS,
      )
      run.raw(c, 0)
      run.raw(c, 1)
      code.shuffle(upper ? zipHigh : zipLow)
      code.vector(vector.longAdd)
    }
    wide(false)
    code.set(low)
    wide(true)
    code.set(high)
    const part = (words: readonly number[]): void => {
      code.get(low)
      code.get(high)
      code.shuffle(words)
    }
    if (has('HI')) {
      part(oddWords)
      return run.write(destination)
    }
    part(evenWords)
    run.write(destination, 0)
    part(oddWords)
    return run.write(destination, 1)
  }
  if (isZero(a) || isZero(b)) run.int(c)
  else {
    run.int(a)
    run.int(b)
    code.vector(vector.intMul)
    if (!isZero(c)) {
      run.int(c)
      code.vector(vector.intAdd)
    }
  }
  if (has('X')) addCarry(run, ins[0])
  run.write(destination)
}

/** Adds 1 if the predicate is true. The mask of a true predicate is -1. */
function addCarry(run: RunWriter, operand: Predicate | undefined): void {
  if (operand === undefined) return
  run.predicateVector(operand)
  run.code.vector(vector.intSub)
}

export function addThree(
  run: RunWriter,
  { sources, destination, outs, ins }: Operands,
  has: (modifier: string) => boolean,
  only: (...allowed: string[]) => void,
): void {
  const { code } = run
  only('X')
  const [a, b, c] = sources
  if (!a || !b || !c) return unsupported()
  if (outs.length === 0) {
    run.int(a)
    run.int(b)
    code.vector(vector.intAdd)
    if (!isZero(c)) {
      run.int(c)
      code.vector(vector.intAdd)
    }
    if (has('X')) for (const operand of ins) addCarry(run, operand)
    return run.write(destination)
  }
  // A sum with a carry output has two addends, and the second addend may be subtracted.
  const addends = sources.filter((operand) => !isZero(operand))
  // Negating a 0 produces a carry, which this code does not support.
  if (sources.some((operand) => isZero(operand) && 'negated' in operand && operand.negated))
    return unsupported()
  const [first, second] = addends
  if (has('X') || outs.length > 1 || addends.length !== 2 || !first || !second) return unsupported()
  const [x, y, sum] = run.temporaries as [number, number, number]
  const negated = 'negated' in second && second.negated
  if ('negated' in first && (first.negated || ('inverted' in first && first.inverted)))
    return unsupported()
  if ('inverted' in second && second.inverted) return unsupported()
  run.raw(first)
  code.set(x)
  run.raw(second)
  code.set(y)
  code.get(x)
  code.get(y)
  code.vector(negated ? vector.intSub : vector.intAdd)
  code.set(sum)
  code.get(negated ? x : sum)
  code.get(negated ? y : x)
  code.vector(negated ? vector.intGeU : vector.intLtU)
  run.bitsOfVector()
  run.writePredicate(outs[0])
  code.get(sum)
  run.write(destination)
}

export function shiftAdd(
  run: RunWriter,
  { sources, destination, outs, ins }: Operands,
  has: (modifier: string) => boolean,
  only: (...allowed: string[]) => void,
): void {
  const { code } = run
  only('HI', 'X', 'SX32')
  const shiftOperand = sources.at(-1)!
  const [a, b, c] = sources
  if (shiftOperand.kind !== 'immediate' || !a || !b || !c) return unsupported()
  const shift = shiftOperand.bits & 31
  if ('negated' in a && a.negated) return unsupported()
  if (outs.length > 0 && has('X')) return unsupported()
  const [low, part, added, sum] = run.temporaries as [number, number, number, number]
  run.raw(a)
  code.set(low)
  const shifted = (code_: number, by: number): void => {
    code.constant(by)
    code.vector(code_)
  }
  if (has('HI')) {
    if (has('SX32')) {
      code.get(low)
      shifted(vector.shrS, 31)
    } else run.raw(c)
    if (shift > 0) {
      shifted(vector.shl, shift)
      code.get(low)
      shifted(vector.shrU, 32 - shift)
      code.vector(vector.or)
    }
  } else {
    code.get(low)
    shifted(vector.shl, shift)
  }
  code.set(part)
  const negated = 'negated' in b && b.negated
  if (negated && (outs.length > 0 || has('X'))) return unsupported()
  run.int(b)
  code.set(added)
  code.get(part)
  code.get(added)
  code.vector(vector.intAdd)
  if (has('X')) addCarry(run, ins[0])
  code.set(sum)
  if (outs.length > 0) {
    code.get(sum)
    code.get(added)
    code.vector(vector.intLtU)
    run.bitsOfVector()
    run.writePredicate(outs[0])
  }
  code.get(sum)
  run.write(destination)
}

export function funnel(
  run: RunWriter,
  { sources, destination }: Operands,
  has: (modifier: string) => boolean,
  only: (...allowed: string[]) => void,
): void {
  const { code } = run
  only('L', 'R', 'U32', 'S32', 'U64', 'S64', 'HI')
  const [low, by, high] = sources
  if (!low || !high || by?.kind !== 'immediate') return unsupported()
  const n = by.bits
  if (n < 0 || n > 31) return unsupported()
  const wide = has('U64') || has('S64')
  const shifted = (operand: Operand, code_: number, amount: number): void => {
    run.int(operand)
    code.constant(amount)
    code.vector(code_)
  }
  const joined = (a: Operand, aCode: number, b: Operand, bCode: number): void => {
    shifted(a, aCode, n)
    if (n === 0) return
    shifted(b, bCode, 32 - n)
    code.vector(vector.or)
  }
  if (has('L')) {
    if (has('HI')) joined(high, vector.shl, low, vector.shrU)
    else shifted(low, vector.shl, n)
  } else if (has('HI')) {
    shifted(high, has('S32') || has('S64') ? vector.shrS : vector.shrU, n)
  } else if (n === 0 && wide) run.int(low)
  else joined(low, vector.shrU, high, vector.shl)
  run.write(destination)
}

export function extremum(
  run: RunWriter,
  { sources, destination, ins }: Operands,
  unsigned: boolean,
  plus: boolean,
): void {
  const { code } = run
  const choose = ins[0]
  const [a, b, c] = sources
  if (choose?.index !== truePredicate || !a || !b || (plus && !c)) return unsupported()
  run.int(a)
  run.int(b)
  if (plus) {
    code.vector(vector.intAdd)
    run.int(c!)
  }
  const smaller = !choose.negated
  code.vector(
    unsigned
      ? smaller
        ? vector.intMinU
        : vector.intMaxU
      : smaller
        ? vector.intMinS
        : vector.intMaxS,
  )
  run.write(destination)
}
