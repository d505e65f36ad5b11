/**
 * An instruction as its step is made: its operands sorted into what it writes and reads, and each turned into a
 * function of the lane. What depends on the launch alone (immediates, constant banks) is looked up here, once.
 *
 * A register is a row of 32 words, uniform registers too (all lanes alike), so that one rule serves both files.
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

/** Value of an operand for a lane; `base` is the warp's. */
export type Get = (base: number, lane: number) => number
export type Put = (base: number, lane: number, value: number) => void

export interface Views {
  readonly words: Int32Array
  readonly unsigned: Uint32Array
  readonly floats: Float32Array
  readonly bytes: Uint8Array
  readonly halves: Uint16Array
}

/** Where things lie in the memory for the time of a launch, and who keeps the count. */
export interface EmulatorState {
  readonly views: Views
  /** Rows of registers of a warp, R0 first; the uniform ones follow. */
  readonly registers: number
  /** Bytes of the shared memory of a block, and of the local memory of a thread. */
  readonly sharedBytes: number
  readonly localBytes: number
  /** Whether the stack grows while the kernel runs, so that an access below it is a stack overflow. */
  readonly growsStack: boolean
  /** Whether blocks run in clusters of several. */
  readonly clustered: boolean
  readonly counts: Counts
  /** A word of a constant bank, 0 where the bank has none. */
  constant(bank: number, offset: number): number
  /** The bytes behind a generic address of global memory or of the parameters, null where it is of neither. */
  generic(low: number, high: number, bytes: number): DataView | null
  /** Value of a special register, by its name. */
  special(name: string): ((warp: Warp, lane: number) => number) | null
  /** What a clock shows at an instruction: how many instructions the block has executed, since there is no time. */
  clock(at: number): number
  /** Whether these bytes lie in one buffer. */
  inBuffer(offset: number, bytes: number): boolean
  /** Told of what the launch does; null where nobody asks. */
  readonly trace: Trace | null
  report(finding: Finding): void
  /** What a thread prints. */
  print(warp: Warp, lane: number, text: string): void
  /** An access of a whole warp has been done and cost that. */
  seen(at: number, addresses: readonly Int32Array[], cost: Cost): void
}

/** What an access of a warp costs. */
export interface Cost {
  /** As ncu's source counters state them. */
  wavefronts: number
  idealWavefronts: number
  /** As the hardware counters of shared memory state them: wavefronts, and those that conflicts add. */
  passes: number
  conflicts: number
  tags: number
  sectors: number
  idealSectors: number
  /** Sectors of global memory as the hardware counters of L1 state them. */
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
  /** Index of the instruction. */
  at: number
  write: boolean
  bytes: number
  /** Thread of the block and number of the block; both linear. */
  thread: number
  block: number
  address: number
  /** The other access of a race. */
  other?: { at: number; write: boolean; thread: number }
}

/**
 * What a step is made from. Every accessor records which part of the instruction it reads; `finish` then stops the
 * kernel if the instruction says anything that nothing read. A step sees its instruction only through these accessors.
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

  /** Whether the instruction has a modifier. Asking makes the modifier known: the step must act on the answer. */
  has(modifier: string): boolean {
    return this.uses.modifier(modifier)
  }

  /** The first of these modifiers that the instruction has. */
  oneOf<Name extends string>(names: readonly Name[]): Name | undefined {
    return names.find((name) => this.has(name))
  }

  /** The modifiers that match, all of them known from now on. */
  matching(pattern: RegExp): string[] {
    return this.uses.matching(pattern)
  }

  /** Modifiers that name the only form of an opcode that there is. */
  expect(...modifiers: string[]): void {
    for (const modifier of modifiers) this.has(modifier)
  }

  /** The operands of these kinds, in the order in which they are printed. */
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

  /** Records that the step acts on these traits of an operand, or that they do not matter. */
  take<Of extends Operand>(operand: Of, ...traits: Trait[]): Of {
    this.uses.take(operand, traits)
    return operand
  }

  /** Whether an operand has a suffix, which is known from now on. */
  suffix(operand: Operand, suffix: string): boolean {
    this.uses.take(operand, [`.${suffix}`])
    return 'suffixes' in operand && operand.suffixes.includes(suffix)
  }

  /** Anything that this instruction has and its step does not know. */
  unknown(what = 'this form'): never {
    return this.halt('unknown-instruction', what)
  }

  halt(reason: HaltReason, detail: string, by: Halt['by'] = null): never {
    throw new Halt(reason, this.instruction, detail, by)
  }

  /** Stops the kernel if the instruction has anything that its step did not read. */
  finish(): void {
    const unused = this.uses.unused()
    if (unused !== null) this.unknown(unused)
  }

  /** The same instruction without a destination register: comparisons. */
  compares(): Site {
    return new Site(this.instruction, this.index, this.machine, false, this.uses)
  }

  /** First word of a register's row, from the warp's base. */
  row(operand: RegisterOperand | UniformRegisterOperand, part = 0): number {
    this.take(operand, 'value')
    const index = operand.index + part
    return (operand.kind === 'register' ? index : this.machine.registers + index) * lanes
  }

  source(place: number): Operand {
    return this.operands.sources[place] ?? this.unknown('an operand is missing')
  }

  /** An integer operand, or its word `part` of several. */
  int(operand: Operand, part = 0): Get {
    const raw = this.raw(operand, part)
    if (isRegister(operand) || operand.kind === 'constant') {
      const { inverted, negated, absolute } = operand
      if (Number(inverted) + Number(negated) + Number(absolute) > 1) return raw
      if (inverted) {
        this.take(operand, 'inverted')
        return (base, lane) => ~raw(base, lane)
      }
      // Of several words, only the first one could be changed alone.
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

  /** The bits of an operand; `handled` are those of its traits that the caller applies. */
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

  /** Mask of the lanes in which a predicate operand holds. */
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

  /** Writes word `part` of the destination. */
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

  /** The value of a uniform register, and of those behind it. */
  uniform(index: number): (warp: Warp) => number {
    const { words } = this.views
    const row = (this.machine.registers + index) * lanes
    return (warp) => words[warp.base + row]!
  }

  memory(): MemoryOperand {
    return this.all('memory')[0] ?? this.unknown('it has no address')
  }

  /** Index of the instruction that a target operand names. */
  target(): number {
    const [operand] = this.all('target')
    if (operand === undefined) return this.unknown('it has no target')
    return this.take(operand, 'value').address / 16
  }
}

/** A step that does `value` lane by lane. */
export function eachLane(each: (warp: Warp, base: number, lane: number) => void): Step {
  return (warp, active) => {
    const { base } = warp
    for (let rest = active; rest !== 0; rest &= rest - 1)
      each(warp, base, 31 - Math.clz32(rest & -rest))
  }
}

/** The same in an order of the lanes. */
export function eachLaneOf(
  order: readonly number[],
  each: (warp: Warp, base: number, lane: number) => void,
): Step {
  return (warp, active) => {
    const { base } = warp
    for (const lane of order) if ((active >>> lane) & 1) each(warp, base, lane)
  }
}

/** Value of an operand for the first lane that is on. */
export function scalar(
  site: Site,
  operand: Operand | undefined,
): (warp: Warp, mask: number) => number {
  if (operand === undefined) return () => 0
  const get = site.int(operand)
  return (warp, mask) => get(warp.base, mask === 0 ? 0 : firstLane(mask))
}

/** The lowest lane of a mask. */
export const firstLane = (mask: number): number => 31 - Math.clz32(mask & -mask)

export function countLanes(mask: number): number {
  let count = mask - ((mask >>> 1) & 0x55555555)
  count = (count & 0x33333333) + ((count >>> 2) & 0x33333333)
  return Math.imul((count + (count >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
