/**
 * Reasons why some flipped bits have no effect in the tested states (`flips.ts`). If a flip has no
 * effect and no known reason, the test fails, because the emulator may ignore a bit that it should
 * read.
 */
import type { Instruction, Operand } from '../../../src-main/domain/sass/instruction'

/** The change in the decoded instruction after one bit is flipped. */
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
  /** The meaning of the flipped bits. */
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

/** Matches a change in an integer's signedness or width. */
const signs = /^[US]?(8|16|32|64)? ?> ?[US]?(8|16|32|64)?$/

export const reasons: readonly Reason[] = [
  {
    bits: 'the descriptor of a global access or a copy',
    why: 'it describes the whole address space or is a cache hint; the address is in other registers',
    explains: (change) =>
      of(/^(LD|ST|ATOM|RED|UTMA|UBLK)/, { fields: /descriptor|^word\.text$/ })(change) ||
      adds(/^UTMA/)(change),
  },
  {
    bits: 'the scoreboard of a warpgroup product',
    why: 'products complete when they are issued',
    explains: (change) =>
      of(/^[HQ]GMMA$/, { fields: /^scoreboard/ })(change) || adds(/^[HQ]GMMA$/)(change),
  },
  {
    bits: 'the targets of `BSSY` and `WARPSYNC.COLLECTIVE`, the registers of `USETMAXREG`, the duration of `NANOSLEEP`, the number of `BPT`',
    why: 'lanes reconverge at `BSYNC` and `WARPSYNC`, registers are always available, sleeps end immediately, and a trap with any number stops the kernel',
    explains: of(/^(BSSY|WARPSYNC|USETMAXREG|NANOSLEEP|BPT)$/, {
      modifiers: /^(CTAPOOL >|> CTAPOOL|COLLECTIVE >|> COLLECTIVE)$/,
      fields: /^(target|immediate|register|uniform-register)/,
    }),
  },
  {
    bits: '`BRA.U`, `CALL.NOINC`, `RET.NODEC` and other branch variants',
    why: 'they are hints for the branch unit; the guard predicate decides which lanes branch',
    explains: (change) =>
      of(/^(BRA|CALL|RET)$/, { modifiers: /^(U|NOINC|NODEC)? ?> ?(U|NOINC|NODEC)?$/ })(change) ||
      adds(/^BRA$/)(change),
  },
  {
    bits: '`SYNCS.CCTL.IV`, and `RED` in an arrival',
    why: 'the emulated shared memory has no cached copies to invalidate; in its own block, an arrival without a result has the same effect',
    explains: of(/^SYNCS$/, {
      modifiers: /^(RED >|> RED)$/,
      fields: /^memory\.(offset|register|uniform)$/,
    }),
  },
  {
    bits: 'the register of an arrival with count 1 and no bytes (`A1T0`)',
    why: 'the modifier contains the count',
    explains: of(/^SYNCS$/, { fields: /^register\.index$/ }),
  },
  {
    bits: 'the sign of an integer type',
    why: 'the low half of a product, sums, bitwise logic, exchanges, left shifts, stores and equality tests do not depend on it',
    explains: of(/^(ATOMG?|ATOMS|REDG?|REDUX|STG?|STS|STL|U?IMAD|U?SHF|U?ISETP|MATCH)$/, {
      modifiers: signs,
    }),
  },
  {
    bits: '`X` or `EX`, which add a carry',
    why: 'the carry predicate is PT or !PT, which adds nothing',
    explains: ({ modifiers }) => /^(MOV|SHL|IADD)? ?> ?([US]32 )?E?X( [US]32)?$/.test(modifiers),
  },
  {
    bits: '`GE` and `GT`, `LE` and `LT` of a comparison with `EX`',
    why: 'if the high halves are equal, the low halves decide',
    explains: of(/^U?ISETP$/, { modifiers: /^(GE > GT|GT > GE|LE > LT|LT > LE)$/ }),
  },
  {
    bits: 'the other half of the shifted value, its width, and `W`',
    why: 'a shift by an immediate below 32 moves no bits from that half into the result and needs no wrapping',
    explains: of(/^U?SHF$/, { modifiers: /^(W >|> W)$/, fields: /^(uniform-)?register\.index$/ }),
  },
  {
    bits: 'the input predicate of `LOP3`',
    why: 'it affects only the output predicate, which is PT',
    explains: of(/^U?P?LOP3$/, { fields: /^(uniform-)?predicate\.(index|negated)$|^immediate/ }),
  },
  {
    bits: 'immediate bits beyond those that are read',
    why: '`PRMT` reads 16 bits, a shift with `W` 5 or 6 bits, `SHFL` 5 bits each of the lane and the segment, `R2P` one bit per predicate, and `BAR` a few bits',
    explains: of(/^(U?PRMT|U?SHF|SHFL|BAR|R2P)$/, { fields: /^immediate/ }),
  },
  {
    bits: 'signs of a zero register and of the argument of an even function',
    why: '`FCHK` depends on exponents only, cosine is even, and the sign of zero does not change a sum',
    explains: of(/^(FCHK|MUFU|HADD2|HFMA2|HMUL2|IMAD|FSETP|FADD|FMUL|FFMA)$/, {
      fields: /\.(negated|absolute|suffixes|inverted)$/,
    }),
  },
  {
    bits: 'rounding mode of a conversion, and `FTZ`',
    why: 'a small integer is exact as a float, a negative number converts to unsigned 0, and a denormal number also rounds to 0',
    explains: of(/^(F2I|I2F|I2FP|FRND|F2F|F2FP)$/, {
      modifiers: /^(FTZ|R[MPZ]|TRUNC|FLOOR|CEIL)? ?> ?(FTZ|R[MPZ]|TRUNC|FLOOR|CEIL)?$/,
    }),
  },
  {
    bits: '`FTZ` with an immediate operand, and the type or function of an immediate',
    why: 'only denormal numbers or other immediates would',
    shows: true,
    explains: of(/^(F(ADD|MUL|FMA|SETP|SEL|MNMX|CHK)|DSETP|I2F|MUFU)$/, {
      modifiers:
        /^(FTZ|[US](8|16|32|64)|GEU|GTU|LEU|LTU|RSQ)? ?> ?(FTZ|[US](8|16|32|64)|GEU|GTU|LEU|LTU|RCP|SIN)?$/,
      fields: /^immediate/,
    }),
  },
  {
    bits: 'conditions and values that only a few inputs distinguish',
    why: 'the inputs would have to be equal numbers, bytes with their highest bit set, the same value in all lanes, a compare-and-swap that matches, or a barrier that is about to complete',
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
