/**
 * Opcodes for integer arithmetic, logic, shifts, comparisons, selection, and moves between
 * registers and predicates.
 */
import {
  a,
  ab,
  abc,
  alu,
  always,
  b,
  c,
  choice,
  d,
  fixed,
  flag,
  int,
  opcode,
  pd,
  ps,
  unlessTrue,
  ups,
  when,
  word,
  type Draft,
  type Opcode,
  type Part,
} from '../parts'

const signed = { neg: true, imm: 'signed' } as const
const inverted = { not: true, imm: 'signed' } as const
export const unsigned = flag(73, '', 'U32')
export const integerComparisons = ['F', 'LT', 'EQ', 'LE', 'GT', 'NE', 'GE', 'T']
export const combination = choice(74, 2, ['AND', 'OR', 'XOR'])
const carryIn = ps(87)
/** For an opcode without a third source, only the two-source forms are known. */
const withoutC = when(9, 3, ab, [fixed(64, 8, 255)], [fixed(9, 3, ab[0]!)])

const setp = (aSource: Part, bSource: Part): Part[] => [
  choice(76, 3, integerComparisons),
  unsigned,
  combination,
  flag(72, 'EX'),
  pd(81),
  pd(84),
  aSource,
  bSource,
  ps(87),
  when(72, 1, 1, [ps(68)], [fixed(68, 4, 7)]),
]

const vectorType = choice(72, 2, ['U32', '', 'U16x2', 'S16x2'])

export const shiftParts: readonly Part[] = [
  flag(76, 'R', 'L'),
  flag(75, 'W'),
  choice(73, 2, ['S64', 'U64', 'S32', 'U32']),
  flag(80, 'HI'),
]

export const integerOpcodes: Opcode[] = [
  alu(
    0x010,
    'IADD3',
    ab,
    flag(74, 'X'),
    d,
    unlessTrue(pd(81)),
    unlessTrue(pd(84)),
    when(
      74,
      1,
      1,
      [a(inverted), b(inverted), c(inverted), carryIn, ps(77)],
      [a(signed), b(signed), c(signed), fixed(87, 4, 15), fixed(77, 4, 15)],
    ),
  ),
  alu(
    0x024,
    'IMAD',
    abc,
    whatItDoes,
    unsigned,
    flag(74, 'X'),
    fixed(81, 3, 7),
    d,
    a(),
    b({ imm: 'signed' }),
    when(74, 1, 1, [c(inverted), carryIn], [c(signed), fixed(87, 4, 15)]),
  ),
  alu(
    0x025,
    'IMAD',
    abc,
    always('WIDE'),
    unsigned,
    flag(74, 'X'),
    d,
    unlessTrue(pd(81)),
    a(),
    b({ imm: 'signed' }),
    when(74, 1, 1, [c(inverted), carryIn], [c(signed), fixed(87, 4, 15)]),
  ),
  alu(
    0x027,
    'IMAD',
    abc,
    always('HI'),
    unsigned,
    flag(74, 'X'),
    d,
    unlessTrue(pd(81)),
    a(),
    b({ imm: 'signed' }),
    when(74, 1, 1, [c(inverted), carryIn], [c(signed), fixed(87, 4, 15)]),
  ),
  alu(
    0x011,
    'LEA',
    abc,
    flag(80, 'HI'),
    flag(74, 'X'),
    flag(73, 'SX32'),
    d,
    unlessTrue(pd(81)),
    a(signed),
    b({ neg: true }),
    when(80, 1, 1, [when(73, 1, 1, [withoutC], [c()])], [withoutC]),
    int(75, 5),
    when(74, 1, 1, [ps(87)], [fixed(87, 4, 15)]),
  ),
  alu(
    0x012,
    'LOP3',
    ab,
    always('LUT'),
    flag(80, 'PAND'),
    unlessTrue(pd(81)),
    d,
    a(),
    b(),
    c(),
    int(72, 8),
    ps(87),
  ),
  alu(0x013, 'IABS', ab, d, b()),
  alu(0x00c, 'ISETP', ab, ...setp(a(), b({ imm: 'signed' }))),
  alu(0x007, 'SEL', ab, d, a(), b(), ps(87)),
  alu(
    0x016,
    'PRMT',
    abc,
    choice(72, 3, ['', 'F4E', 'B4E', 'RC8', 'ECL', 'ECR', 'RC16']),
    d,
    a(),
    b(),
    c(),
  ),
  alu(0x019, 'SHF', abc, ...shiftParts, d, a(), b(), c()),
  alu(0x01a, 'SGXT', ab, flag(75, 'W'), unsigned, d, a(), b()),
  alu(0x01b, 'BMSK', ab, flag(75, 'W'), d, a(), b()),
  alu(0x036, 'VIADD', ab, choice(73, 1, ['', '16x2']), d, a({ neg: true }), b({ neg: true })),
  alu(0x046, 'VIADDMNMX', abc, vectorType, flag(76, 'RELU'), d, a(), b({ neg: true }), c(), ps(87)),
  alu(
    0x048,
    'VIMNMX',
    ab,
    fixed(81, 6, 63),
    vectorType,
    flag(76, 'RELU'),
    d,
    a(),
    b({ imm: 'signed' }),
    ps(87),
  ),
  alu(0x00f, 'VIMNMX3', [1], vectorType, flag(76, 'RELU'), d, a(), b(), c(), ps(87)),
  alu(0x014, 'VABSDIFF', abc, flag(73, '', 'U32'), fixed(81, 3, 7), d, a(), b(), c()),
  alu(
    0x015,
    'VABSDIFF4',
    abc,
    choice(73, 1, ['U8', 'S8']),
    flag(75, 'ACC'),
    fixed(81, 3, 7),
    d,
    a(),
    b(),
    c(),
  ),
  alu(
    0x026,
    'IDP',
    ab,
    when(
      76,
      1,
      1,
      [always('2A'), flag(77, 'HI', 'LO'), flag(73, 'S16', 'U16')],
      [always('4A'), flag(73, 'S8', 'U8')],
    ),
    flag(74, 'S8', 'U8'),
    d,
    a(),
    b(),
    c(),
  ),
  alu(0x017, 'IMNMX', ab, unsigned, d, a(), b({ imm: 'signed' }), ps(87)),
  alu(0x101, 'BREV', ab, d, b()),
  alu(0x109, 'POPC', ab, d, b({ not: true })),
  alu(0x100, 'FLO', ab, unsigned, flag(74, 'SH'), fixed(81, 3, 7), d, b({ not: true })),
  alu(0x002, 'MOV', ab, d, b(), when(72, 4, 15, [], [int(72, 4)])),
  opcode(0x803, 'P2R', choice(76, 2, ['', 'B1', 'B2', 'B3']), d, word('PR'), a(), int(32, 32)),
  opcode(0x804, 'R2P', word('PR'), a(), int(32, 32)),
  opcode(
    0x81c,
    'PLOP3',
    always('LUT'),
    pd(81),
    pd(84),
    ps(87),
    ps(77),
    when(67, 1, 1, [ups(68)], [ps(68)]),
    splitTable,
    int(16, 8),
  ),
]

/**
 * Adds MOV, IADD or SHL to the name of IMAD. The compiler uses IMAD to move, add or shift values if
 * the ALU pipe is busy.
 */
function whatItDoes({ encoding, modifiers }: Draft): void {
  if (encoding.bit(74)) return
  const form = encoding.bits(9, 3)
  const isZero = (at: number): boolean => encoding.bits(at, 8) === 255
  if (form === 4) {
    const factor = encoding.bits(32, 32)
    const isPower = factor !== 0 && (factor & (factor - 1)) === 0
    if (factor === 1) modifiers.push('IADD')
    else if (isPower && factor !== 0x10000 && isZero(64)) modifiers.push('SHL')
  } else if (form <= 3 && isZero(24) && isZero(form === 1 ? 32 : 64)) modifiers.push('MOV')
}

/**
 * Adds the first truth table of PLOP3. In the encoding, a predicate separates the table's bits.
 */
export function splitTable({ encoding, operands }: Parameters<Part>[0]): void {
  operands.push({
    kind: 'immediate',
    bits: (encoding.bits(72, 5) << 3) | encoding.bits(64, 3),
    type: 'integer',
    signed: false,
  })
}
