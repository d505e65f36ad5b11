/**
 * Runs of arithmetic as WebAssembly: what works lane by lane, four lanes at a time, with the registers of those lanes in
 * locals. It computes what the steps compute, bit by bit (a test holds it to them); an instruction or form that is not
 * here is left to its step.
 */
import type { Instruction, Operand } from '../sass/instruction'
import { truePredicate, zeroRegister, zeroUniformRegister } from '../sass/instruction'
import { lanes, predicateIndex, sortOperands, type Operands } from './site'
import { predicateTrue, uniformPredicates } from './warp'
import { Code, i32, scalar, v128, vector } from './wasm'

/** What is the same for all runs of a launch. */
export interface FusedSetting {
  /** Rows of registers; the uniform ones follow, and then the predicates. */
  registers: number
  uniformRows: number
  constant(bank: number, offset: number): number
  /** Index of the imported function that rounds four lanes of a * b + c, and where it finds them. */
  fixFunction: number
  fixAddress: number
  /** Where the lanes that a guarded instruction was on for are counted, 8 bytes each. */
  onAddress: number
}

class Unsupported extends Error {}

const unsupported = (): never => {
  throw new Unsupported()
}

const rowBytes = 4 * lanes

type Predicate = Operands['ins'][number]
type RegisterLike = Extract<Operand, { kind: 'register' | 'uniform-register' }>

const isRegister = (operand: Operand | null | undefined): operand is RegisterLike =>
  operand?.kind === 'register' || operand?.kind === 'uniform-register'

const isZeroRegister = (operand: RegisterLike): boolean =>
  operand.index === (operand.kind === 'register' ? zeroRegister : zeroUniformRegister)

const isZero = (operand: Operand): boolean =>
  (isRegister(operand) && isZeroRegister(operand) && !operand.inverted) ||
  (operand.kind === 'immediate' && operand.bits === 0)

const highPart = [8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15]
const lowHalves = [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23]
const evenWords = [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27]
const oddWords = [4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31]
const zipLow = [0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23]
const zipHigh = [8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31]

const nan = 0x7fffffff

const comparisons: Record<string, { signed: number; unsigned: number; float: number }> = {
  LT: { signed: vector.intLtS, unsigned: vector.intLtU, float: vector.floatLt },
  LE: { signed: vector.intLeS, unsigned: vector.intLeU, float: vector.floatLe },
  GT: { signed: vector.intGtS, unsigned: vector.intGtU, float: vector.floatGt },
  GE: { signed: vector.intGeS, unsigned: vector.intGeU, float: vector.floatGe },
  EQ: { signed: vector.intEq, unsigned: vector.intEq, float: vector.floatEq },
  NE: { signed: vector.intNe, unsigned: vector.intNe, float: vector.floatNe },
}

/** The comparison that holds exactly where this one does not, numbers being ordered. */
const opposite: Record<string, string> = {
  LT: 'GE',
  LE: 'GT',
  GT: 'LE',
  GE: 'LT',
}

/** Writes one run. Parameters of the function: the warp's byte address and the mask of lanes. */
class Run {
  readonly code = new Code(2)
  private readonly pointer = this.code.local(i32)
  private readonly shift = this.code.local(i32)
  private readonly groupBits = this.code.local(i32)
  private readonly groupMask = this.code.local(v128)
  private readonly execBits = this.code.local(i32)
  private readonly execMask = this.code.local(v128)
  private readonly scratchBits = this.code.local(i32)
  private readonly temporaries = Array.from({ length: 8 }, () => this.code.local(v128))
  private readonly rows = new Map<number, number>()
  private loaded = new Set<number>()
  private dirty = new Set<number>()
  private readonly predicates = new Map<number, number>()
  private changed = new Set<number>()
  /** Of the instruction at hand: whether it is on for all lanes alike, and which locals say for which. */
  private everywhere = false
  private bits = this.groupBits
  private mask = this.groupMask

  constructor(private readonly setting: FusedSetting) {}

  // ---- Registers and predicates -------------------------------------------------------------------

  private row(operand: RegisterLike, part = 0): number {
    return operand.kind === 'register'
      ? operand.index + part
      : this.setting.registers + operand.index + part
  }

  private rowLocal(row: number): number {
    const known = this.rows.get(row)
    if (known !== undefined) return known
    const local = this.code.local(v128)
    this.rows.set(row, local)
    return local
  }

  private readRow(row: number): void {
    const local = this.rowLocal(row)
    if (!this.loaded.has(row)) {
      this.code.get(this.pointer)
      this.code.vectorMemory(vector.load, row * rowBytes)
      this.code.set(local)
      this.loaded.add(row)
    }
    this.code.get(local)
  }

  private predicateLocal(index: number): number {
    const known = this.predicates.get(index)
    if (known !== undefined) return known
    const local = this.code.local(i32)
    this.predicates.set(index, local)
    return local
  }

  /** The mask of a predicate operand, all lanes. */
  private predicateValue(operand: Predicate): void {
    const index = predicateIndex(operand)
    if (index === predicateTrue) {
      this.code.constant(operand.negated ? 0 : -1)
      return
    }
    this.code.get(this.predicateLocal(index))
    if (operand.negated) {
      this.code.constant(-1)
      this.code.op(scalar.xor)
    }
  }

  /** Turns the mask on the stack into a vector of this group. */
  private expand(): void {
    this.code.get(this.shift)
    this.code.op(scalar.shrUnsigned)
    this.expandBits()
  }

  private expandBits(): void {
    this.code.vector(vector.splat)
    this.code.words(1, 2, 4, 8)
    this.code.vector(vector.and)
    this.code.splat(0)
    this.code.vector(vector.intNe)
  }

  private predicateVector(operand: Predicate | undefined): void {
    if (operand === undefined) {
      this.code.splat(-1)
      return
    }
    this.predicateValue(operand)
    this.expand()
  }

  /** Writes the four bits on the stack for the lanes that are on. */
  private writePredicate(operand: Predicate | undefined): void {
    const { code } = this
    const index = operand === undefined ? predicateTrue : predicateIndex(operand)
    if (index === predicateTrue) {
      code.op(scalar.drop)
      return
    }
    const local = this.predicateLocal(index)
    const everywhere = this.everywhere
    if (everywhere) code.constant(15)
    else code.get(this.bits)
    code.op(scalar.and)
    code.get(this.shift)
    code.op(scalar.shl)
    code.get(local)
    if (everywhere) code.constant(15)
    else code.get(this.bits)
    code.get(this.shift)
    code.op(scalar.shl)
    code.constant(-1)
    code.op(scalar.xor)
    code.op(scalar.and)
    code.op(scalar.or)
    code.set(local)
    this.changed.add(index)
  }

  /** Pushes an operand's bits, or its word `part` of several. */
  private raw(operand: Operand, part = 0): void {
    const { code } = this
    if (isRegister(operand)) {
      if (operand.suffixes.length > 0) unsupported()
      if (isZeroRegister(operand)) code.splat(0)
      else this.readRow(this.row(operand, part))
    } else if (operand.kind === 'immediate') {
      code.splat(part === 0 ? operand.bits : operand.bits < 0 && operand.signed ? -1 : 0)
    } else if (operand.kind === 'constant') {
      const { bank, offset, register, uniform } = operand
      const indexed =
        (register !== null && register !== zeroRegister) ||
        (uniform !== null && uniform !== zeroUniformRegister)
      if (typeof bank !== 'number' || indexed) return unsupported()
      code.splat(this.setting.constant(bank, offset + 4 * part))
    } else unsupported()
  }

  private int(operand: Operand): void {
    this.raw(operand)
    if (!('negated' in operand)) return
    if ('absolute' in operand && operand.absolute) unsupported()
    if ('inverted' in operand && operand.inverted) this.code.vector(vector.not)
    else if (operand.negated) this.code.vector(vector.intNeg)
  }

  private float(operand: Operand): void {
    this.raw(operand)
    if (!('absolute' in operand)) return
    if (operand.absolute) this.code.vector(vector.floatAbs)
    if (operand.negated) this.code.vector(vector.floatNeg)
  }

  /** Writes the vector on the stack to a register, for the lanes that are on. */
  private write(operand: RegisterLike | null, part = 0): void {
    if (operand === null) return unsupported()
    if (isZeroRegister(operand)) {
      this.code.op(scalar.drop)
      return
    }
    const row = this.row(operand, part)
    if (!this.everywhere) {
      this.readRow(row)
      this.code.get(this.mask)
      this.code.vector(vector.select)
    }
    this.code.set(this.rowLocal(row))
    this.loaded.add(row)
    this.dirty.add(row)
  }

  private canonicalNan(): void {
    const { code } = this
    const value = this.temporaries[7]!
    code.set(value)
    code.splat(nan)
    code.get(value)
    code.get(value)
    code.get(value)
    code.vector(vector.floatNe)
    code.vector(vector.select)
  }

  private bitsOfVector(): void {
    this.code.vector(vector.bitmask)
  }

  // ---- The run ------------------------------------------------------------------------------------

  /** Appends an instruction; false, and nothing written, where it has to be left to its step. */
  add(instruction: Instruction, index: number): boolean {
    const length = this.code.bytes.length
    const [loaded, dirty, changed] = [
      new Set(this.loaded),
      new Set(this.dirty),
      new Set(this.changed),
    ]
    try {
      this.enter(instruction, index)
      this.emit(instruction)
      return true
    } catch (error) {
      if (!(error instanceof Unsupported)) throw error
      this.code.bytes.length = length
      this.loaded = loaded
      this.dirty = dirty
      this.changed = changed
      return false
    }
  }

  private enter({ guard, mnemonic }: Instruction, index: number): void {
    const { code } = this
    this.everywhere = /^U/.test(mnemonic)
    this.bits = this.groupBits
    this.mask = this.groupMask
    if (guard.index === truePredicate) {
      if (guard.negated) unsupported()
      return
    }
    if (this.everywhere) return unsupported()
    const guardIndex = guard.kind === 'predicate' ? guard.index : uniformPredicates + guard.index
    code.get(this.predicateLocal(guardIndex))
    if (guard.negated) {
      code.constant(-1)
      code.op(scalar.xor)
    }
    code.get(this.shift)
    code.op(scalar.shrUnsigned)
    code.get(this.groupBits)
    code.op(scalar.and)
    code.tee(this.execBits)
    this.expandBits()
    code.set(this.execMask)
    this.bits = this.execBits
    this.mask = this.execMask
    const place = this.setting.onAddress + 8 * index
    code.constant(0)
    code.constant(0)
    code.memory(scalar.load64, place)
    code.get(this.execBits)
    code.op(scalar.popcount)
    code.op(scalar.extendUnsigned)
    code.op(scalar.add64)
    code.memory(scalar.store64, place)
  }

  /** The whole function, or null where the run is empty. */
  finish(): Code {
    const inner = this.code.bytes.splice(0)
    const { code } = this
    const predicateBase = (this.setting.registers + this.setting.uniformRows) * rowBytes
    for (const [index, local] of this.predicates) {
      code.get(0)
      code.memory(scalar.load, predicateBase + 4 * index)
      code.set(local)
    }
    code.get(0)
    code.set(this.pointer)
    code.op(scalar.loop, 0x40)
    code.get(1)
    code.get(this.shift)
    code.op(scalar.shrUnsigned)
    code.constant(15)
    code.op(scalar.and)
    code.tee(this.groupBits)
    this.expandBits()
    code.set(this.groupMask)
    for (const byte of inner) code.bytes.push(byte)
    for (const row of this.dirty) {
      code.get(this.pointer)
      code.get(this.rows.get(row)!)
      code.vectorMemory(vector.store, row * rowBytes)
    }
    code.get(this.pointer)
    code.constant(16)
    code.op(scalar.add)
    code.set(this.pointer)
    code.get(this.shift)
    code.constant(4)
    code.op(scalar.add)
    code.tee(this.shift)
    code.constant(32)
    code.op(scalar.lessUnsigned, scalar.branchIf, 0, scalar.end)
    for (const index of this.changed) {
      code.get(0)
      code.get(this.predicates.get(index)!)
      code.memory(scalar.store, predicateBase + 4 * index)
    }
    return code
  }

  // ---- Instructions -------------------------------------------------------------------------------

  private emit(instruction: Instruction): void {
    const { mnemonic } = instruction
    const name = mnemonic.startsWith('U') ? mnemonic.slice(1) : mnemonic
    const compares = name === 'ISETP' || name === 'FSETP'
    const operands = sortOperands(instruction.operands, !compares)
    const has = (modifier: string): boolean => instruction.modifiers.includes(modifier)
    const only = (...allowed: string[]): void => {
      if (!instruction.modifiers.every((word) => allowed.includes(word))) unsupported()
    }
    const source = (place: number): Operand => operands.sources[place] ?? unsupported()
    const { destination } = operands
    switch (name) {
      case 'NOP':
        return
      case 'FFMA':
        only()
        return this.fusedMultiplyAdd(source(0), source(1), source(2), destination)
      case 'FADD':
      case 'FMUL':
        only()
        this.float(source(0))
        this.float(source(1))
        this.code.vector(name === 'FADD' ? vector.floatAdd : vector.floatMul)
        this.canonicalNan()
        return this.write(destination)
      case 'MOV':
        only()
        this.int(source(0))
        return this.write(destination)
      case 'LDC':
        return this.constants(source(0), destination, has)
      case 'CS2R':
        return this.zeros(source(0), destination, has)
      case 'IMAD':
        return this.multiplyAdd(operands, has, only)
      case 'IADD3':
        return this.addThree(operands, has, only)
      case 'VIADD':
        only()
        this.int(source(0))
        this.int(source(1))
        this.code.vector(vector.intAdd)
        return this.write(destination)
      case 'LEA':
        return this.shiftAdd(operands, has, only)
      case 'SHF':
        return this.funnel(operands, has, only)
      case 'LOP3':
        only('LUT')
        return this.logic(operands)
      case 'PLOP3':
        return this.predicateLogic(instruction)
      case 'ISETP':
        return this.compareInts(instruction.modifiers, operands, has)
      case 'FSETP':
        return this.compareFloats(instruction.modifiers, operands)
      case 'SEL':
      case 'FSEL':
        only()
        if (name === 'SEL') this.int(source(0))
        else this.float(source(0))
        if (name === 'SEL') this.int(source(1))
        else this.float(source(1))
        this.predicateVector(operands.ins[0])
        this.code.vector(vector.select)
        return this.write(destination)
      case 'VIMNMX':
      case 'IMNMX':
      case 'VIADDMNMX':
        only('U32')
        return this.extremum(operands, has('U32'), name === 'VIADDMNMX')
      case 'IABS':
        only()
        this.int(source(0))
        this.code.vector(vector.intAbs)
        return this.write(destination)
      case 'PRMT':
        only()
        return this.permute(operands)
      case 'HFMA2':
        return this.halfConstant(operands)
      case 'P2R':
        only()
        return this.predicatesToRegister(operands)
      default:
        return unsupported()
    }
  }

  private fusedMultiplyAdd(
    first: Operand,
    second: Operand,
    third: Operand,
    destination: RegisterLike | null,
  ): void {
    const { code } = this
    const [a, b, c, low, high, result] = this.temporaries as [
      number,
      number,
      number,
      number,
      number,
      number,
    ]
    this.float(first)
    code.set(a)
    this.float(second)
    code.set(b)
    this.float(third)
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
    // A double on the middle between two floats, or a float without its leading one: rounded with more care.
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
      code.constant(this.setting.fixAddress)
      code.get(local)
      code.vectorMemory(vector.store, 16 * place)
    }
    code.call(this.setting.fixFunction)
    code.constant(this.setting.fixAddress)
    code.vectorMemory(vector.load, 48)
    code.set(result)
    code.op(scalar.end)
    code.get(result)
    this.canonicalNan()
    this.write(destination)
  }

  private constants(
    operand: Operand,
    destination: RegisterLike | null,
    has: (modifier: string) => boolean,
  ): void {
    if (['U8', 'S8', 'U16', 'S16'].some(has)) unsupported()
    const words = has('128') ? 4 : has('64') ? 2 : 1
    for (let part = 0; part < words; part++) {
      this.raw(operand, part)
      this.write(destination, part)
    }
  }

  private zeros(
    operand: Operand,
    destination: RegisterLike | null,
    has: (modifier: string) => boolean,
  ): void {
    if (operand.kind !== 'special-register' || operand.name !== 'SRZ') return unsupported()
    for (let part = 0; part < (has('32') ? 1 : 2); part++) {
      this.code.splat(0)
      this.write(destination, part)
    }
  }

  private multiplyAdd(
    { sources, destination, outs, ins }: Operands,
    has: (modifier: string) => boolean,
    only: (...allowed: string[]) => void,
  ): void {
    const { code } = this
    const [a, b, c] = sources
    if (!a || !b || !c || outs.length > 0) return unsupported()
    only('U32', 'MOV', 'IADD', 'SHL', 'WIDE', 'HI', 'X')
    if (has('WIDE') || has('HI')) {
      if (has('X') || ('negated' in c && c.negated)) return unsupported()
      const [x, y, low, high] = this.temporaries as [number, number, number, number]
      this.int(a)
      code.set(x)
      this.int(b)
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
        this.raw(c, 0)
        this.raw(c, 1)
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
        return this.write(destination)
      }
      part(evenWords)
      this.write(destination, 0)
      part(oddWords)
      return this.write(destination, 1)
    }
    if (isZero(a) || isZero(b)) this.int(c)
    else {
      this.int(a)
      this.int(b)
      code.vector(vector.intMul)
      if (!isZero(c)) {
        this.int(c)
        code.vector(vector.intAdd)
      }
    }
    if (has('X')) this.addCarry(ins[0])
    this.write(destination)
  }

  /** Adds 1 where the predicate holds: a mask is -1. */
  private addCarry(operand: Predicate | undefined): void {
    if (operand === undefined) return
    this.predicateVector(operand)
    this.code.vector(vector.intSub)
  }

  private addThree(
    { sources, destination, outs, ins }: Operands,
    has: (modifier: string) => boolean,
    only: (...allowed: string[]) => void,
  ): void {
    const { code } = this
    only('X')
    const [a, b, c] = sources
    if (!a || !b || !c) return unsupported()
    if (outs.length === 0) {
      this.int(a)
      this.int(b)
      code.vector(vector.intAdd)
      if (!isZero(c)) {
        this.int(c)
        code.vector(vector.intAdd)
      }
      if (has('X')) for (const operand of ins) this.addCarry(operand)
      return this.write(destination)
    }
    // With a carry: of two addends, the second one maybe subtracted.
    const addends = sources.filter((operand) => !isZero(operand))
    const [first, second] = addends
    if (has('X') || outs.length > 1 || addends.length !== 2 || !first || !second)
      return unsupported()
    const [x, y, sum] = this.temporaries as [number, number, number]
    const negated = 'negated' in second && second.negated
    if ('negated' in first && (first.negated || ('inverted' in first && first.inverted)))
      return unsupported()
    if ('inverted' in second && second.inverted) return unsupported()
    this.raw(first)
    code.set(x)
    this.raw(second)
    code.set(y)
    code.get(x)
    code.get(y)
    code.vector(negated ? vector.intSub : vector.intAdd)
    code.set(sum)
    code.get(negated ? x : sum)
    code.get(negated ? y : x)
    code.vector(negated ? vector.intGeU : vector.intLtU)
    this.bitsOfVector()
    this.writePredicate(outs[0])
    code.get(sum)
    this.write(destination)
  }

  private shiftAdd(
    { sources, destination, outs, ins }: Operands,
    has: (modifier: string) => boolean,
    only: (...allowed: string[]) => void,
  ): void {
    const { code } = this
    only('HI', 'X', 'SX32')
    const shiftOperand = sources.at(-1)!
    const [a, b, c] = sources
    if (shiftOperand.kind !== 'immediate' || !a || !b || !c) return unsupported()
    const shift = shiftOperand.bits & 31
    if ('negated' in a && a.negated) return unsupported()
    if (outs.length > 0 && has('X')) return unsupported()
    const [low, part, added, sum] = this.temporaries as [number, number, number, number]
    this.raw(a)
    code.set(low)
    const shifted = (code_: number, by: number): void => {
      code.constant(by)
      code.vector(code_)
    }
    if (has('HI')) {
      if (has('SX32')) {
        code.get(low)
        shifted(vector.shrS, 31)
      } else this.raw(c)
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
    if (negated && outs.length > 0) return unsupported()
    this.int(b)
    code.set(added)
    code.get(part)
    code.get(added)
    code.vector(vector.intAdd)
    if (has('X')) this.addCarry(ins[0])
    code.set(sum)
    if (outs.length > 0) {
      code.get(sum)
      code.get(added)
      code.vector(vector.intLtU)
      this.bitsOfVector()
      this.writePredicate(outs[0])
    }
    code.get(sum)
    this.write(destination)
  }

  private funnel(
    { sources, destination }: Operands,
    has: (modifier: string) => boolean,
    only: (...allowed: string[]) => void,
  ): void {
    const { code } = this
    only('L', 'R', 'U32', 'S32', 'U64', 'S64', 'HI')
    const [low, by, high] = sources
    if (!low || !high || by?.kind !== 'immediate') return unsupported()
    const n = by.bits
    if (n < 0 || n > 31) return unsupported()
    const wide = has('U64') || has('S64')
    const shifted = (operand: Operand, code_: number, amount: number): void => {
      this.int(operand)
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
    } else if (n === 0 && wide) this.int(low)
    else joined(low, vector.shrU, high, vector.shl)
    this.write(destination)
  }

  /** A truth table of three inputs, from its minterms or their complement. */
  private table(table: number, inputs: readonly (() => void)[], logic: LogicCodes): void {
    const { code } = this
    const simple: Record<number, () => void> = {
      0x00: () => logic.constant(0),
      0xff: () => logic.constant(-1),
      0xf0: () => inputs[0]!(),
      0xcc: () => inputs[1]!(),
      0xaa: () => inputs[2]!(),
      0xc0: () => this.both(inputs[0]!, inputs[1]!, logic.and),
      0xfc: () => this.both(inputs[0]!, inputs[1]!, logic.or),
      0x3c: () => this.both(inputs[0]!, inputs[1]!, logic.xor),
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

  private both(first: () => void, second: () => void, code: () => void): void {
    first()
    second()
    code()
  }

  private get vectorLogic(): LogicCodes {
    const { code } = this
    return {
      constant: (value) => code.splat(value),
      and: () => code.vector(vector.and),
      or: () => code.vector(vector.or),
      xor: () => code.vector(vector.xor),
      not: () => code.vector(vector.not),
      emit: (one) => one(),
    }
  }

  private get maskLogic(): LogicCodes {
    const { code } = this
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

  private logic({ sources, destination, outs, ins }: Operands): void {
    const { code } = this
    const table = sources[3]
    if (table?.kind !== 'immediate') return unsupported()
    const result = this.temporaries[3]!
    const inputs = [0, 1, 2].map((place) => {
      const local = this.temporaries[place]!
      this.int(sources[place]!)
      code.set(local)
      return () => code.get(local)
    })
    this.table(table.bits & 255, inputs, this.vectorLogic)
    code.set(result)
    if (outs.length > 0) {
      code.get(result)
      code.splat(0)
      code.vector(vector.intNe)
      this.bitsOfVector()
      if (ins[0] !== undefined) {
        this.predicateValue(ins[0])
        code.get(this.shift)
        code.op(scalar.shrUnsigned, scalar.or)
      }
      this.writePredicate(outs[0])
    }
    code.get(result)
    if (destination === null) code.op(scalar.drop)
    else this.write(destination)
  }

  private predicateLogic(instruction: Instruction): void {
    const { code } = this
    const predicates = instruction.operands.filter(
      (operand): operand is Predicate =>
        operand.kind === 'predicate' || operand.kind === 'uniform-predicate',
    )
    const tables = instruction.operands.filter((operand) => operand.kind === 'immediate')
    if (predicates.length !== 5 || tables.length !== 2) return unsupported()
    const inputs = predicates.slice(2).map((operand) => () => this.predicateValue(operand))
    const results = tables.map(({ bits }, place) => {
      this.table(bits & 255, inputs, this.maskLogic)
      code.get(this.shift)
      code.op(scalar.shrUnsigned)
      // The second one is worked out before the first is written.
      if (place === 0) code.set(this.scratchBits)
    })
    if (results.length !== 2) return unsupported()
    this.writePredicate(predicates[1])
    code.get(this.scratchBits)
    this.writePredicate(predicates[0])
  }

  /** Joins the bits on the stack with the predicate that comes in, and writes both outs. */
  private finishComparison({ outs, ins }: Operands, has: (modifier: string) => boolean): void {
    const { code } = this
    const join = has('OR') ? scalar.or : has('XOR') ? scalar.xor : scalar.and
    const joinWithIncoming = (): void => {
      const incoming = ins[0]
      if (incoming === undefined) return
      this.predicateValue(incoming)
      code.get(this.shift)
      code.op(scalar.shrUnsigned, join)
    }
    code.set(this.scratchBits)
    const second = outs[1]
    if (second !== undefined && predicateIndex(second) !== predicateTrue) return unsupported()
    code.get(this.scratchBits)
    joinWithIncoming()
    this.writePredicate(outs[0])
  }

  private compareInts(
    modifiers: readonly string[],
    operands: Operands,
    has: (modifier: string) => boolean,
  ): void {
    const { code } = this
    const name = modifiers[0]!
    const codes = comparisons[name]
    const [a, b] = operands.sources
    if (!codes || !a || !b) return unsupported()
    const unsigned = has('U32')
    const [x, y] = this.temporaries as [number, number]
    this.int(a)
    code.set(x)
    this.int(b)
    code.set(y)
    const compare = (opcode: number): void => {
      code.get(x)
      code.get(y)
      code.vector(opcode)
    }
    if (!has('EX')) compare(unsigned ? codes.unsigned : codes.signed)
    else {
      // The high word decides, or where it is equal what the low word said.
      const strict = comparisons[name === 'GE' ? 'GT' : name === 'LE' ? 'LT' : name]!
      compare(unsigned ? strict.unsigned : strict.signed)
      this.predicateVector(operands.ins[1])
      if (name === 'EQ') code.vector(vector.and)
      else {
        if (name !== 'NE') {
          compare(vector.intEq)
          code.vector(vector.and)
        }
        code.vector(vector.or)
      }
    }
    this.bitsOfVector()
    this.finishComparison(operands, has)
  }

  private compareFloats(modifiers: readonly string[], operands: Operands): void {
    const { code } = this
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
    this.float(a)
    this.float(b)
    code.vector(codes.float)
    if (inverted) code.vector(vector.not)
    this.bitsOfVector()
    this.finishComparison(operands, has)
  }

  private extremum(
    { sources, destination, ins }: Operands,
    unsigned: boolean,
    plus: boolean,
  ): void {
    const { code } = this
    const choose = ins[0]
    const [a, b, c] = sources
    if (choose?.index !== truePredicate || !a || !b || (plus && !c)) return unsupported()
    this.int(a)
    this.int(b)
    if (plus) {
      code.vector(vector.intAdd)
      this.int(c!)
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
    this.write(destination)
  }

  private permute({ sources, destination }: Operands): void {
    const { code } = this
    const [a, selector, b] = sources
    if (!a || !b || selector?.kind !== 'immediate') return unsupported()
    const places: number[] = []
    for (let word = 0; word < 4; word++)
      for (let byte = 0; byte < 4; byte++) {
        const from = (selector.bits >>> (4 * byte)) & 15
        if (from & 8) return unsupported()
        places.push(4 * word + (from & 3) + (from & 4 ? 16 : 0))
      }
    this.int(a)
    this.int(b)
    code.shuffle(places)
    this.write(destination)
  }

  /** HFMA2.MMA R1, -RZ, RZ, x, y: how a constant comes into a register on the tensor pipe's port. */
  private halfConstant({ sources, destination }: Operands): void {
    const [a, b, c] = sources
    if (!a || !b || c?.kind !== 'immediate' || !isZero(a) || !isZero(b)) return unsupported()
    // -0 + 0 is 0.
    if ((c.bits & 0x7fff) === 0 && c.bits & 0x8000) return unsupported()
    if ((c.bits & 0x7fff0000) === 0 && c.bits & 0x80000000) return unsupported()
    this.code.splat(c.bits)
    this.write(destination)
  }

  private predicatesToRegister({ sources, destination }: Operands): void {
    const { code } = this
    const [file, rest, mask] = sources
    const isFile =
      file?.kind === 'predicate-file' ? !file.uniform : file?.kind === 'word' && file.text === 'PR'
    if (!isFile || !rest || mask?.kind !== 'immediate') return unsupported()
    this.raw(rest)
    code.splat(~mask.bits)
    code.vector(vector.and)
    for (let index = 0; index < predicateTrue; index++) {
      if (!((mask.bits >>> index) & 1)) continue
      code.get(this.predicateLocal(index))
      this.expand()
      code.splat(1 << index)
      code.vector(vector.and)
      code.vector(vector.or)
    }
    this.write(destination)
  }
}

interface LogicCodes {
  constant(value: number): void
  and(): void
  or(): void
  xor(): void
  not(): void
  emit(one: () => void): void
}

export interface FusedRun {
  /** Indices of the first instruction and of the one behind the last. */
  first: number
  end: number
  code: Code
}

/** Runs of at least two instructions that go together. `stops` are where another one may begin or end. */
export function fuse(
  code: readonly Instruction[],
  setting: FusedSetting,
  isBoundary: (index: number) => boolean,
): FusedRun[] {
  const runs: FusedRun[] = []
  let run: Run | null = null
  let first = 0
  const finish = (end: number): void => {
    if (run !== null && end > first) runs.push({ first, end, code: run.finish() })
    run = null
  }
  for (const [index, instruction] of code.entries()) {
    if (isBoundary(index)) finish(index)
    if (run === null) {
      run = new Run(setting)
      first = index
    }
    if (run.add(instruction, index)) continue
    finish(index)
  }
  finish(code.length)
  return runs
}
