/**
 * Opcodes for FP32, FP64 and packed 16-bit arithmetic, and for conversions between number formats.
 */
import {
  a,
  ab,
  abc,
  ac,
  alu,
  always,
  b,
  c,
  choice,
  d,
  flag,
  pd,
  ps,
  unlessTrue,
  c32,
  when,
  type Draft,
  type Opcode,
  type Part,
  type SourceOptions,
  before,
  fixed,
} from '../parts'

const f32: SourceOptions = { neg: true, abs: true, imm: 'f32' }
const f64: SourceOptions = { neg: true, abs: true, imm: 'f64' }

const rounding = choice(78, 2, ['', 'RM', 'RP', 'RZ'])
const ftz = flag(80, 'FTZ')
const saturate = flag(77, 'SAT')
const comparisons = [
  'F',
  'LT',
  'EQ',
  'LE',
  'GT',
  'NE',
  'GE',
  'NUM',
  'NAN',
  'LTU',
  'EQU',
  'LEU',
  'GTU',
  'NEU',
  'GEU',
  'T',
]
const combination = choice(74, 2, ['AND', 'OR', 'XOR'])

/**
 * Predicate that selects one of two results. For minimum and maximum, the predicate is `PT` or
 * `!PT`.
 */
const selector = ps(87)

/* Suffixes of packed halves, which determine which half of a source is used for each result. */
const halves = ['', 'F32', 'H0_H0', 'H1_H1']
const halvesAt: Readonly<Record<number, number>> = { 24: 74, 32: 60, 64: 81 }
const half = ({ encoding }: Draft, at: number): string[] =>
  [halves[encoding.bits(halvesAt[at]!, 2)]!].filter(Boolean)
const h2: SourceOptions = {
  neg: true,
  abs: true,
  imm: 'f16x2',
  suffixes: half,
  at64: [84, 83],
  bf16At: 85,
}
/**
 * Returns the suffix of a product's second factor. In a complex product, the suffix selects the low
 * half and the negated high half.
 */
const complexHalf = (draft: Draft, at: number): string[] =>
  at === 32 && draft.encoding.bits(60, 2) === 0 && draft.encoding.bit(86)
    ? ['H0_NH1']
    : half(draft, at)
const h2fma: SourceOptions = { ...h2, suffixes: complexHalf }
const h2set: SourceOptions = { ...h2, bf16At: 65 }
const bf16 = flag(85, 'BF16_V2')

const halfSetParts = (result: Part[], more: Part[] = []): Part[] => [
  flag(65, 'BF16_V2'),
  ...more,
  choice(76, 4, comparisons),
  ftz,
  choice(69, 2, ['AND', 'OR', 'XOR']),
  ...result,
]

/** Condition under which negative results become zero. */
const relu: Part = when(79, 1, 1, [unlessTrue(ps(87))])

export const floatOpcodes: Opcode[] = [
  alu(0x021, 'FADD', ac, ftz, rounding, saturate, d, a(f32), c32(f32)),
  alu(
    0x020,
    'FMUL',
    ab,
    choice(84, 3, [undefined, 'D8', 'D4', 'D2', '', 'M2', 'M4', 'M8']),
    ftz,
    rounding,
    saturate,
    d,
    a(f32),
    b(f32),
  ),
  alu(0x023, 'FFMA', abc, ftz, rounding, saturate, d, a(f32), b(f32), c(f32)),
  alu(0x009, 'FMNMX', ab, ftz, flag(81, 'NAN'), flag(82, 'XORSIGN'), d, a(f32), b(f32), selector),
  alu(0x008, 'FSEL', ab, ftz, d, a(f32), b(f32), selector),
  alu(
    0x00b,
    'FSETP',
    ab,
    choice(76, 4, comparisons),
    ftz,
    combination,
    pd(81),
    pd(84),
    a(f32),
    b(f32),
    selector,
  ),
  alu(
    0x00a,
    'FSET',
    ab,
    always('BF'),
    choice(76, 4, comparisons),
    ftz,
    combination,
    d,
    a(f32),
    b(f32),
    selector,
  ),
  alu(0x102, 'FCHK', ab, pd(81), a(f32), b(f32)),
  alu(
    0x108,
    'MUFU',
    ab,
    choice(74, 6, ['COS', 'SIN', 'EX2', 'LG2', 'RCP', 'RSQ', 'RCP64H', 'RSQ64H', 'SQRT', 'TANH']),
    flag(73, 'F16'),
    d,
    b(f32),
  ),

  alu(0x029, 'DADD', ac, rounding, d, a(f64), c(f64)),
  alu(0x028, 'DMUL', ab, rounding, d, a(f64), b(f64)),
  alu(0x02b, 'DFMA', abc, rounding, d, a(f64), b(f64), c(f64)),
  alu(
    0x02a,
    'DSETP',
    ac,
    choice(76, 4, ['MIN', ...comparisons.slice(1, 15), 'MAX']),
    combination,
    pd(81),
    pd(84),
    a(f64),
    c32(f64),
    selector,
  ),

  alu(0x030, 'HADD2', ac, when(78, 1, 1, [always('F32')]), bf16, ftz, saturate, d, a(h2), c32(h2)),
  alu(0x032, 'HMUL2', ab, bf16, ftz, saturate, d, a(h2), b(h2)),
  alu(0x031, 'HFMA2', abc, bf16, ftz, flag(79, 'RELU'), saturate, d, a(h2), b(h2fma), c(h2), relu),
  alu(
    0x035,
    'HFMA2',
    abc,
    always('MMA'),
    bf16,
    ftz,
    flag(79, 'RELU'),
    saturate,
    d,
    a(h2),
    b(h2fma),
    c(h2),
    relu,
  ),
  alu(0x040, 'HMNMX2', ab, bf16, ftz, flag(81, 'NAN'), d, a(h2), b(h2), selector),
  alu(0x034, 'HSETP2', ac, ...halfSetParts([pd(81), pd(84), a(h2set), c32(h2set), selector])),
  alu(0x033, 'HSET2', ac, ...halfSetParts([d, a(h2set), c32(h2set), selector], [flag(71, 'BF')])),
]

const floatSource = { neg: true, abs: true, imm: 'f32' } as const
const toNearest = choice(78, 2, ['', 'RM', 'RP', 'RZ'])
const toInteger = choice(78, 2, ['', 'FLOOR', 'CEIL', 'TRUNC'])

/** Returns the suffix that selects a half or byte of a register as the source. */
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

/**
 * Adds the modifier that names an integer format, such as `U16`. The format is encoded in two size
 * bits and one sign bit. The name of the signed 32-bit format is not printed.
 */
const integer =
  (sizeAt: number, signAt: number): Part =>
  ({ encoding, modifiers }) => {
    const name = `${encoding.bit(signAt) ? 'S' : 'U'}${8 << encoding.bits(sizeAt, 2)}`
    if (name !== 'S32') modifiers.push(name)
  }

/** Requires that rounding to an integer does not change the number format. */
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
