/** Between number formats. */
import {
  a,
  ab,
  alu,
  always,
  b,
  before,
  c,
  choice,
  d,
  fixed,
  flag,
  when,
  type Draft,
  type Opcode,
  type Part,
} from '../parts'

const floatSource = { neg: true, abs: true, imm: 'f32' } as const
const toNearest = choice(78, 2, ['', 'RM', 'RP', 'RZ'])
const toInteger = choice(78, 2, ['', 'FLOOR', 'CEIL', 'TRUNC'])
const ftz = flag(80, 'FTZ')

/** A narrow source in a register: which half or byte of it. */
const part = ({ encoding }: Draft): string[] => {
  const which = encoding.bits(60, 2)
  const narrow = encoding.bits(84, 2)
  return which === 0 ? [] : [narrow === 0 ? `B${which}` : `H${which}`]
}
const sourceBits = 84
const narrowFloat = when(
  sourceBits,
  2,
  1,
  [b({ ...floatSource, suffixes: part })],
  [b(floatSource)],
)

/** An integer format: 2 bits of its size and one of its sign; 32 signed bits go without saying. */
const integer =
  (sizeAt: number, signAt: number): Part =>
  ({ encoding, modifiers }) => {
    const name = `${encoding.bit(signAt) ? 'S' : 'U'}${8 << encoding.bits(sizeAt, 2)}`
    if (name !== 'S32') modifiers.push(name)
  }

/** Rounding to an integer leaves the format as it is. */
const sameFormat: Part = ({ encoding }) => {
  if (encoding.bits(sourceBits, 2) !== encoding.bits(75, 2)) encoding.known = false
}
const upperHalf = ({ encoding }: Draft): string[] => (encoding.bit(88) ? ['H1'] : [])

export const conversionOpcodes: Opcode[] = [
  ...[0x106, 0x112].map((base) =>
    alu(
      base,
      'I2F',
      ab,
      choice(75, 3, [undefined, 'F16', '', 'F64', 'BF16']),
      integer(84, 74),
      toNearest,
      d,
      when(sourceBits, 2, [0, 1], [b({ suffixes: part })], [b()]),
    ),
  ),
  ...[0x105, 0x111].map((base) =>
    alu(
      base,
      'F2I',
      ab,
      ftz,
      integer(75, 72),
      choice(sourceBits, 3, [undefined, 'F16', '', 'F64', 'BF16']),
      toInteger,
      flag(77, 'NTZ'),
      d,
      narrowFloat,
    ),
  ),
  ...[0x104, 0x110].map((base) =>
    alu(
      base,
      'F2F',
      ab,
      ftz,
      choice(75, 3, [undefined, 'F16', 'F32', 'F64', 'BF16']),
      choice(sourceBits, 3, [undefined, 'F16', 'F32', 'F64', 'BF16']),
      toNearest,
      d,
      narrowFloat,
    ),
  ),
  ...[0x107, 0x113].map((base) =>
    alu(
      base,
      'FRND',
      ab,
      ftz,
      choice(75, 2, [undefined, 'F16', '', 'F64']),
      sameFormat,
      toInteger,
      d,
      narrowFloat,
    ),
  ),
  alu(
    0x045,
    'I2FP',
    ab,
    choice(75, 2, [undefined, 'F16', 'F32']),
    flag(74, 'S32', 'U32'),
    toNearest,
    fixed(84, 2, 2),
    d,
    b(),
  ),
  alu(
    0x03e,
    'F2FP',
    ab,
    when(
      89,
      1,
      1,
      [
        always('F16'),
        choice(73, 2, [undefined, undefined, 'E5M2', 'E4M3']),
        always('UNPACK_B'),
        d,
        fixed(24, 8, 255),
        fixed(64, 8, 255),
        b({ suffixes: upperHalf }),
      ],
      [
        when(
          77,
          2,
          3,
          [
            flag(90, 'SATFINITE'),
            choice(76, 1, ['E5M2', 'E4M3']),
            always('F32'),
            always('PACK_AB_MERGE_C'),
            fixed(87, 1, 1),
          ],
          [
            before(
              89,
              [choice(76, 1, ['', 'BF16'])],
              [choice(76, 1, ['F16', 'BF16']), always('F32')],
            ),
            fixed(77, 1, 0),
            flag(78, 'MERGE_C', 'PACK_AB'),
          ],
        ),
        choice(79, 2, ['', 'RM', 'RP', 'RZ']),
        d,
        a(floatSource),
        b(floatSource),
        when(78, 1, 1, [c()], [fixed(64, 8, 255)]),
      ],
    ),
  ),
]
