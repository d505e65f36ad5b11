/**
 * Decodes machine code into instructions. An instruction that is missing from the table is returned
 * as unknown, with its address and bits.
 */
import type { Opcode, Draft } from './parts'
import { controlOpcodes } from './opcodes/control'
import { conversionOpcodes, floatOpcodes } from './opcodes/float'
import { integerOpcodes } from './opcodes/integer'
import { memoryOpcodes } from './opcodes/memory'
import { tensorOpcodes } from './opcodes/tensor'
import { uniformOpcodes } from './opcodes/uniform'
import {
  Encoding,
  type Control,
  type Instruction,
  type PredicateOperand,
  type UniformPredicateOperand,
} from './instruction'

const byCode = new Map<number, Opcode>()
for (const entry of [
  ...floatOpcodes,
  ...integerOpcodes,
  ...conversionOpcodes,
  ...uniformOpcodes,
  ...memoryOpcodes,
  ...controlOpcodes,
  ...tensorOpcodes,
])
  for (const code of entry.codes) {
    if (byCode.has(code)) throw new Error(`two entries for opcode 0x${code.toString(16)}`)
    byCode.set(code, entry)
  }

/**
 * Returns the opcode for the 12 low bits of an instruction, or undefined if the opcode is unknown.
 */
const opcodeOf = (code: number): Opcode | undefined => byCode.get(code)

/**
 * Names of texture and surface accesses, keyed by the low byte of the opcode. Only the names of
 * these accesses are decoded.
 */
const notDecoded: Readonly<Record<number, string>> = {
  0x60: 'TEX',
  0x63: 'TLD4',
  0x66: 'TLD',
  0x6c: 'TXD',
  0x99: 'SULD',
  0x9d: 'SUST',
}

/**
 * Returns a name for an undecoded instruction, based on its first 32 bits. For example, the name is
 * `TEX`, or `ATOMS.???` for an unknown form of a known opcode. For an unknown opcode, the name is
 * the opcode in hexadecimal. The returned name never equals the name of a decoded instruction.
 */
export function nameOfOpcode(word: number): string {
  const code = word & 0xfff
  // The opcodes of texture and surface accesses start with 0xf on sm_90, and with 0xb on older
  // GPUs.
  const access = (code & 0xb00) === 0xb00 ? notDecoded[code & 0xff] : undefined
  const known = opcodeOf(code)
  return known ? `${known.mnemonic}.???` : (access ?? `0x${code.toString(16)}`)
}

export interface UnknownInstruction {
  readonly unknown: true
  readonly address: number
  readonly words: Instruction['words']
}

export const instructionBytes = 16

export function decodeInstruction(
  words: Instruction['words'],
  address: number,
  architecture: number,
): Instruction | UnknownInstruction {
  const unknown: UnknownInstruction = { unknown: true, address, words }
  const encoding = new Encoding(words)
  const entry = opcodeOf(encoding.bits(0, 12))
  if (!entry) return unknown
  const draft: Draft = {
    encoding,
    address,
    architecture,
    mnemonic: entry.mnemonic,
    uniformGuard: entry.mnemonic.startsWith('U'),
    modifiers: [],
    operands: [],
  }
  const control = readControl(encoding)
  const [guardIndex, guardNegated] = [encoding.bits(12, 3), encoding.bit(15)]
  for (const part of entry.parts) part(draft)
  const guard: PredicateOperand | UniformPredicateOperand = {
    kind: draft.uniformGuard ? 'uniform-predicate' : 'predicate',
    index: guardIndex,
    negated: guardNegated,
  }
  if (!encoding.complete) return unknown
  const { mnemonic, modifiers, operands } = draft
  return { address, words, guard, mnemonic, modifiers, operands, control }
}

/** Returns all instructions in a function, in order. */
export function decodeKernel(
  code: Uint8Array,
  architecture: number,
): (Instruction | UnknownInstruction)[] {
  const view = new DataView(code.buffer, code.byteOffset, code.length)
  return Array.from({ length: Math.floor(code.length / instructionBytes) }, (_, index) => {
    const at = index * instructionBytes
    const word = (offset: number): number => view.getUint32(at + offset, true)
    return decodeInstruction([word(0), word(4), word(8), word(12)], at, architecture)
  })
}

function readControl(encoding: Encoding): Control {
  const barrier = (at: number): number | null => {
    const index = encoding.bits(at, 3)
    return index === 7 ? null : index
  }
  return {
    stall: encoding.bits(105, 4),
    yield: !encoding.bit(109),
    writeBarrier: barrier(110),
    readBarrier: barrier(113),
    waitMask: encoding.bits(116, 6),
  }
}
