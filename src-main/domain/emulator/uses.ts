/**
 * Records which parts of an instruction the emulator has read. If any part was not read, the kernel
 * stops, so no unknown modifier is ignored.
 */
import { decodeInstruction } from '../sass/decode'
import {
  truePredicate,
  zeroRegister,
  zeroUniformRegister,
  type Instruction,
  type Operand,
} from '../sass/instruction'
import { printOpcode } from '../sass/print'

/**
 * A property that an operand's kind does not imply. A trait that starts with a dot is an operand
 * suffix.
 */
export type Trait =
  | 'value'
  | 'negated'
  | 'absolute'
  | 'inverted'
  | 'register'
  | 'wide register'
  | 'scale'
  | 'uniform register'
  | 'descriptor'
  | 'offset'
  | `.${string}`

/**
 * Access modifiers that do not affect results. For the evidence, see docs/evidence/emulation.md,
 * "Bits without effect".
 */
const hints: ReadonlySet<string> = new Set([
  // Eviction priorities and L2 prefetch sizes.
  ...['EF', 'EL', 'LU', 'EU', 'NA', 'LTC64B', 'LTC128B', 'LTC256B'],
  // Memory order and scope have no effect, because the emulated memory is always sequentially
  // consistent.
  ...['CONSTANT', 'STRONG', 'SM', 'GPU', 'SYS', 'CTA'],
])

/** Modifiers that change only how an opcode is issued or printed, not its result. */
const named: Readonly<Record<string, readonly string[]>> = {
  // LUT marks an instruction that has a truth table.
  LOP3: ['LUT'],
  ULOP3: ['LUT'],
  PLOP3: ['LUT'],
  UPLOP3: ['LUT'],
  // The disassembler derives the IMAD variant from the operands, because the encoding does not
  // contain it.
  IMAD: ['MOV', 'IADD', 'SHL'],
  // MMA selects the pipe that executes HFMA2.
  HFMA2: ['MMA'],
  // DEFER_BLOCKING is a scheduling hint for waiting warps.
  BAR: ['DEFER_BLOCKING'],
}

const accesses = new Set([
  ...['LDG', 'LD', 'LDL', 'STG', 'ST', 'STL', 'LDGSTS', 'ATOM', 'ATOMG', 'RED', 'REDG'],
])

/** Returns whether a modifier is known to have no effect on results. */
export const isHint = (mnemonic: string, modifier: string): boolean =>
  (accesses.has(mnemonic) && hints.has(modifier)) || (named[mnemonic]?.includes(modifier) ?? false)

/** Returns an operand's traits that differ from the default. */
function traitsOf(operand: Operand): Trait[] {
  const traits: [Trait, boolean][] = []
  switch (operand.kind) {
    case 'register':
      traits.push(['value', operand.index !== zeroRegister])
      break
    case 'uniform-register':
      traits.push(['value', operand.index !== zeroUniformRegister])
      break
    case 'predicate':
    case 'uniform-predicate':
      traits.push(['value', operand.index !== truePredicate], ['negated', operand.negated])
      break
    case 'memory':
      traits.push(
        ['register', operand.register !== null && operand.register !== zeroRegister],
        ['wide register', operand.width === 64],
        ['scale', operand.scale !== 1],
        ['uniform register', operand.uniform !== null && operand.uniform !== zeroUniformRegister],
        ['descriptor', operand.descriptor !== null],
        ['offset', operand.offset !== 0],
      )
      break
    default:
      traits.push(['value', true])
  }
  if ('absolute' in operand)
    traits.push(
      ['negated', operand.negated],
      ['absolute', operand.absolute],
      ['inverted', operand.inverted],
    )
  if ('suffixes' in operand)
    traits.push(...operand.suffixes.map((suffix): [Trait, boolean] => [`.${suffix}`, true]))
  return traits.filter(([, present]) => present).map(([trait]) => trait)
}

const architectures = [90, 89, 80, 75]

const hexadecimal = ({ words }: Instruction): string =>
  `0x${[...words]
    .reverse()
    .map((word) => word.toString(16).padStart(8, '0'))
    .join('')}`

/**
 * Returns the instruction bits on which `isThere` depends. Flipping any of these bits makes
 * `isThere` return false.
 */
function bitsOf(instruction: Instruction, isThere: (other: Instruction) => boolean): number[] {
  const { words, address } = instruction
  const decoded = (bits: Instruction['words'], architecture: number): Instruction | null => {
    const found = decodeInstruction(bits, address, architecture)
    return 'unknown' in found ? null : found
  }
  const architecture = architectures.find((each) => {
    const found = decoded(words, each)
    return found !== null && printOpcode(found) === printOpcode(instruction) && isThere(found)
  })
  if (architecture === undefined) return []
  return Array.from({ length: 128 }, (_, bit) => bit).filter((bit) => {
    const flipped = [...words] as [number, number, number, number]
    flipped[bit >> 5] = (flipped[bit >> 5]! ^ (1 << (bit & 31))) >>> 0
    const found = decoded(flipped, architecture)
    return found !== null && found.mnemonic === instruction.mnemonic && !isThere(found)
  })
}

const placesOf = (bits: readonly number[]): string =>
  bits.length === 0 ? '' : ` (${bits.length === 1 ? 'bit' : 'bits'} ${bits.join(', ')})`

export class Uses {
  private readonly modifiers = new Set<string>()
  private readonly traits = new Map<Operand, Set<Trait>>()

  constructor(private readonly instruction: Instruction) {}

  modifier(name: string): boolean {
    this.modifiers.add(name)
    return this.instruction.modifiers.includes(name)
  }

  matching(pattern: RegExp): string[] {
    const found = this.instruction.modifiers.filter((name) => pattern.test(name))
    for (const name of found) this.modifiers.add(name)
    return found
  }

  take(operand: Operand, traits: readonly Trait[]): void {
    const taken = this.traits.get(operand) ?? new Set()
    for (const trait of traits) taken.add(trait)
    this.traits.set(operand, taken)
  }

  /**
   * Returns a description of the first unread part, including its bits and the whole encoding.
   * Returns null if all parts were read.
   */
  unused(): string | null {
    const { instruction } = this
    const { mnemonic, modifiers, operands } = instruction
    const describe = (what: string, isThere: (other: Instruction) => boolean): string =>
      `${what}${placesOf(bitsOf(instruction, isThere))} of ${printOpcode(instruction)}, encoding ${hexadecimal(instruction)}`
    for (const name of modifiers)
      if (!this.modifiers.has(name) && !isHint(mnemonic, name))
        return describe(`the modifier ${name}`, (other) => other.modifiers.includes(name))
    for (const [place, operand] of operands.entries()) {
      const taken = this.traits.get(operand)
      for (const trait of traitsOf(operand))
        if (!taken?.has(trait))
          return describe(`${trait} of operand ${place + 1}`, ({ operands: others }) => {
            const same = others[place]
            return same?.kind === operand.kind && traitsOf(same).includes(trait)
          })
    }
    return null
  }
}
