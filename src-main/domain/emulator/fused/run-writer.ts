/**
 * Emits the WebAssembly function for a run. A run is a sequence of arithmetic instructions. The
 * writer handles operands, the loop over the lanes, and the locals for registers and predicates.
 */
import {
  type Instruction,
  type Operand,
  zeroRegister,
  zeroUniformRegister,
} from '../../sass/instruction'
import { lanes } from '../site'
import { predicateTrue } from '../warp'
import { Code, i32, scalar, v128, vector } from '../wasm'
import { guardOf } from '../guard'
import { predicateIndex, type Operands } from '../site-operands'

/** Settings shared by all runs of arithmetic in a launch. */
export interface FusedSetting {
  /** Number of register rows that precede the rows of the uniform registers. */
  registers: number
  /**
   * Returns the byte offset of a constant-bank word in the launch's tables, or null if the word is
   * past the end of the bank. All names that end in `Place`, except `predicatePlace`, are byte
   * offsets into the launch's tables.
   */
  constantPlace(bank: number, offset: number): number | null
  /** Whether the CPU rounds a * b + c only once. */
  nativeMultiplyAdd: boolean
  /**
   * Index of the imported function that rounds a * b + c for four lanes, and the byte offset of its
   * operands.
   */
  fixFunction: number
  fixPlace: number
  /**
   * Byte offset of the active-lane counters for guarded instructions. Each counter takes 8 bytes.
   */
  onPlace: number
  /** Byte offset of the first predicate, relative to the warp's registers. */
  predicatePlace: number
}

class Unsupported extends Error {}

const isUnsupported = new Unsupported()

/**
 * Throws a shared error object. A kernel can trigger this error on every other instruction, and
 * capturing a stack trace each time would be slow.
 */
export const unsupported = (): never => {
  throw isUnsupported
}

const rowBytes = 4 * lanes

export type Predicate = Operands['ins'][number]
export type RegisterLike = Extract<Operand, { kind: 'register' | 'uniform-register' }>

const isRegister = (operand: Operand | null | undefined): operand is RegisterLike =>
  operand?.kind === 'register' || operand?.kind === 'uniform-register'

const isZeroRegister = (operand: RegisterLike): boolean =>
  operand.index === (operand.kind === 'register' ? zeroRegister : zeroUniformRegister)

export const isZero = (operand: Operand): boolean =>
  (isRegister(operand) && isZeroRegister(operand) && !operand.inverted) ||
  (operand.kind === 'immediate' && operand.bits === 0)

const nan = 0x7fffffff

/**
 * Writes one run. The compiled function takes the byte address of the warp's registers and the lane
 * mask.
 */
export class RunWriter {
  readonly code = new Code(2)
  private readonly pointer = this.code.local(i32)
  readonly shift = this.code.local(i32)
  private readonly groupBits = this.code.local(i32)
  private readonly groupMask = this.code.local(v128)
  private readonly execBits = this.code.local(i32)
  private readonly execMask = this.code.local(v128)
  readonly scratchBits = this.code.local(i32)
  readonly temporaries = Array.from({ length: 8 }, () => this.code.local(v128))
  private readonly rows = new Map<number, number>()
  private loaded = new Set<number>()
  private dirty = new Set<number>()
  private readonly predicates = new Map<number, number>()
  private changed = new Set<number>()
  /**
   * Whether the current instruction executes in all lanes, and the locals that store the active
   * lanes.
   */
  private everywhere = false
  private bits = this.groupBits
  private mask = this.groupMask

  constructor(readonly setting: FusedSetting) {}

  row(operand: RegisterLike, part = 0): number {
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

  predicateLocal(index: number): number {
    const known = this.predicates.get(index)
    if (known !== undefined) return known
    const local = this.code.local(i32)
    this.predicates.set(index, local)
    return local
  }

  /** Pushes a predicate operand's lane mask. */
  predicateValue(operand: Predicate): void {
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

  /** Expands the mask on the stack to a vector for the current group of four lanes. */
  expand(): void {
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

  predicateVector(operand: Predicate | undefined): void {
    if (operand === undefined) {
      this.code.splat(-1)
      return
    }
    this.predicateValue(operand)
    this.expand()
  }

  /** Writes the four bits on the stack to a predicate for the active lanes. */
  writePredicate(operand: Predicate | undefined): void {
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

  /** Pushes an operand's bits, or word `part` of a multi-word operand. */
  raw(operand: Operand, part = 0): void {
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
      const place = this.setting.constantPlace(bank, offset + 4 * part)
      if (place === null) return code.splat(0)
      code.tables()
      code.vectorMemory(vector.load32Splat, place)
    } else unsupported()
  }

  int(operand: Operand): void {
    this.raw(operand)
    if (!('negated' in operand)) return
    if ('absolute' in operand && operand.absolute) unsupported()
    if ('inverted' in operand && operand.inverted) this.code.vector(vector.not)
    else if (operand.negated) this.code.vector(vector.intNeg)
  }

  float(operand: Operand): void {
    this.raw(operand)
    if (!('absolute' in operand)) return
    if (operand.absolute) this.code.vector(vector.floatAbs)
    if (operand.negated) this.code.vector(vector.floatNeg)
  }

  /** Writes the vector on the stack to a register for the active lanes. */
  write(operand: RegisterLike | null, part = 0): void {
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

  canonicalNan(): void {
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

  bitsOfVector(): void {
    this.code.vector(vector.bitmask)
  }

  /**
   * Appends an instruction. Emits nothing and returns false if the instruction must be interpreted.
   */
  add(
    instruction: Instruction,
    index: number,
    emit: (run: RunWriter, instruction: Instruction) => void,
  ): boolean {
    const { length } = this.code
    const [loaded, dirty, changed] = [
      new Set(this.loaded),
      new Set(this.dirty),
      new Set(this.changed),
    ]
    try {
      this.enter(instruction, index)
      emit(this, instruction)
      return true
    } catch (error) {
      if (!(error instanceof Unsupported)) throw error
      this.code.length = length
      this.loaded = loaded
      this.dirty = dirty
      this.changed = changed
      return false
    }
  }

  private enter(instruction: Instruction, index: number): void {
    const { code } = this
    this.everywhere = instruction.mnemonic.startsWith('U')
    this.bits = this.groupBits
    this.mask = this.groupMask
    const guard = guardOf(instruction)
    if (guard === null) return
    if (this.everywhere || guard.index === predicateTrue) return unsupported()
    code.get(this.predicateLocal(guard.index))
    if (guard.flip) {
      code.constant(guard.flip)
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
    code.countLanes(this.setting.onPlace + 8 * index, this.execBits)
  }

  /** Returns the complete function, or null if the run is empty. */
  finish(): Code {
    const inner = this.code.take()
    const { code } = this
    const { predicatePlace } = this.setting
    for (const [index, local] of this.predicates) {
      code.get(0)
      code.memory(scalar.load, predicatePlace + 4 * index)
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
    code.append(inner)
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
      code.memory(scalar.store, predicatePlace + 4 * index)
    }
    return code
  }
}
