/**
 * Opcodes for the uniform datapath, which computes one value per warp and uses uniform registers.
 */
import {
  always,
  choice,
  fixed,
  flag,
  int,
  opcode,
  ub,
  uc,
  ud,
  ua,
  ureg,
  uniform,
  unlessTrue,
  upd,
  ups,
  when,
  word,
  type Draft,
  type Opcode,
  type Part,
} from '../parts'
import { combination, integerComparisons, shiftParts, splitTable, unsigned } from './integer'

const signed = { neg: true, imm: 'signed' } as const
const inverted = { not: true, imm: 'signed' } as const

/**
 * Returns the opcodes for the given source forms. In form 1, all sources are registers. In form 4,
 * the second source is an immediate. In form 2, the third source is an immediate.
 */
const forms = (base: number, ...which: (1 | 2 | 4)[]): number[] =>
  which.map((form) => (form << 9) | base)

const whichByte = ({ encoding }: Draft): string[] =>
  ['', 'B1', 'B2', 'B3'].slice(encoding.bits(76, 2)).slice(0, 1).filter(Boolean)

const ucarry = (c: Part): Part[] => [c, ups(87)]

export const uniformOpcodes: Opcode[] = [
  opcode(
    forms(0x090, 1, 4),
    'UIADD3',
    uniform,
    flag(74, 'X'),
    ud,
    unlessTrue(upd(81)),
    unlessTrue(upd(84)),
    when(
      74,
      1,
      1,
      [ua(inverted), ub(inverted), uc(inverted), ups(87), ups(77)],
      [ua(signed), ub(signed), uc(signed), fixed(87, 4, 15), fixed(77, 4, 15)],
    ),
  ),
  opcode(
    forms(0x097, 1, 4),
    'UIADD3',
    uniform,
    always('64'),
    ud,
    unlessTrue(upd(81)),
    unlessTrue(upd(84)),
    ua(signed),
    ub(signed),
    uc(signed),
    fixed(87, 4, 15),
    fixed(77, 4, 15),
  ),
  ...(
    [
      [0x0a4, []],
      [0x0a5, [always('WIDE')]],
      [0x0a7, [always('HI')]],
    ] as const
  ).map(([base, name]) =>
    opcode(
      forms(base, 1, 2, 4),
      'UIMAD',
      uniform,
      ...name,
      flag(74, 'X'),
      unsigned,
      ud,
      unlessTrue(upd(81)),
      ua(),
      ub({ imm: 'signed' }),
      when(74, 1, 1, ucarry(uc(inverted)), [uc(signed), fixed(87, 4, 15)]),
    ),
  ),
  opcode(
    forms(0x08c, 1, 4),
    'UISETP',
    uniform,
    choice(76, 3, integerComparisons),
    unsigned,
    combination,
    flag(72, 'EX'),
    upd(81),
    upd(84),
    ua(),
    ub({ imm: 'signed' }),
    ups(87),
    when(72, 1, 1, [ups(68)], [fixed(68, 4, 7)]),
  ),
  opcode(
    forms(0x091, 1, 4),
    'ULEA',
    uniform,
    flag(80, 'HI'),
    flag(74, 'X'),
    flag(73, 'SX32'),
    ud,
    unlessTrue(upd(81)),
    ua(signed),
    ub({ neg: true }),
    when(80, 1, 1, [when(73, 1, 1, [fixed(64, 6, 63)], [uc()])], [fixed(64, 6, 63)]),
    int(75, 5),
    when(74, 1, 1, [ups(87)], [fixed(87, 4, 15)]),
  ),
  opcode(
    forms(0x092, 1, 4),
    'ULOP3',
    uniform,
    always('LUT'),
    flag(80, 'PAND'),
    unlessTrue(upd(81)),
    ud,
    ua(),
    ub(),
    uc(),
    int(72, 8),
    ups(87),
  ),
  opcode(0x882, 'UMOV', ud, ub()),
  opcode(0xc82, 'UMOV', uniform, ud, ureg(32)),
  opcode(
    forms(0x096, 1, 2, 4),
    'UPRMT',
    uniform,
    choice(72, 3, ['', 'F4E', 'B4E', 'RC8', 'ECL', 'ECR', 'RC16']),
    ud,
    ua(),
    ub(),
    uc(),
  ),
  opcode(forms(0x087, 1, 4), 'USEL', uniform, ud, ua(), ub(), ups(87)),
  opcode(forms(0x099, 1, 2, 4), 'USHF', uniform, ...shiftParts, ud, ua(), ub(), uc()),
  opcode(forms(0x09a, 1, 4), 'USGXT', uniform, flag(75, 'W'), unsigned, ud, ua(), ub()),
  opcode(forms(0x09b, 1, 4), 'UBMSK', uniform, flag(75, 'W'), ud, ua(), ub()),
  opcode(
    0x2bd,
    'UFLO',
    uniform,
    unsigned,
    flag(74, 'SH'),
    fixed(81, 3, 7),
    ud,
    ureg(32, { not: true }),
  ),
  opcode(0x2be, 'UBREV', uniform, ud, ureg(32)),
  opcode(0x2bf, 'UPOPC', uniform, ud, ureg(32, { not: true })),
  opcode(
    0x89c,
    'UPLOP3',
    always('LUT'),
    upd(81),
    upd(84),
    ups(87),
    ups(77),
    ups(68),
    splitTable,
    int(16, 8),
  ),
  opcode(
    0x883,
    'UP2UR',
    uniform,
    choice(76, 2, ['', 'B1', 'B2', 'B3']),
    ud,
    word('UPR'),
    ua(),
    int(32, 32),
  ),
  opcode(
    0x884,
    'UR2UP',
    uniform,
    word('UPR'),
    ua({ suffixes: whichByte }),
    when(32, 32, 255, [], [int(32, 32)]),
  ),
]
