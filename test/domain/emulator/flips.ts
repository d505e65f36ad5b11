/**
 * Flips each bit of each instruction form that nvcc emitted for sm_90 (test/captures/sass). A
 * flipped bit changes the instruction's effect, makes the emulator reject the instruction, or has
 * no effect. The functions return the bits without effect, which a test compares with a stored
 * list.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { isNothing } from '../../../src-main/domain/emulator/steps'
import { isHint } from '../../../src-main/domain/emulator/uses'
import { decodeInstruction } from '../../../src-main/domain/sass/decode'
import type { Instruction } from '../../../src-main/domain/sass/instruction'
import { printOpcode } from '../../../src-main/domain/sass/print'
import { isSameOutcome, seeded, SingleStep, states } from './single-step'

export type Words = readonly [number, number, number, number]

export const decode = (words: Words): Instruction | null => {
  const found = decodeInstruction(words, 0x10, 90)
  return 'unknown' in found ? null : found
}

/** Returns an encoding with one bit flipped. */
export function flipped(words: Words, bit: number): Words {
  const other = [...words] as [number, number, number, number]
  other[bit >> 5] = (other[bit >> 5]! ^ (1 << (bit & 31))) >>> 0
  return other
}

export interface Form {
  /** The opcode with its modifiers, followed by the kinds of the operands. */
  name: string
  mnemonic: string
  words: Words[]
}

const nameOf = (instruction: Instruction): string =>
  [printOpcode(instruction), ...instruction.operands.map(({ kind }) => kind)].join(' ')

/** Returns every instruction form together with its observed encodings. */
export function formsOf(): Form[] {
  const file = join(import.meta.dirname, '../../captures/sass/pairs.tsv.br')
  const forms = new Map<string, Form>()
  for (const line of brotliDecompressSync(readFileSync(file)).toString().split('\n')) {
    const [architecture, , hex] = line.split('\t')
    if (architecture !== '90' || hex === undefined) continue
    const words = [24, 16, 8, 0].map((at) =>
      Number.parseInt(hex.slice(at, at + 8), 16),
    ) as unknown as Words
    const instruction = decode(words)
    if (!instruction || isNothing(instruction)) continue
    const name = nameOf(instruction)
    const form = forms.get(name) ?? { name, mnemonic: instruction.mnemonic, words: [] }
    form.words.push(words)
    forms.set(name, form)
  }
  return [...forms.values()]
}

/** Bit positions and widths of the register fields (8 bits) and predicate fields (3 bits). */
const fields = [
  ...[16, 24, 32, 64].map((at) => [at, 8] as const),
  ...[12, 68, 77, 81, 84, 87].map((at) => [at, 3] as const),
]

/**
 * Returns encodings of a form with different registers and predicates. The emulator accepts all of
 * the returned encodings.
 */
function variants({ name, words }: Form, count: number): Words[] {
  const next = seeded(name.length * 7919 + words.length)
  return Array.from({ length: count }, (_, number) => {
    let current = words[number % words.length]!
    for (const [at, width] of fields) {
      if (number > 0 && next() < 0.25) continue
      const value = width === 8 ? 4 * Math.floor(10 * next()) : Math.floor(7 * next())
      const mask = 2 ** width - 1
      const other = [...current] as [number, number, number, number]
      other[at >> 5] = ((other[at >> 5]! & ~(mask << (at & 31))) | (value << (at & 31))) >>> 0
      const instruction = decode(other)
      if (!instruction || nameOf(instruction) !== name) continue
      if (new SingleStep(instruction, 1).run(instruction).refused === null) current = other
    }
    return current
  })
}

/**
 * First and last bit to flip. The first flipped bit belongs to the guard. The scheduling bits,
 * which follow the last flipped bit, are decoded separately.
 */
export const [firstBit, lastBit] = [12, 104]

const meaning = ({ mnemonic, modifiers }: Instruction): string =>
  modifiers.filter((modifier) => !isHint(mnemonic, modifier)).join()

/**
 * Returns whether two instructions differ only in hints or other parts that affect only time, which
 * the emulator does not model.
 */
const differInHints = (one: Instruction, other: Instruction): boolean =>
  one.mnemonic === other.mnemonic &&
  printOpcode(one) !== printOpcode(other) &&
  meaning(one) === meaning(other)

export interface Flips {
  /** Number of executed instructions with a flipped bit. */
  runs: number
  /** Bits that the emulator accepted when flipped, but that changed no result in any state. */
  quiet: number[]
  /** The reason the unflipped form is rejected, or null. */
  refused: string | null
}

export function flipForm(form: Form): Flips {
  const tries = variants(form, 5).map((words, number) => {
    const instruction = decode(words)!
    return states.map((state, place) => {
      const step = new SingleStep(instruction, 31 * number + place + 3, state)
      return { words, instruction, step, before: step.run(instruction) }
    })
  })
  const all = tries.flat()
  const first = all[0]!.before.refused
  const good = all.filter(({ before }) => before.refused === null)
  let runs = 0
  const isQuiet = (bit: number): boolean => {
    let [accepted, rejected] = [0, 0]
    for (const { words, instruction, step, before } of good) {
      const other = decode(flipped(words, bit))
      if (other && differInHints(instruction, other)) continue
      const outcome = other && step.run(other)
      if (outcome) runs += 1
      if (outcome?.refused !== null) {
        // The rejection of a flipped bit does not depend on the state, so stop after two
        // rejections.
        if (++rejected === 2) return false
        continue
      }
      if (!isSameOutcome(outcome!, before)) return false
      accepted += 1
    }
    return accepted > 0
  }
  const bits = Array.from({ length: lastBit - firstBit + 1 }, (_, index) => firstBit + index)
  return {
    quiet: good.length === 0 ? [] : bits.filter(isQuiet),
    runs,
    refused: good.length === 0 ? first : null,
  }
}
