/** Matrix instructions, and Hopper's copies and barriers. */
import {
  always,
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
  unlessTrue,
  upd,
  ureg,
  when,
  type Draft,
  type Opcode,
  type Part,
} from '../parts'

/** Matrix descriptors lie in uniform registers; which of them are transposed is said behind them. */
const descriptor =
  (at: number, transposed: readonly (readonly [bit: number, name: string])[]): Part =>
  ({ encoding, operands }) => {
    operands.push({
      kind: 'matrix-descriptor',
      uniform: encoding.bits(at, 6),
      suffixes: transposed.filter(([bit]) => encoding.bit(bit)).map(([, name]) => name),
    })
  }

/** `64x128x16`: the number of columns in units of 8, and the depth by the type. */
const groupShape =
  (depth: number): Part =>
  ({ encoding, modifiers }) => {
    modifiers.push(`64x${(encoding.bits(53, 5) + 1) * 8}x${depth}`)
  }

/** Stored inverted, so that 0 is UPT. */
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

const groupInstruction = (code: number, first: Part): Opcode =>
  opcode(
    code,
    'HGMMA',
    uniform,
    when(76, 2, 2, [groupShape(8)], [groupShape(16)]),
    flag(75, 'F32', 'F16'),
    choice(76, 2, ['', 'BF16', 'TF32']),
    d,
    first,
    reg(64),
    scaleInput,
    groupScoreboard,
  )

export const tensorOpcodes: Opcode[] = [
  opcode(0x23a, 'MOVM', always('16'), always('MT88'), d, reg(24)),
  opcode(
    0x23c,
    'HMMA',
    choice(75, 1, ['1688', '16816']),
    flag(76, 'F32', 'F16'),
    choice(82, 2, ['', 'BF16', 'TF32']),
    d,
    reg(24, {}, 'a'),
    reg(32, {}, 'b'),
    reg(64, {}, 'c'),
  ),
  groupInstruction(0x9f0, descriptor(24, [[62, 'tnspB']])),
  groupInstruction(0xdf0, aInRegisters),
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
    fixed(72, 1, 1),
    flag(70, 'TRYWAIT'),
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
    flag(84, 'A1T0'),
    d,
    sharedBarrier,
    reg(32),
  ),
  opcode(
    0x5b2,
    'SYNCS',
    uniform,
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
    choice(78, 3, [undefined, '1D', '2D', '3D', '4D', '5D']),
    flag(75, 'MULTICAST'),
    uniformAddress(32),
    uniformAddress(24),
    when(75, 1, 1, [ureg(64)]),
  ),
  opcode(
    0x3b5,
    'UTMASTG',
    uniform,
    choice(78, 3, [undefined, '1D', '2D', '3D', '4D', '5D']),
    uniformAddress(32),
    uniformAddress(24),
  ),
  opcode(0x9b9, 'UTMACCTL', uniform, choice(82, 3, ['', 'PF']), uniformAddress(24)),
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

function aInRegisters(draft: Draft): void {
  reg(24)(draft)
  fixed(58, 1, 1)(draft)
  descriptor(32, [[62, 'tnspB']])(draft)
}

function groupWait({ encoding, operands }: Draft): void {
  operands.push({ kind: 'scoreboard', index: encoding.bits(44, 3), group: true })
  int(72, 8)({ encoding, operands } as Draft)
}
