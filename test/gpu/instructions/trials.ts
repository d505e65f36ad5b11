/**
 * Creates trials of single instructions. The trials cover every form that nvcc emitted for sm_90
 * (test/captures/sass), with different registers, predicates, and signs, in several states.
 */
import { isControl } from '../../../src-main/domain/emulator/control'
import { isNothing } from '../../../src-main/domain/emulator/steps'
import { decodeInstruction } from '../../../src-main/domain/sass/decode'
import type { Instruction, MemoryOperand } from '../../../src-main/domain/sass/instruction'
import { printOpcode } from '../../../src-main/domain/sass/print'
import {
  firstRegister,
  firstUniform,
  parameterOffset,
  parameterWords,
  rows,
  sharedStart,
  type Override,
  type Palette,
  type Trial,
} from './state'
import { bitsAt, nop, put, scheduled, wordsOf, type Words } from './template'

export interface FormTrial extends Trial {
  words: Words
  /** The opcode with modifiers, and the operand kinds. */
  form: string
}

/** Returns a generator of numbers from 0 to 1 that depend only on the seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export const decode = (words: Words): Instruction | null => {
  const found = decodeInstruction(words, 0x10, 90)
  return 'unknown' in found ? null : found
}

/**
 * Returns an operand's kind as text. For memory operands, the text has the address width,
 * descriptor, and uniform register.
 */
const kindOf = (operand: Instruction['operands'][number]): string =>
  operand.kind === 'memory'
    ? `memory${operand.width}${operand.descriptor === null ? '' : ' described'}${operand.uniform === null ? '' : ' uniform'}`
    : operand.kind

export const formOf = (instruction: Instruction): string =>
  [printOpcode(instruction), ...instruction.operands.map(kindOf)].join(' ')

/**
 * Matches instructions that need several warps, need memory that a trial lacks, or read the time.
 */
const leftOut =
  /^(HGMMA|QGMMA|IGMMA|UTMA|UBLK|SYNCS|ARRIVES|LDL$|STL$|CS2R|S2UR|USETMAXREG|LEPC|RPCMOV|QSPC|WARPGROUP|REDUX)/
const timeless = /^SR_(LANEID|TID\.[XYZ]|CTAID\.[XYZ]|EQMASK|LTMASK|LEMASK|GTMASK|GEMASK)$/

export const isTried = (instruction: Instruction): boolean =>
  !isControl(instruction) &&
  !isNothing(instruction) &&
  (!leftOut.test(instruction.mnemonic) || instruction.mnemonic === 'REDUX') &&
  instruction.operands.every(
    (operand) => operand.kind !== 'special-register' || timeless.test(operand.name),
  )

const paletteOf = ({ mnemonic, modifiers }: Instruction, next: () => number): Palette => {
  if (/^(HMMA|MOVM)$/.test(mnemonic)) return next() < 0.5 ? 'halves' : 'wide halves'
  if (/^H/.test(mnemonic)) return next() < 0.4 ? 'wide halves' : next() < 0.5 ? 'halves' : 'general'
  if (/^D(ADD|MUL|FMA|SETP|MMA)/.test(mnemonic) || modifiers.includes('F64'))
    return next() < 0.8 ? 'doubles' : 'general'
  return 'general'
}

/** Bit positions of the register fields. */
const registerFields = [16, 24, 32, 64] as const
const uniformFields = [16, 24, 32, 64] as const
const predicateFields = [68, 77, 81, 84, 87] as const

const same = (a: Instruction | null, form: string): boolean => a !== null && formOf(a) === form

/** Returns whether different bits in a field only select another register of the same operand. */
function isRegisterField(words: Words, at: number, uniform: boolean): boolean {
  const width = uniform ? 6 : 8
  const [one, other] = [put(words, at, width, 12), put(words, at, width, 20)].map(decode)
  const form = decode(words)
  if (!one || !other || !form || formOf(one) !== formOf(other)) return false
  const kind = uniform ? 'uniform-register' : 'register'
  return one.operands.some((operand, place) => {
    const second = other.operands[place]!
    if (operand.kind === kind && second.kind === kind)
      return operand.index === 12 && second.index === 20
    return false
  })
}

/**
 * Returns the field that encodes a part of a memory operand. Encodes two values in each field and
 * decodes the result to find the right field.
 */
const fieldOf = (
  words: Words,
  fields: readonly number[],
  width: number,
  place: number,
  part: (operand: MemoryOperand) => number | null,
): number | undefined =>
  fields.find((field) =>
    [20, 24].every((value) => {
      const found = decode(put(words, field, width, value))?.operands.filter(
        ({ kind }) => kind === 'memory',
      )[place]
      return found?.kind === 'memory' && part(found) === value
    }),
  )

/**
 * Sets an instruction's address registers, and returns the contents that the registers must have.
 */
function addressed(
  instruction: Instruction,
  words: Words,
): { words: Words; overrides: Override[] } | null {
  const overrides: Override[] = []
  let changed = words
  const { mnemonic, modifiers } = instruction
  const operands = instruction.operands.filter((operand) => operand.kind === 'memory')
  const bytes = modifiers.includes('128') || /LDSM|STSM/.test(mnemonic) ? 16 : 8
  const space = (operand: MemoryOperand): 'global' | 'shared' =>
    operand.descriptor !== null || /^(ATOM|ATOMG|LD|ST|RED|REDG|LDG|STG)$/.test(mnemonic)
      ? 'global'
      : 'shared'
  for (const [place, operand] of operands.entries()) {
    const target = space(operand)
    const start = target === 'global' ? 1024 : sharedStart + 1024
    const register = firstRegister + 2 * place
    const uniform = firstUniform + 2 * place
    const { offset, scale } = operand
    const hasRegister = operand.register !== null && operand.register !== 255
    const hasUniform = operand.uniform !== null && operand.uniform !== 63
    if (hasRegister) {
      if (scale !== 1 && (start - offset) % scale !== 0) return null
      const at = fieldOf(changed, registerFields, 8, place, (found) => found.register)
      if (at === undefined) return null
      changed = put(changed, at, 8, register)
      const beside = hasUniform ? 64 : 0
      overrides.push({
        row: rows.general + register - firstRegister,
        kind:
          target === 'global' && operand.width === 32 && hasUniform
            ? 'word'
            : target === 'global'
              ? 'global'
              : 'word',
        start: (start - offset - beside) / scale,
        step: scale === 1 ? bytes : bytes / scale < 1 ? 4 : bytes / scale,
      })
      if (target === 'global' && operand.width === 32 && hasUniform) {
        // The register contains a 32-bit offset that is added to a uniform address.
        overrides.pop()
        overrides.push({
          row: rows.general + register - firstRegister,
          kind: 'word',
          start: 512,
          step: bytes,
        })
      }
    }
    if (hasUniform) {
      const at = fieldOf(changed, uniformFields, 6, place, (found) => found.uniform)
      if (at === undefined) return null
      changed = put(changed, at, 6, uniform)
      const row = rows.uniform + uniform - firstUniform
      if (target === 'shared')
        overrides.push({ row, kind: 'word', start: hasRegister ? 64 : start - offset, step: 0 })
      else if (hasRegister && operand.width === 64)
        overrides.push(
          { row, kind: 'word', start: 64, step: 0 },
          { row: row + 1, kind: 'word', start: 0, step: 0 },
        )
      else
        overrides.push({
          row,
          kind: 'global',
          start: start - offset - (hasRegister ? 512 : 0),
          step: 0,
        })
    }
    if (!hasRegister && !hasUniform) return null
    if (operand.descriptor !== null) {
      const at = fieldOf(changed, [32, 64], 6, place, (found) => found.descriptor)
      if (at === undefined) return null
      changed = put(changed, at, 6, 4)
    }
  }
  return { words: changed, overrides }
}

/** Changes constant operands so that they read the parameter words. */
function constants(
  instruction: Instruction,
  words: Words,
): { words: Words; overrides: Override[] } | null {
  const overrides: Override[] = []
  let changed = words
  for (const operand of instruction.operands) {
    if (operand.kind !== 'constant') continue
    if (typeof operand.bank !== 'number') return null
    const within = operand.offset & 3
    const step = 16 * ((operand.offset >> 4) % (parameterWords / 4 - 8))
    changed = put(put(changed, 54, 5, 0), 38, 16, parameterOffset + step + within)
    if (operand.register !== null && operand.register !== 255) {
      changed = put(changed, 24, 8, firstRegister + 4)
      overrides.push({ row: rows.general + 4, kind: 'word', start: 0, step: 4 })
    }
    if (operand.uniform !== null && operand.uniform !== 63) {
      changed = put(changed, 24, 6, firstUniform + 4)
      overrides.push({ row: rows.uniform + 4, kind: 'word', start: 32, step: 0 })
    }
  }
  return { words: changed, overrides }
}

/** Matches instructions that all lanes of a warp must execute. */
const wholeWarp = /^(HMMA|IMMA|DMMA|MOVM|LDSM|STSM)/

/** Returns whether the state contains a register, or the register reads as zero. */
const isLoaded = (operand: Instruction['operands'][number]): boolean =>
  operand.kind === 'register'
    ? operand.index === 255 || (operand.index >= firstRegister && operand.index <= 44)
    : operand.kind === 'uniform-register'
      ? operand.index === 63 || (operand.index >= firstUniform && operand.index <= 30)
      : true

/**
 * Returns a trial from an encoding, with registers and predicates chosen by `next`. Returns null if
 * the trial's addresses cannot be set.
 */
function trialOf(
  from: Words,
  form: string,
  variant: number,
  seed: number,
  barriers: readonly [number, number],
): FormTrial | null {
  const next = seeded(seed)
  let words = from
  // Data is stored in R16 and above, and addresses are stored in lower-numbered registers.
  const data = [16, 20, 24, 28, 32, 36, 40, 44].sort(() => next() - 0.5)
  const uniforms = [16, 20, 24, 28].sort(() => next() - 0.5)
  if (variant > 0) {
    for (const at of predicateFields) {
      if (next() < 0.3) continue
      const changed = put(words, at, 3, Math.floor(7 * next()))
      if (same(decode(changed), form)) words = changed
    }
    // Sign bits change an operand without changing the form.
    for (const at of [62, 63, 72, 73, 74, 75, 80, 83, 84])
      if (next() < 0.3) {
        const changed = put(words, at, 1, next() < 0.5 ? 1 : 0)
        if (same(decode(changed), form)) words = changed
      }
  }
  for (const at of registerFields) {
    const zero = bitsAt(words, at, 8) === 255
    if (!isRegisterField(words, at, false) || (zero && (variant === 0 || next() < 0.4))) continue
    const changed = put(words, at, 8, data.shift()!)
    if (same(decode(changed), form)) words = changed
  }
  for (const at of uniformFields) {
    const zero = bitsAt(words, at, 6) === 63
    if (!isRegisterField(words, at, true) || (zero && (variant === 0 || next() < 0.4))) continue
    const changed = put(words, at, 6, uniforms.shift() ?? 16)
    if (same(decode(changed), form)) words = changed
  }
  // In half of the trials, only part of the warp is active. Instructions that need the whole warp
  // are excluded.
  const guarded = variant % 2 === 1 && !wholeWarp.test(form)
  words = put(words, 12, 4, guarded ? Math.floor(7 * next()) | (next() < 0.5 ? 8 : 0) : 7)
  let instruction = decode(words)
  if (!instruction) return null
  const withConstants = constants(instruction, words)
  if (!withConstants) return null
  words = withConstants.words
  instruction = decode(words)
  if (!instruction) return null
  const withAddresses = addressed(instruction, words)
  if (!withAddresses) return null
  words = withAddresses.words
  const last = decode(words)
  if (!last || formOf(last) !== form || !last.operands.every(isLoaded)) return null
  const immediate = last.operands.find(({ kind }) => kind === 'immediate')
  return {
    form,
    words: scheduled(words, ...barriers),
    seed,
    palette: paletteOf(last, next),
    immediate: immediate?.kind === 'immediate' ? immediate.bits >>> 0 : 5,
    overrides: [...withConstants.overrides, ...withAddresses.overrides],
  }
}

const none = 7

/**
 * Returns trials for every instruction form in a listing. The first columns of the listing are
 * `sm`, address and encoding.
 */
export function trialsOf(
  listing: string,
  variants: number,
): { trials: FormTrial[]; leftOut: string[] } {
  const forms = new Map<string, Words[]>()
  const waits = new Map<string, [boolean, boolean]>()
  for (const line of listing.split('\n')) {
    const [architecture, , encoding] = line.split('\t')
    if (architecture !== '90' || encoding === undefined) continue
    const words = wordsOf(encoding)
    const instruction = decode(words)
    if (!instruction) continue
    const form = formOf(instruction)
    forms.set(form, [...(forms.get(form) ?? []), words])
    const { writeBarrier, readBarrier } = instruction.control
    const known = waits.get(instruction.mnemonic) ?? [false, false]
    waits.set(instruction.mnemonic, [
      known[0] || writeBarrier !== null,
      known[1] || readBarrier !== null,
    ])
  }
  // The NOP trials verify that the template code does not change the state.
  const trials: FormTrial[] = [0, 1, 2, 3, 4].map((seed) => ({
    ...{ form: 'NOP', words: nop, seed, palette: 'general' as const, immediate: 5, overrides: [] },
  }))
  const leftOut: string[] = []
  let seed = 5
  for (const [form, encodings] of [...forms].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const instruction = decode(encodings[0]!)!
    if (!isTried(instruction)) {
      leftOut.push(form)
      continue
    }
    const [writes, reads] = waits.get(instruction.mnemonic)!
    const barriers = [writes ? 0 : none, reads ? 1 : none] as const
    const count = instruction.mnemonic === 'HMMA' ? 5 * variants : variants
    let made = 0
    for (let variant = 0; variant < 2 * count && made < count; variant++) {
      const trial = trialOf(encodings[variant % encodings.length]!, form, variant, seed++, barriers)
      if (trial === null) continue
      trials.push(trial)
      made++
    }
    if (made === 0) leftOut.push(form)
  }
  return { trials, leftOut }
}

/**
 * Returns trials of forms that nvcc did not emit. Each trial is created by flipping one modifier
 * bit of another trial.
 */
export function neighborsOf(trials: readonly FormTrial[]): FormTrial[] {
  const known = new Set(trials.map(({ form }) => form))
  const found: FormTrial[] = []
  for (const trial of trials)
    for (const bit of [58, 59, 60, 61, 62, 63, ...Array.from({ length: 20 }, (_, at) => 72 + at)]) {
      const words = put(trial.words, bit, 1, 1 - bitsAt(trial.words, bit, 1))
      const instruction = decode(words)
      if (!instruction || !isTried(instruction)) continue
      const form = formOf(instruction)
      if (known.has(form) || !instruction.operands.every(isLoaded)) continue
      known.add(form)
      found.push({ ...trial, words, form })
    }
  const next = seeded(47)
  return found
    .map((trial) => ({ trial, at: next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ trial }) => trial)
}
