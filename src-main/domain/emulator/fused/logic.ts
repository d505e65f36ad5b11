/** Code generators for the truth tables and comparisons in a run of instructions. */
import type { Instruction } from '../../sass/instruction'
import { predicateTrue } from '../warp'
import { scalar, vector } from '../wasm'
import { type RunWriter, unsupported, type Predicate } from './run-writer'
import { predicateIndex, type Operands } from '../site-operands'

const comparisons: Record<string, { signed: number; unsigned: number; float: number }> = {
  LT: { signed: vector.intLtS, unsigned: vector.intLtU, float: vector.floatLt },
  LE: { signed: vector.intLeS, unsigned: vector.intLeU, float: vector.floatLe },
  GT: { signed: vector.intGtS, unsigned: vector.intGtU, float: vector.floatGt },
  GE: { signed: vector.intGeS, unsigned: vector.intGeU, float: vector.floatGe },
  EQ: { signed: vector.intEq, unsigned: vector.intEq, float: vector.floatEq },
  NE: { signed: vector.intNe, unsigned: vector.intNe, float: vector.floatNe },
}

/** Maps each comparison to its opposite for ordered numbers. */
const opposite: Record<string, string> = {
  LT: 'GE',
  LE: 'GT',
  GT: 'LE',
  GE: 'LT',
}

interface LogicCodes {
  constant(value: number): void
  and(): void
  or(): void
  xor(): void
  not(): void
  emit(one: () => void): void
}

/**
 * Emits code that evaluates a three-input truth table as an OR of its minterms. Common truth tables
 * get shorter code.
 */
function truthTable(
  run: RunWriter,
  table: number,
  inputs: readonly (() => void)[],
  logic: LogicCodes,
): void {
  const { code } = run
  const simple: Record<number, () => void> = {
    0x00: () => logic.constant(0),
    0xff: () => logic.constant(-1),
    0xf0: () => inputs[0]!(),
    0xcc: () => inputs[1]!(),
    0xaa: () => inputs[2]!(),
    0xc0: () => both(inputs[0]!, inputs[1]!, logic.and),
    0xfc: () => both(inputs[0]!, inputs[1]!, logic.or),
    0x3c: () => both(inputs[0]!, inputs[1]!, logic.xor),
  }
  const known = simple[table]
  if (known) return known()
  let terms = 0
  for (let term = 0; term < 8; term++) {
    if (!((table >>> term) & 1)) continue
    for (let place = 0; place < 3; place++) {
      inputs[place]!()
      if (!((term >>> (2 - place)) & 1)) logic.not()
      if (place > 0) logic.emit(logic.and)
    }
    if (terms++ > 0) logic.emit(logic.or)
  }
  if (terms === 0) code.constant(0)
}

function both(first: () => void, second: () => void, code: () => void): void {
  first()
  second()
  code()
}

const vectorLogic = (run: RunWriter): LogicCodes => {
  const { code } = run
  return {
    constant: (value) => code.splat(value),
    and: () => code.vector(vector.and),
    or: () => code.vector(vector.or),
    xor: () => code.vector(vector.xor),
    not: () => code.vector(vector.not),
    emit: (one) => one(),
  }
}

const maskLogic = (run: RunWriter): LogicCodes => {
  const { code } = run
  return {
    constant: (value) => code.constant(value),
    and: () => code.op(scalar.and),
    or: () => code.op(scalar.or),
    xor: () => code.op(scalar.xor),
    not: () => {
      code.constant(-1)
      code.op(scalar.xor)
    },
    emit: (one) => one(),
  }
}

export function logic(run: RunWriter, { sources, destination, outs, ins }: Operands): void {
  const { code } = run
  const table = sources[3]
  if (table?.kind !== 'immediate') return unsupported()
  const result = run.temporaries[3]!
  const inputs = [0, 1, 2].map((place) => {
    const local = run.temporaries[place]!
    run.int(sources[place]!)
    code.set(local)
    return () => code.get(local)
  })
  truthTable(run, table.bits & 255, inputs, vectorLogic(run))
  code.set(result)
  if (outs.length > 0) {
    code.get(result)
    code.splat(0)
    code.vector(vector.intNe)
    run.bitsOfVector()
    if (ins[0] !== undefined) {
      run.predicateValue(ins[0])
      code.get(run.shift)
      code.op(scalar.shrUnsigned, scalar.or)
    }
    run.writePredicate(outs[0])
  }
  code.get(result)
  if (destination === null) code.op(scalar.drop)
  else run.write(destination)
}

export function predicateLogic(run: RunWriter, instruction: Instruction): void {
  const { code } = run
  const predicates = instruction.operands.filter(
    (operand): operand is Predicate =>
      operand.kind === 'predicate' || operand.kind === 'uniform-predicate',
  )
  const tables = instruction.operands.filter((operand) => operand.kind === 'immediate')
  if (predicates.length !== 5 || tables.length !== 2) return unsupported()
  const inputs = predicates.slice(2).map((operand) => () => run.predicateValue(operand))
  const results = tables.map(({ bits }, place) => {
    truthTable(run, bits & 255, inputs, maskLogic(run))
    code.get(run.shift)
    code.op(scalar.shrUnsigned)
    // Compute the second output before writing the first one, which may overwrite an input.
    if (place === 0) code.set(run.scratchBits)
  })
  if (results.length !== 2) return unsupported()
  run.writePredicate(predicates[1])
  code.get(run.scratchBits)
  run.writePredicate(predicates[0])
}

/** Combines the bits on the stack with the input predicate and writes both outputs. */
function finishComparison(
  run: RunWriter,
  { outs, ins }: Operands,
  has: (modifier: string) => boolean,
): void {
  const { code } = run
  const join = has('OR') ? scalar.or : has('XOR') ? scalar.xor : scalar.and
  const joinWithIncoming = (): void => {
    const incoming = ins[0]
    if (incoming === undefined) return
    run.predicateValue(incoming)
    code.get(run.shift)
    code.op(scalar.shrUnsigned, join)
  }
  code.set(run.scratchBits)
  const second = outs[1]
  if (second !== undefined && predicateIndex(second) !== predicateTrue) return unsupported()
  code.get(run.scratchBits)
  joinWithIncoming()
  run.writePredicate(outs[0])
}

export function compareInts(
  run: RunWriter,
  modifiers: readonly string[],
  operands: Operands,
  has: (modifier: string) => boolean,
): void {
  const { code } = run
  const name = modifiers[0]!
  const codes = comparisons[name]
  const [a, b] = operands.sources
  if (!codes || !a || !b) return unsupported()
  const unsigned = has('U32')
  const [x, y] = run.temporaries as [number, number]
  run.int(a)
  code.set(x)
  run.int(b)
  code.set(y)
  const compare = (opcode: number): void => {
    code.get(x)
    code.get(y)
    code.vector(opcode)
  }
  if (!has('EX')) compare(unsigned ? codes.unsigned : codes.signed)
  else {
    // The high words decide a comparison of 64-bit numbers. If the high words are equal, the result
    // of the low-word comparison decides.
    const strict = comparisons[name === 'GE' ? 'GT' : name === 'LE' ? 'LT' : name]!
    compare(unsigned ? strict.unsigned : strict.signed)
    run.predicateVector(operands.ins[1])
    if (name === 'EQ') code.vector(vector.and)
    else {
      if (name !== 'NE') {
        compare(vector.intEq)
        code.vector(vector.and)
      }
      code.vector(vector.or)
    }
  }
  run.bitsOfVector()
  finishComparison(run, operands, has)
}

export function compareFloats(
  run: RunWriter,
  modifiers: readonly string[],
  operands: Operands,
): void {
  const { code } = run
  const has = (modifier: string): boolean => modifiers.includes(modifier)
  const name = modifiers[0]!
  const [a, b] = operands.sources
  if (!a || !b || has('FTZ')) return unsupported()
  const unordered = name.length === 3 && name.endsWith('U')
  const order = unordered ? name.slice(0, 2) : name
  const inverted = unordered && order !== 'NE'
  const chosen = inverted ? opposite[order] : order
  if (chosen === undefined || (order === 'NE' && !unordered)) return unsupported()
  const codes = comparisons[chosen]
  if (!codes) return unsupported()
  run.float(a)
  run.float(b)
  code.vector(codes.float)
  if (inverted) code.vector(vector.not)
  run.bitsOfVector()
  finishComparison(run, operands, has)
}
