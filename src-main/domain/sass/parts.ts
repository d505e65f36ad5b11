/**
 * Building blocks for describing opcodes. A table entry is a list of parts in printed order. Each
 * part reads some bits of the encoding and adds a modifier or an operand to the instruction.
 */
import type { Encoding, ImmediateOperand, Operand, RegisterOperand } from './instruction'

export interface Draft {
  readonly encoding: Encoding
  readonly address: number
  readonly architecture: number
  mnemonic: string
  /**
   * Whether the guard is a uniform predicate, such as `@UP0` for an instruction of the uniform
   * datapath.
   */
  uniformGuard: boolean
  readonly modifiers: string[]
  readonly operands: Operand[]
}

export type Part = (draft: Draft) => void

export interface Opcode {
  /** The opcode's low 12 bits. Each source form has its own code. */
  readonly codes: readonly number[]
  readonly mnemonic: string
  readonly parts: readonly Part[]
}

export const opcode = (
  codes: number | readonly number[],
  mnemonic: string,
  ...parts: Part[]
): Opcode => ({
  codes: typeof codes === 'number' ? [codes] : codes,
  mnemonic,
  parts,
})

/*
 * Source forms of arithmetic opcodes. The opcode itself has 9 bits. Bits 9 to 11 encode the form,
 * which determines the meaning of the 32 bits starting at bit 32. Whichever of b and c is not in
 * these 32 bits is a register at bit 64.
 *
 * Forms 1, 4, 5 and 6: source b is a register, an immediate, a constant or a uniform register.
 * Forms 2, 3 and 7: source c is an immediate, a constant or a uniform register.
 */
type Form = 1 | 2 | 3 | 4 | 5 | 6 | 7
export const abc: readonly Form[] = [1, 2, 3, 4, 5, 6, 7]
/** Forms with one or two sources. The second source is at bit 32. */
export const ab: readonly Form[] = [1, 4, 5, 6]
/** Forms with two sources. The second source is encoded like a third source. */
export const ac: readonly Form[] = [1, 2, 3, 7]

export const alu = (
  base: number,
  mnemonic: string,
  forms: readonly Form[],
  ...parts: Part[]
): Opcode =>
  opcode(
    forms.map((form) => (form << 9) | base),
    mnemonic,
    ...parts,
  )

const formOf = ({ encoding }: Draft): Form => encoding.bits(9, 3) as Form

/** Width of a uniform register number in bits. For URZ, all bits are set. */
const uniformBits = 6

/* Modifiers */

/**
 * Adds a modifier that is printed if the bit is set. If the bit is clear, `otherwise` is printed.
 */
export const flag =
  (at: number, name: string, otherwise = ''): Part =>
  ({ encoding, modifiers }) => {
    const text = encoding.bit(at) ? name : otherwise
    if (text) modifiers.push(text)
  }

/**
 * Adds a modifier that depends on the value of a field. Nothing is printed if the name is empty. If
 * the name is missing, the instruction is unknown.
 */
export const choice =
  (
    at: number,
    width: number,
    names: readonly (string | undefined)[] | Readonly<Record<number, string>>,
  ): Part =>
  ({ encoding, modifiers }) => {
    const name = (names as Readonly<Record<number, string | undefined>>)[encoding.bits(at, width)]
    if (name === undefined) encoding.known = false
    else if (name) modifiers.push(...name.split('.'))
  }

/** Adds a modifier that does not depend on the bits. */
export const always =
  (name: string): Part =>
  ({ modifiers }) => {
    modifiers.push(name)
  }

/**
 * Requires a field to have the given value. If the field has another value, the instruction is
 * unknown.
 */
export const fixed =
  (at: number, width: number, value: number): Part =>
  ({ encoding }) => {
    if (encoding.bits(at, width) !== value) encoding.known = false
  }

/**
 * Uses the parts in `then` for architectures older than the given one, and the parts in `otherwise`
 * for all others.
 */
export const before =
  (architecture: number, then: readonly Part[], otherwise: readonly Part[] = []): Part =>
  (draft) => {
    for (const part of draft.architecture < architecture ? then : otherwise) part(draft)
  }

/**
 * Marks the guard as a uniform predicate. Use this part for opcodes whose name does not begin with
 * U.
 */
export const uniformGuard: Part = (draft) => {
  draft.uniformGuard = true
}

export const named =
  (mnemonic: string): Part =>
  (draft) => {
    draft.mnemonic = mnemonic
  }

/**
 * Uses the parts in `then` if a field has one of the given values, and the parts in `otherwise` if
 * not.
 */
export const when =
  (
    at: number,
    width: number,
    value: number | readonly number[],
    then: readonly Part[],
    otherwise: readonly Part[] = [],
  ): Part =>
  (draft) => {
    const values = typeof value === 'number' ? [value] : value
    const parts = values.includes(draft.encoding.bits(at, width)) ? then : otherwise
    for (const part of parts) part(draft)
  }

/* Operands */

export interface SourceOptions {
  /**
   * Whether the source can be negated or replaced with its absolute value. The positions of the
   * `neg` and `abs` bits depend on the source's position.
   */
  neg?: boolean
  abs?: boolean
  /** Whether the `neg` bit inverts the source's bits instead of negating the source. */
  not?: boolean
  /** Print format for an immediate. */
  imm?: ImmediateOperand['type'] | 'signed'
  /** Returns the suffixes printed after the source. */
  suffixes?: (draft: Draft, at: number) => string[]
  /** Bit positions of `neg` and `abs` for a source at bit 64, if they differ from the default. */
  at64?: readonly [neg: number, abs: number]
  /** Position of the bit that selects BF16 for packed halves. */
  bf16At?: number
}

/**
 * Operand-cache bits for the sources a, b and c. Each bit belongs to one source, regardless of
 * where the source is encoded.
 */
const reuseBits = { a: 122, b: 123, c: 124 } as const
type Reuse = keyof typeof reuseBits

function modifiersOf(draft: Draft, options: SourceOptions, negAt: number, absAt: number) {
  const { encoding } = draft
  const flipped = (options.neg || options.not) && encoding.bit(negAt)
  return {
    negated: Boolean(flipped && !options.not),
    inverted: Boolean(flipped && options.not),
    absolute: Boolean(options.abs && encoding.bit(absAt)),
  }
}

const slotBits: Readonly<Record<number, readonly [neg: number, abs: number]>> = {
  24: [72, 73],
  32: [63, 62],
  64: [75, 74],
}

function register(
  draft: Draft,
  at: number,
  options: SourceOptions = {},
  reuse?: Reuse,
): RegisterOperand {
  const [neg, abs] = (at === 64 && options.at64) || (slotBits[at] ?? [-1, -1])
  return {
    kind: 'register',
    index: draft.encoding.bits(at, 8),
    ...modifiersOf(draft, options, neg, abs),
    reuse: reuse !== undefined && draft.encoding.bit(reuseBits[reuse]),
    suffixes: options.suffixes?.(draft, at) ?? [],
  }
}

function uniformRegister(draft: Draft, at: number, options: SourceOptions = {}): Operand {
  const [neg, abs] = slotBits[at] ?? [-1, -1]
  return {
    kind: 'uniform-register',
    index: draft.encoding.bits(at, uniformBits),
    ...modifiersOf(draft, options, neg, abs),
    suffixes: options.suffixes?.(draft, at) ?? [],
  }
}

function immediate({ encoding }: Draft, { imm = 'integer', bf16At }: SourceOptions): Operand {
  const bits = encoding.bits(32, 32)
  if (bf16At !== undefined && encoding.bit(bf16At))
    return { kind: 'immediate', bits, type: 'bf16x2', signed: false }
  return imm === 'signed'
    ? { kind: 'immediate', bits: bits | 0, type: 'integer', signed: true }
    : { kind: 'immediate', bits, type: imm, signed: false }
}

/**
 * Returns a constant operand such as `c[0x0][0x160]`. If bit 91 is set, the operand has the form
 * `cx[UR4][0x160]`.
 */
function constant(draft: Draft, options: SourceOptions): Operand {
  const { encoding } = draft
  const [neg, abs] = slotBits[32]!
  const bindless = encoding.bit(91)
  return {
    kind: 'constant',
    bank: bindless ? { uniform: encoding.bits(32, uniformBits) } : encoding.bits(54, 5),
    offset: encoding.bits(38, 16),
    register: null,
    uniform: null,
    ...modifiersOf(draft, options, neg, abs),
    suffixes: options.suffixes?.(draft, 32) ?? [],
  }
}

function at32(draft: Draft, options: SourceOptions, reuse: Reuse): Operand {
  switch (formOf(draft)) {
    case 1:
      return register(draft, 32, options, reuse)
    case 2:
    case 4:
      return immediate(draft, options)
    case 3:
    case 5:
      return constant(draft, options)
    case 6:
    case 7:
      if (!draft.encoding.bit(91)) draft.encoding.known = false
      return uniformRegister(draft, 32, options)
  }
}

const source =
  (read: (draft: Draft) => Operand): Part =>
  (draft) => {
    draft.operands.push(read(draft))
  }

/** Adds a register at the given bit position. */
export const reg = (at: number, options: SourceOptions = {}, reuse?: Reuse): Part =>
  source((draft) => register(draft, at, options, reuse))
export const ureg = (at: number, options: SourceOptions = {}): Part =>
  source((draft) => uniformRegister(draft, at, options))

/** Adds the destination register. */
export const d = reg(16)
export const ud = ureg(16)

export const a = (options: SourceOptions = {}): Part =>
  source((draft) => register(draft, 24, options, 'a'))
export const b = (options: SourceOptions = {}): Part =>
  source((draft) =>
    ab.includes(formOf(draft)) ? at32(draft, options, 'b') : register(draft, 64, options, 'b'),
  )
export const c = (options: SourceOptions = {}): Part =>
  source((draft) =>
    ab.includes(formOf(draft)) ? register(draft, 64, options, 'c') : at32(draft, options, 'c'),
  )
/** Adds a third source that is always encoded at bit 32. */
export const c32 = (options: SourceOptions = {}): Part =>
  source((draft) => at32(draft, options, 'c'))

/** Requires bit 91 to be set. Bit 91 marks uniform opcodes, which use uniform registers. */
export const uniform = fixed(91, 1, 1)
export const ua = (options: SourceOptions = {}): Part => ureg(24, options)
const uniformAt32 = (draft: Draft, options: SourceOptions): Operand =>
  [2, 4].includes(formOf(draft)) ? immediate(draft, options) : uniformRegister(draft, 32, options)
export const ub = (options: SourceOptions = {}): Part =>
  source((draft) =>
    formOf(draft) === 2 ? uniformRegister(draft, 64, options) : uniformAt32(draft, options),
  )
export const uc = (options: SourceOptions = {}): Part =>
  source((draft) =>
    formOf(draft) === 2 ? uniformAt32(draft, options) : uniformRegister(draft, 64, options),
  )

/** Adds a predicate that the instruction writes. */
export const pd = (at: number): Part =>
  source(({ encoding }) => ({ kind: 'predicate', index: encoding.bits(at, 3), negated: false }))
export const upd = (at: number): Part =>
  source(({ encoding }) => ({
    kind: 'uniform-predicate',
    index: encoding.bits(at, 3),
    negated: false,
  }))

/**
 * Adds a predicate that the instruction reads. The predicate's negation bit usually follows its
 * number.
 */
export const ps = (at: number, negAt = at + 3): Part =>
  source(({ encoding }) => ({
    kind: 'predicate',
    index: encoding.bits(at, 3),
    negated: encoding.bit(negAt),
  }))
export const ups = (at: number, negAt = at + 3): Part =>
  source(({ encoding }) => ({
    kind: 'uniform-predicate',
    index: encoding.bits(at, 3),
    negated: encoding.bit(negAt),
  }))

/** Adds the operand of `part`, unless the operand is PT or UPT. */
export const unlessTrue =
  (part: Part): Part =>
  (draft) => {
    part(draft)
    const last = draft.operands.at(-1)
    if (
      (last?.kind === 'predicate' || last?.kind === 'uniform-predicate') &&
      last.index === 7 &&
      !last.negated
    )
      draft.operands.pop()
  }

export const int = (at: number, width: number): Part =>
  source(({ encoding }) => ({
    kind: 'immediate',
    bits: encoding.bits(at, width),
    type: 'integer',
    signed: false,
  }))

export const word = (text: string): Part => source(() => ({ kind: 'word', text }))

/** Adds a code address that is encoded relative to the next instruction. */
export const target =
  (read: (encoding: Encoding) => number): Part =>
  (draft) => {
    const distance = read(draft.encoding)
    // If the distance is not a safe integer, two encodings could have the same target. No kernel is
    // so long that a branch needs a larger distance.
    if (!Number.isSafeInteger(distance)) draft.encoding.known = false
    draft.operands.push({ kind: 'target', address: draft.address + 16 + distance })
  }

/* Memory */

interface MemoryOptions {
  /** Bit position and width of the offset. If absent, the address has no offset. */
  offset?: readonly [at: number, width: number]
  register?: number | null
  /** Number of the uniform base register, or null if the address has none. */
  uniform?: number | null
  descriptor?: number | null
  wide?: boolean
  scale?: 1 | 4 | 8 | 16
}

export const memory =
  (read: (draft: Draft) => MemoryOptions): Part =>
  (draft) => {
    const { offset, register, uniform, descriptor, wide, scale } = read(draft)
    draft.operands.push({
      kind: 'memory',
      register: register ?? null,
      width: wide ? 64 : 32,
      scale: scale ?? 1,
      uniform: uniform ?? null,
      descriptor: descriptor ?? null,
      offset: offset ? draft.encoding.signed(...offset) : 0,
    })
  }
