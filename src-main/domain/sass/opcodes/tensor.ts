/** Opcodes for matrix instructions, and for Hopper's copies and barriers. */
import {
  always,
  before,
  choice,
  d,
  fixed,
  flag,
  int,
  memory,
  opcode,
  pd,
  reg,
  ud,
  uniform,
  uniformGuard,
  unlessTrue,
  upd,
  ureg,
  when,
  type Draft,
  type Opcode,
  type Part,
} from '../parts'

/**
 * Adds a matrix descriptor in uniform registers. Negation and transposition are printed after the
 * descriptor.
 */
const descriptor =
  (at: number): Part =>
  ({ encoding, operands }) => {
    const modifierBits = [
      [72, 'negA'],
      [63, 'negB'],
      [61, 'tnspA'],
      [62, 'tnspB'],
    ] as const
    operands.push({
      kind: 'matrix-descriptor',
      uniform: encoding.bits(at, 6),
      suffixes: modifierBits.filter(([bit]) => encoding.bit(bit)).map(([, name]) => name),
    })
  }

/**
 * Warpgroup product shape, such as `64x128x16`. The encoded field is the number of columns divided
 * by eight, minus one. The depth depends on the element type.
 */
const groupShape =
  (depth: number): Part =>
  ({ encoding, modifiers }) => {
    modifiers.push(`64x${(encoding.bits(53, 5) + 1) * 8}x${depth}`)
  }

/**
 * Adds a uniform-predicate operand whose number is stored inverted. A value of 0 means UPT, which
 * is not printed.
 */
const scaleInput: Part = ({ encoding, operands }) => {
  const index = encoding.bits(87, 3) ^ 7
  const negated = encoding.bit(90)
  if (index !== 7 || negated) operands.push({ kind: 'uniform-predicate', index, negated })
}

const groupScoreboard: Part = ({ encoding, operands }) => {
  const index = encoding.bits(84, 3)
  if (index !== 7) operands.push({ kind: 'scoreboard', index, group: true })
}

const sharedBarrier = memory(({ encoding }: Draft) => ({
  register: encoding.bits(24, 8),
  uniform: encoding.bits(64, 6),
  offset: [40, 24],
}))
const uniformAddress = (at: number): Part =>
  memory(({ encoding }) => ({ uniform: encoding.bits(at, 6) }))

const groupInstruction = (
  codes: number | number[],
  mnemonic: string,
  shapeAndTypes: readonly Part[],
  first: Part,
): Opcode =>
  opcode(codes, mnemonic, uniform, ...shapeAndTypes, d, first, reg(64), scaleInput, groupScoreboard)
const halfGroup: readonly Part[] = [
  when(76, 2, 2, [groupShape(8), fixed(58, 1, 1)], [groupShape(16)]),
  flag(75, 'F32', 'F16'),
  choice(76, 2, ['', 'BF16', 'TF32']),
]
const integerGroup: readonly Part[] = [groupShape(32), flag(76, 'S8', 'U8'), flag(82, 'S8', 'U8')]
const quarterGroup: readonly Part[] = [
  groupShape(32),
  flag(75, 'F32', 'F16'),
  choice(76, 1, ['E4M3', 'E5M2']),
  choice(77, 1, ['E4M3', 'E5M2']),
]
const descriptorsOnly = descriptor(24)
const aInRegisters: Part = (draft) => {
  reg(24)(draft)
  descriptor(32)(draft)
}
const dimensions = choice(79, 3, ['1D', '2D', '3D', '4D', '5D'])
/**
 * Adds the last operands of a copy. The mask of a multicast or the offsets of an image come first,
 * followed by the cache policy.
 */
const lastOfCopy: Part = (draft) => {
  const { encoding, operands } = draft
  if (encoding.bits(9, 3) === 1) ureg(64)(draft)
  if (encoding.bit(76)) operands.push({ kind: 'word', text: `desc[UR${encoding.bits(40, 6)}]` })
}
const row = (): string[] => ['ROW']
const column = (): string[] => ['COL']

export const tensorOpcodes: Opcode[] = [
  opcode(0x23a, 'MOVM', always('16'), always('MT88'), d, reg(24)),
  opcode(
    0x23c,
    'HMMA',
    when(78, 1, 1, [choice(75, 1, ['1684', undefined])], [choice(75, 1, ['1688', '16816'])]),
    flag(76, 'F32', 'F16'),
    choice(82, 2, ['', 'BF16', 'TF32']),
    d,
    reg(24, {}, 'a'),
    reg(32, {}, 'b'),
    reg(64, {}, 'c'),
  ),
  opcode(
    0x237,
    'IMMA',
    choice(83, 4, { 0: '8816', 8: '' }),
    when(83, 4, 8, [choice(74, 2, { 1: '16816', 3: '16832' })], [fixed(74, 2, 1)]),
    flag(76, 'S8', 'U8'),
    flag(78, 'S8', 'U8'),
    flag(82, 'SAT'),
    d,
    reg(24, { suffixes: row }, 'a'),
    reg(32, { suffixes: column }, 'b'),
    reg(64, {}, 'c'),
  ),
  opcode(
    0x23f,
    'DMMA',
    before(90, [always('884')], [always('8x8x4')]),
    choice(78, 2, ['', 'RM', 'RP', 'RZ']),
    d,
    reg(24, { neg: true, abs: true }, 'a'),
    reg(32, { neg: true, abs: true }, 'b'),
    reg(64, { neg: true, abs: true }, 'c'),
  ),
  groupInstruction(0x9f0, 'HGMMA', halfGroup, descriptorsOnly),
  groupInstruction(0xdf0, 'HGMMA', halfGroup, aInRegisters),
  groupInstruction(0x9f1, 'IGMMA', integerGroup, descriptorsOnly),
  groupInstruction(0xdf1, 'IGMMA', integerGroup, aInRegisters),
  groupInstruction(0x9f3, 'QGMMA', quarterGroup, descriptorsOnly),
  groupInstruction(0xdf3, 'QGMMA', quarterGroup, aInRegisters),
  opcode(
    0x9c5,
    'WARPGROUP',
    when(80, 1, 1, [always('DEPBAR'), always('LE'), fixed(47, 1, 1)], [always('ARRIVE')]),
    when(80, 1, 1, [groupWait]),
  ),

  opcode(
    0x5a7,
    'SYNCS',
    uniform,
    always('PHASECHK'),
    always('TRANS64'),
    fixed(70, 1, 1),
    flag(72, 'TRYWAIT'),
    pd(81),
    sharedBarrier,
    reg(32),
  ),
  opcode(
    0x9a7,
    'SYNCS',
    uniform,
    always('ARRIVE'),
    always('TRANS64'),
    flag(74, 'RED'),
    flag(75, 'OPTOUT'),
    flag(73, 'TMASK'),
    choice(84, 3, ['', 'A1T0', 'A0T1', 'A0TR', 'A0TX', 'ART0']),
    d,
    sharedBarrier,
    reg(32),
  ),
  opcode(
    0x5b2,
    'SYNCS',
    uniform,
    uniformGuard,
    always('EXCH'),
    always('64'),
    fixed(72, 1, 1),
    ud,
    memory(({ encoding }) => ({ uniform: encoding.bits(24, 6), offset: [40, 24] })),
    ureg(32),
  ),

  opcode(
    [0x5b4, 0x3b4],
    'UTMALDG',
    uniform,
    dimensions,
    flag(82, 'IM2COL'),
    flag(75, 'MULTICAST'),
    uniformAddress(32),
    uniformAddress(24),
    lastOfCopy,
  ),
  opcode(0x3b5, 'UTMASTG', uniform, dimensions, uniformAddress(32), uniformAddress(24)),
  opcode(0x9b9, 'UTMACCTL', uniform, choice(82, 3, ['IV', 'PF']), uniformAddress(24)),
  opcode(
    0x3b6,
    'UTMAREDG',
    uniform,
    dimensions,
    choice(87, 3, ['ADD']),
    uniformAddress(32),
    uniformAddress(24),
  ),
  opcode(
    0x5b8,
    'UTMAPF',
    uniform,
    always('L2'),
    dimensions,
    uniformAddress(32),
    uniformAddress(24),
  ),
  opcode(
    0x3ba,
    'UBLKCP',
    uniform,
    choice(73, 2, [undefined, 'S.G', 'G.S']),
    uniformAddress(32),
    uniformAddress(24),
    ureg(64),
  ),
  opcode(
    0x3bb,
    'UBLKRED',
    uniform,
    choice(73, 2, [undefined, undefined, 'G.S']),
    choice(87, 3, ['ADD']),
    uniformAddress(32),
    uniformAddress(24),
    ureg(64),
  ),
  opcode(0x3bc, 'UBLKPF', uniform, always('L2'), uniformAddress(24), ureg(64)),
  opcode(0x9b1, 'SYNCS', uniform, always('CCTL'), always('IV'), sharedBarrier),
  opcode(0x9b7, 'UTMACMDFLUSH'),
  opcode(
    0x9c8,
    'USETMAXREG',
    uniform,
    choice(72, 2, [undefined, 'DEALLOC', 'TRY_ALLOC']),
    flag(74, 'CTAPOOL'),
    unlessTrue(upd(81)),
    int(32, 16),
  ),
]

function groupWait({ encoding, operands }: Draft): void {
  operands.push({ kind: 'scoreboard', index: encoding.bits(44, 3), group: true })
  int(72, 8)({ encoding, operands } as Draft)
}
