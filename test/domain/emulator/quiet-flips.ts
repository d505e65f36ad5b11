/**
 * Reasons why some flipped bits have no effect in the tested states (`flips.ts`). If a flip has no
 * effect and no reason, the test fails, because the emulator may ignore a bit that it should read.
 */
import type { Instruction, Operand } from '../../../src-main/domain/sass/instruction'

/** How flipping one bit changes the decoded instruction. */
export interface Change {
  mnemonic: string
  /** The removed modifiers and the added modifiers, such as `U32 > S32`. */
  modifiers: string
  /** Names of the changed operand fields, such as `register.index`. */
  fields: readonly string[]
  /** The number of added operands. */
  more: number
}

const fieldsOf = (one: Operand, other: Operand | undefined): string[] =>
  Object.entries(one)
    .filter(([key, value]) => {
      const changed = other && (other as unknown as Record<string, unknown>)[key]
      return JSON.stringify(value) !== JSON.stringify(changed)
    })
    .map(([key]) => `${one.kind}.${key}`)

export function changeOf(before: Instruction, after: Instruction): Change {
  const only = (one: Instruction, other: Instruction): string =>
    one.modifiers.filter((word) => !other.modifiers.includes(word)).join(' ')
  const [gone, added] = [only(before, after), only(after, before)]
  const more = after.operands.length - before.operands.length
  return {
    mnemonic: before.mnemonic,
    modifiers: gone === '' && added === '' ? '' : `${gone} > ${added}`.trim(),
    fields:
      more === 0
        ? before.operands.flatMap((operand, place) => fieldsOf(operand, after.operands[place]))
        : [],
    more,
  }
}

export interface Reason {
  /** The meaning of the bits. */
  bits: string
  why: string
  /** Whether values that the test does not use would reveal the flip. */
  shows?: boolean
  explains: (change: Change) => boolean
}

/** Returns a predicate that matches changes by opcode, and by modifiers or operand fields. */
const of =
  (opcodes: RegExp, { modifiers, fields }: { modifiers?: RegExp; fields?: RegExp }) =>
  (change: Change): boolean =>
    opcodes.test(change.mnemonic) &&
    (modifiers !== undefined && change.modifiers !== ''
      ? modifiers.test(change.modifiers)
      : fields !== undefined &&
        change.fields.length > 0 &&
        change.fields.every((field) => fields.test(field)))

const adds = (opcodes: RegExp) => (change: Change) =>
  change.more !== 0 && change.modifiers === '' && opcodes.test(change.mnemonic)

/** Matches a change of the signedness or width of an integer. */
const signs = /^[US]?(8|16|32|64)? ?> ?[US]?(8|16|32|64)?$/

export const reasons: readonly Reason[] = [
  {
    bits: 'the descriptor of a global access or a copy',
    why: 'it describes the whole address space or is a hint for the cache; the address is in the other registers',
    explains: (change) =>
      of(/^(LD|ST|ATOM|RED|UTMA|UBLK)/, { fields: /descriptor|^word\.text$/ })(change) ||
      adds(/^UTMA/)(change),
  },
  {
    bits: 'the scoreboard of a warpgroup product',
    why: 'products are done when they are issued',
    explains: (change) =>
      of(/^[HQ]GMMA$/, { fields: /^scoreboard/ })(change) || adds(/^[HQ]GMMA$/)(change),
  },
  {
    bits: 'the targets of `BSSY` and `WARPSYNC.COLLECTIVE`, the registers of `USETMAXREG`, the duration of `NANOSLEEP`, the number of `BPT`',
    why: 'lanes meet at `BSYNC` and `WARPSYNC`, registers are there, sleeps are over at once, and a trap stops the kernel whatever its number',
    explains: of(/^(BSSY|WARPSYNC|USETMAXREG|NANOSLEEP|BPT)$/, {
      modifiers: /^(CTAPOOL >|> CTAPOOL|COLLECTIVE >|> COLLECTIVE)$/,
      fields: /^(target|immediate|register|uniform-register)/,
    }),
  },
  {
    bits: '`BRA.U`, `CALL.NOINC`, `RET.NODEC` and other names of a jump',
    why: 'hints for the branch unit; the guard decides which lanes jump',
    explains: (change) =>
      of(/^(BRA|CALL|RET)$/, { modifiers: /^(U|NOINC|NODEC)? ?> ?(U|NOINC|NODEC)?$/ })(change) ||
      adds(/^BRA$/)(change),
  },
  {
    bits: '`SYNCS.CCTL.IV`, and `RED` of an arrival',
    why: 'the emulated shared memory has no copies to invalidate; an arrival without a result is the same in its own block',
    explains: of(/^SYNCS$/, {
      modifiers: /^(RED >|> RED)$/,
      fields: /^memory\.(offset|register|uniform)$/,
    }),
  },
  {
    bits: 'the register of an arrival that counts one and brings no bytes (`A1T0`)',
    why: 'the count is in the name',
    explains: of(/^SYNCS$/, { fields: /^register\.index$/ }),
  },
  {
    bits: 'the sign of a whole number',
    why: 'the low half of a product, sums, logic, exchanges, shifts to the left, stores and tests for equality do not depend on it',
    explains: of(/^(ATOMG?|ATOMS|REDG?|REDUX|STG?|STS|STL|U?IMAD|U?SHF|U?ISETP|MATCH)$/, {
      modifiers: signs,
    }),
  },
  {
    bits: '`X` or `EX`, which add a carry',
    why: 'the predicate that is read then is PT or !PT, which adds nothing',
    explains: ({ modifiers }) => /^(MOV|SHL|IADD)? ?> ?([US]32 )?E?X( [US]32)?$/.test(modifiers),
  },
  {
    bits: '`GE` and `GT`, `LE` and `LT` of a comparison with `EX`',
    why: 'where the high halves are equal, the low ones decide',
    explains: of(/^U?ISETP$/, { modifiers: /^(GE > GT|GT > GE|LE > LT|LT > LE)$/ }),
  },
  {
    bits: 'the other half of what is shifted, its width, and `W`',
    why: 'an immediate below 32 moves nothing from it into the result, and needs no wrapping',
    explains: of(/^U?SHF$/, { modifiers: /^(W >|> W)$/, fields: /^(uniform-)?register\.index$/ }),
  },
  {
    bits: 'the predicate that `LOP3` reads',
    why: 'it counts only in a predicate that is written, and that is PT',
    explains: of(/^U?P?LOP3$/, { fields: /^(uniform-)?predicate\.(index|negated)$|^immediate/ }),
  },
  {
    bits: 'bits of an immediate that is wider than what is read',
    why: '`PRMT` takes 16 bits, a shift with `W` 5 or 6, `SHFL` 5 of a lane and of its segment, `R2P` one of each predicate, `BAR` a few',
    explains: of(/^(U?PRMT|U?SHF|SHFL|BAR|R2P)$/, { fields: /^immediate/ }),
  },
  {
    bits: 'signs of a zero register and of an even function',
    why: '`FCHK` follows the exponents, a cosine is even, and zero has one value in a sum',
    explains: of(/^(FCHK|MUFU|HADD2|HFMA2|HMUL2|IMAD|FSETP|FADD|FMUL|FFMA)$/, {
      fields: /\.(negated|absolute|suffixes|inverted)$/,
    }),
  },
  {
    bits: 'rounding of a conversion, and `FTZ`',
    why: 'a small whole number is exact as a float, a negative one is 0 without a sign, and a denormal number rounds to 0 as well',
    explains: of(/^(F2I|I2F|I2FP|FRND|F2F|F2FP)$/, {
      modifiers: /^(FTZ|R[MPZ]|TRUNC|FLOOR|CEIL)? ?> ?(FTZ|R[MPZ]|TRUNC|FLOOR|CEIL)?$/,
    }),
  },
  {
    bits: '`FTZ` beside an immediate, and the type or function of an immediate',
    why: 'only denormal numbers, or other immediates, show it',
    shows: true,
    explains: of(/^(F(ADD|MUL|FMA|SETP|SEL|MNMX|CHK)|DSETP|I2F|MUFU)$/, {
      modifiers:
        /^(FTZ|[US](8|16|32|64)|GEU|GTU|LEU|LTU|RSQ)? ?> ?(FTZ|[US](8|16|32|64)|GEU|GTU|LEU|LTU|RCP|SIN)?$/,
      fields: /^immediate/,
    }),
  },
  {
    bits: 'conditions and values that few numbers tell apart',
    why: 'equal numbers, bytes with their highest bit set, a value that all lanes have, an exchange that finds what it compares with, a barrier that is about to be complete',
    shows: true,
    explains: (change) =>
      of(/^(U?ISETP|[FD]SETP|U?LDC|MATCH|VOTE|ATOM.*|ULOP3|UIADD3|BAR|SYNCS|CS2R)$/, {
        modifiers: /^[A-Z0-9]* ?> ?[A-Z0-9]*$/,
        fields:
          /^(uniform-)?(register|predicate)\.(index|negated|absolute)$|^immediate|^special-register/,
      })(change) || adds(/^BAR$/)(change),
  },
]

/** Returns the first reason that explains a change, or null if there is no such reason. */
export const reasonOf = (change: Change): Reason | null =>
  reasons.find(({ explains }) => explains(change)) ?? null
