/**
 * An instruction that is being prepared for execution, with its operands sorted into outputs and
 * inputs. Each operand becomes a function of the lane. Values that depend only on the launch, such
 * as immediates and constant banks, are looked up once.
 *
 * A register is a row of 32 words. A uniform register also has a row, in which all words are equal.
 * The same code therefore handles ordinary and uniform registers.
 */
import {
  zeroRegister,
  zeroUniformRegister,
  type ConstantOperand,
  type Instruction,
  type MemoryOperand,
  type Operand,
  type PredicateOperand,
  type RegisterOperand,
  type UniformPredicateOperand,
  type UniformRegisterOperand,
} from '../sass/instruction'
import { floatOf } from './float'
import { Uses, type Trait } from './uses'
import { Halt, predicateTrue, type Counts, type HaltReason, type Step, type Warp } from './warp'
import type { Trace } from './trace'
import { isRegister, sortOperands, predicateIndex, isZero, type Operands } from './site-operands'

export const lanes = 32

/** Returns an operand's value for a lane. `base` is the first word of the warp's registers. */
export type Get = (base: number, lane: number) => number
export type Put = (base: number, lane: number, value: number) => void

export interface Views {
  readonly words: Int32Array
  readonly unsigned: Uint32Array
  readonly floats: Float32Array
  readonly bytes: Uint8Array
  readonly halves: Uint16Array
}

/** A launch's memory layout and counters. */
export interface EmulatorState {
  readonly views: Views
  /**
   * Number of register rows per warp, starting with R0. The rows of the uniform registers follow
   * the rows of the ordinary registers.
   */
  readonly registers: number
  /** Shared memory per block and local memory per thread, in bytes. */
  readonly sharedBytes: number
  readonly localBytes: number
  /**
   * Whether the stack grows while the kernel runs, in which case an access below the stack is
   * reported as a stack overflow.
   */
  readonly growsStack: boolean
  /** Whether clusters have more than one block. */
  readonly clustered: boolean
  readonly counts: Counts
  /** Returns a word of a constant bank, or 0 if the word is past the end of the bank. */
  constant(bank: number, offset: number): number
  /**
   * Returns a view of the bytes at a generic address that points to global memory or to the
   * parameters. Returns null for any other address.
   */
  generic(low: number, high: number, bytes: number): DataView | null
  /** Returns a function that reads the named special register, or null if the name is unknown. */
  special(name: string): ((warp: Warp, lane: number) => number) | null
  /**
   * Returns the clock value at an instruction. The emulator does not model time, so the clock
   * counts the instructions that the block has executed.
   */
  clock(at: number): number
  /** Returns whether a byte range is inside a single buffer. */
  inBuffer(offset: number, bytes: number): boolean
  /** Receives the launch's events. Null disables tracing. */
  readonly trace: Trace | null
  report(finding: Finding): void
  /** Receives a thread's printf output. */
  print(warp: Warp, lane: number, text: string): void
  /** Called after a full-warp access, with the access's cost. */
  seen(at: number, addresses: readonly Int32Array[], cost: Cost): void
}

/** The cost of one memory access by a warp. */
export interface Cost {
  /** Number of wavefronts, as counted by ncu's source counters. */
  wavefronts: number
  idealWavefronts: number
  /**
   * Number of shared-memory wavefronts, and number of extra wavefronts due to conflicts, as counted
   * by the hardware.
   */
  passes: number
  conflicts: number
  tags: number
  sectors: number
  idealSectors: number
  /** Number of global-memory sectors, as counted by the hardware in L1. */
  l1Sectors: number
}

export const noCost: Cost = {
  ...{ wavefronts: 0, idealWavefronts: 0, passes: 0, conflicts: 0 },
  ...{ tags: 0, sectors: 0, idealSectors: 0, l1Sectors: 0 },
}

export type FindingKind =
  | 'outside-global'
  | 'outside-shared'
  | 'outside-local'
  | 'misaligned'
  | 'unwritten-global'
  | 'unwritten-shared'
  | 'race'
  | 'divergent-barrier'

export interface Finding {
  kind: FindingKind
  /** Instruction index. */
  at: number
  write: boolean
  bytes: number
  /** Linear index of the thread within its block, and linear index of the block. */
  thread: number
  block: number
  address: number
  /** The conflicting access in a data race. */
  other?: { at: number; write: boolean; thread: number }
}

/**
 * A view of an instruction, used to create the function that executes it. Every accessor records
 * which part of the instruction it reads. `finish` stops the kernel if any part of the instruction
 * was not read. The created function must read the instruction only through this view.
 */
export class Site {
  readonly operands: Operands

  constructor(
    private readonly instruction: Instruction,
    readonly index: number,
    readonly machine: EmulatorState,
    writesRegister = true,
    private readonly uses = new Uses(instruction),
  ) {
    this.operands = sortOperands(instruction.operands, writesRegister)
  }

  get views(): Views {
    return this.machine.views
  }

  get mnemonic(): string {
    return this.instruction.mnemonic
  }

  /**
   * Returns whether the instruction has a modifier. The call marks the modifier as handled, so the
   * caller must act on the result.
   */
  has(modifier: string): boolean {
    return this.uses.modifier(modifier)
  }

  /** Returns the first of the given modifiers that the instruction has. */
  oneOf<Name extends string>(names: readonly Name[]): Name | undefined {
    return names.find((name) => this.has(name))
  }

  /** Returns the modifiers that match the pattern, and marks them as handled. */
  matching(pattern: RegExp): string[] {
    return this.uses.matching(pattern)
  }

  /**
   * Marks modifiers as handled. Use this method for an opcode that exists only with the given
   * modifiers.
   */
  expect(...modifiers: string[]): void {
    for (const modifier of modifiers) this.has(modifier)
  }

  /** Returns the operands of the given kinds in printed order. */
  all<Kind extends Operand['kind']>(...kinds: Kind[]): Extract<Operand, { kind: Kind }>[] {
    return this.instruction.operands.filter(
      (operand): operand is Extract<Operand, { kind: Kind }> =>
        (kinds as string[]).includes(operand.kind),
    )
  }

  get predicates(): (PredicateOperand | UniformPredicateOperand)[] {
    return this.all('predicate', 'uniform-predicate')
  }

  get first(): Operand | undefined {
    return this.instruction.operands[0]
  }

  /**
   * Marks an operand's traits as handled. The caller must act on these traits unless they have no
   * effect.
   */
  take<Of extends Operand>(operand: Of, ...traits: Trait[]): Of {
    this.uses.take(operand, traits)
    return operand
  }

  /** Returns whether an operand has a suffix, and marks the suffix as handled. */
  suffix(operand: Operand, suffix: string): boolean {
    this.uses.take(operand, [`.${suffix}`])
    return 'suffixes' in operand && operand.suffixes.includes(suffix)
  }

  /** Stops the kernel because this instruction has an unsupported part. */
  unknown(what = 'this form'): never {
    return this.halt('unknown-instruction', what)
  }

  halt(reason: HaltReason, detail: string, by: Halt['by'] = null): never {
    throw new Halt(reason, this.instruction, detail, by)
  }

  /** Stops the kernel if any part of the instruction was not read. */
  finish(): void {
    const unused = this.uses.unused()
    if (unused !== null) this.unknown(unused)
  }

  /** Returns a site for the same instruction without a destination register, for comparisons. */
  compares(): Site {
    return new Site(this.instruction, this.index, this.machine, false, this.uses)
  }

  /** Returns the index of the first word of a register's row, relative to the warp's base. */
  row(operand: RegisterOperand | UniformRegisterOperand, part = 0): number {
    this.take(operand, 'value')
    const index = operand.index + part
    return (operand.kind === 'register' ? index : this.machine.registers + index) * lanes
  }

  source(place: number): Operand {
    return this.operands.sources[place] ?? this.unknown('an operand is missing')
  }

  /** Returns a function that reads an integer operand, or word `part` of a multi-word operand. */
  int(operand: Operand, part = 0): Get {
    const raw = this.raw(operand, part)
    if (isRegister(operand) || operand.kind === 'constant') {
      const { inverted, negated, absolute } = operand
      if (Number(inverted) + Number(negated) + Number(absolute) > 1) return raw
      if (inverted) {
        this.take(operand, 'inverted')
        return (base, lane) => ~raw(base, lane)
      }
      // In a multi-word operand, only the first word can have traits.
      if (part > 0) return raw
      if (negated) {
        this.take(operand, 'negated')
        return (base, lane) => -raw(base, lane) | 0
      }
      if (absolute) {
        this.take(operand, 'absolute')
        return (base, lane) => Math.abs(raw(base, lane)) | 0
      }
    }
    return raw
  }

  /**
   * Returns a function that reads an operand's bits. The caller must apply the traits in `handled`.
   */
  raw(operand: Operand, part = 0, ...handled: Trait[]): Get {
    this.take(operand, 'value', ...handled)
    const { words } = this.views
    if (isRegister(operand)) {
      if (isZero(operand)) return () => 0
      const row = this.row(operand, part)
      return (base, lane) => words[base + row + lane]!
    }
    if (operand.kind === 'immediate') {
      const bits = part === 0 ? operand.bits | 0 : operand.bits < 0 && operand.signed ? -1 : 0
      return () => bits
    }
    if (operand.kind === 'constant') return this.constant(operand, part)
    return this.unknown()
  }

  private constant(operand: ConstantOperand, part: number): Get {
    const { bank, register, uniform } = operand
    if (typeof bank !== 'number') return this.unknown('a constant bank by handle')
    const offset = operand.offset + 4 * part
    const { words } = this.views
    const indexRow =
      register !== null && register !== zeroRegister
        ? register * lanes
        : uniform !== null && uniform !== zeroUniformRegister
          ? (this.machine.registers + uniform) * lanes
          : null
    if (indexRow === null) {
      const value = this.machine.constant(bank, offset)
      return () => value
    }
    return (base, lane) => this.machine.constant(bank, offset + words[base + indexRow + lane]!)
  }

  float(operand: Operand): Get {
    const modified = isRegister(operand) || operand.kind === 'constant'
    const raw = this.raw(operand, 0, 'absolute', 'negated')
    if (!modified) {
      const value = floatOf(raw(0, 0))
      return () => value
    }
    const { floats } = this.views
    let get: Get
    if (operand.kind === 'register' && !isZero(operand)) {
      const row = this.row(operand)
      get = (base, lane) => floats[base + row + lane]!
    } else get = (base, lane) => floatOf(raw(base, lane))
    const plain = get
    if (operand.absolute && operand.negated) return (base, lane) => -Math.abs(plain(base, lane))
    if (operand.absolute) return (base, lane) => Math.abs(plain(base, lane))
    if (operand.negated) return (base, lane) => -plain(base, lane)
    return plain
  }

  /** Returns a function that computes the mask of lanes in which a predicate operand is true. */
  predicate(
    operand: PredicateOperand | UniformPredicateOperand | undefined,
  ): (warp: Warp) => number {
    if (operand === undefined) return () => -1
    this.take(operand, 'value', 'negated')
    const index = predicateIndex(operand)
    if (operand.negated) return (warp) => ~warp.predicates[index]!
    return (warp) => warp.predicates[index]!
  }

  /** Writes a predicate for the lanes in `active`. */
  putPredicate(
    operand: PredicateOperand | UniformPredicateOperand | undefined,
  ): (warp: Warp, active: number, mask: number) => void {
    if (operand === undefined) return () => {}
    this.take(operand, 'value')
    const index = predicateIndex(operand)
    if (index === predicateTrue) return () => {}
    if (operand.kind === 'uniform-predicate')
      return (warp, _, mask) => {
        warp.predicates[index] = mask !== 0 ? -1 : 0
      }
    return (warp, active, mask) => {
      warp.predicates[index] = (warp.predicates[index]! & ~active) | (mask & active)
    }
  }

  /** Returns a function that writes word `part` of the destination. */
  put(part = 0, operand = this.operands.destination): Put {
    if (operand === null) return this.unknown('it has no destination')
    return this.putRegister(operand, part)
  }

  putRegister(operand: RegisterOperand | UniformRegisterOperand, part = 0): Put {
    if (isZero(operand)) return () => {}
    const { words } = this.views
    const row = this.row(operand, part)
    return (base, lane, value) => {
      words[base + row + lane] = value
    }
  }

  get destinationIsZero(): boolean {
    return this.operands.destination === null || isZero(this.operands.destination)
  }

  /** Returns a function that reads the uniform register with the given index. */
  uniform(index: number): (warp: Warp) => number {
    const { words } = this.views
    const row = (this.machine.registers + index) * lanes
    return (warp) => words[warp.base + row]!
  }

  memory(): MemoryOperand {
    return this.all('memory')[0] ?? this.unknown('it has no address')
  }

  /** Returns the instruction index of the target operand. */
  target(): number {
    const [operand] = this.all('target')
    if (operand === undefined) return this.unknown('it has no target')
    return this.take(operand, 'value').address / 16
  }
}

/** Returns a `Step` that calls `each` lane by lane. */
export function eachLane(each: (warp: Warp, base: number, lane: number) => void): Step {
  return (warp, active) => {
    const { base } = warp
    for (let rest = active; rest !== 0; rest &= rest - 1)
      each(warp, base, 31 - Math.clz32(rest & -rest))
  }
}

/** Returns a `Step` that calls `each` in the given lane order. */
export function eachLaneOf(
  order: readonly number[],
  each: (warp: Warp, base: number, lane: number) => void,
): Step {
  return (warp, active) => {
    const { base } = warp
    for (const lane of order) if ((active >>> lane) & 1) each(warp, base, lane)
  }
}

/** Returns a function that reads the operand in the first active lane. */
export function scalar(
  site: Site,
  operand: Operand | undefined,
): (warp: Warp, mask: number) => number {
  if (operand === undefined) return () => 0
  const get = site.int(operand)
  return (warp, mask) => get(warp.base, mask === 0 ? 0 : firstLane(mask))
}

/** Returns the lowest lane in a mask. */
export const firstLane = (mask: number): number => 31 - Math.clz32(mask & -mask)

export function countLanes(mask: number): number {
  let count = mask - ((mask >>> 1) & 0x55555555)
  count = (count & 0x33333333) + ((count >>> 2) & 0x33333333)
  return Math.imul((count + (count >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
