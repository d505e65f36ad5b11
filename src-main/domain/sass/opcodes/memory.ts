/** Opcodes for the loads, stores, atomics and copies of the load-store unit, and for fences. */
import type { ConstantOperand } from '../instruction'
import {
  always,
  before,
  named,
  choice,
  d,
  fixed,
  flag,
  memory,
  opcode,
  pd,
  ps,
  reg,
  ud,
  unlessTrue,
  when,
  type Opcode,
  type Part,
} from '../parts'

const sizes = choice(73, 3, ['U8', 'S8', 'U16', 'S16', '', '64', '128', 'U.128'])
const extended = flag(72, 'E')
const eviction = choice(84, 3, ['EF', '', 'EL', 'LU', 'EU', 'NA'])
const prefetch = choice(68, 2, ['', 'LTC64B', 'LTC128B', 'LTC256B'])

const orders = { 0: '', 4: 'CONSTANT', 5: 'STRONG.SM', 7: 'STRONG.GPU', 10: 'STRONG.SYS' }
const ordersBefore80 = [
  'CONSTANT.CTA',
  'CONSTANT.SM',
  'CONSTANT.GPU',
  'CONSTANT.SYS',
  'CTA',
  'SM',
  '',
  'SYS',
  'STRONG.CTA',
  'STRONG.SM',
  'STRONG.GPU',
  'STRONG.SYS',
]

/** Memory order and scope. The meaning of the field's four bits changed with sm_80. */
const order = (at: number): Part =>
  before(80, [choice(at, 4, ordersBefore80)], [choice(at, 4, orders)])

/**
 * Bit positions of an address, which consists of a register, an offset, and possibly a uniform
 * register.
 */
interface Address {
  offset?: readonly [at: number, width: number]
  uniformAt: number
  /** Position of the bit that is set if the address has a uniform register. */
  uniformIf?: number
  /** Position of the bit that makes the uniform register a descriptor. */
  descriptorIf?: number
  /** Position of the bit that makes the address register a pair. */
  wideIf?: number
  /** Position of the address register's scale factor. */
  scaleAt?: number
  registerAt?: number
}

const address = ({
  offset = [40, 24],
  uniformAt,
  uniformIf = 91,
  descriptorIf,
  wideIf,
  scaleAt,
  registerAt = 24,
}: Address): Part =>
  memory(({ encoding, architecture }) => {
    const hasUniform = encoding.bit(uniformIf)
    const descriptor = hasUniform && descriptorIf !== undefined && encoding.bit(descriptorIf)
    const index = hasUniform ? encoding.bits(uniformAt, 6) : null
    return {
      register: encoding.bits(registerAt, 8),
      wide: wideIf !== undefined && encoding.bit(wideIf),
      scale: scaleAt === undefined ? 1 : ([1, 4, 8, 16] as const)[encoding.bits(scaleAt, 2)]!,
      uniform: descriptor ? null : index,
      // sm_80 to sm_89 encode a descriptor in every access. The disassembler prints the descriptor
      // only if bit 101 is set.
      descriptor: descriptor && (architecture >= 90 || encoding.bit(101)) ? index : null,
      offset,
    }
  })

const sharedLoad = address({ uniformAt: 32, scaleAt: 78 })
const sharedStore = address({ uniformAt: 64, scaleAt: 78 })
/** Address without a uniform register. */
const plainAddress = memory(({ encoding }) => ({
  register: encoding.bits(24, 8),
  offset: [40, 24],
}))
const cacheLine = memory(({ encoding }) => ({ register: encoding.bits(24, 8), offset: [32, 32] }))
const globalLoad = address({ uniformAt: 32, descriptorIf: 76, wideIf: 90 })
const globalStore = address({ uniformAt: 64, descriptorIf: 76, wideIf: 90 })

/**
 * Adds the trailing predicate, whose number is stored inverted. A value of 0 means PT, which is not
 * printed.
 */
const lastPredicate: Part = ({ encoding, operands }) => {
  const index = encoding.bits(64, 3) ^ 7
  const negated = encoding.bit(67)
  if (index !== 7 || negated) operands.push({ kind: 'predicate', index, negated })
}

const loadGlobal = (code: number | number[], mnemonic: string, ...more: Part[]): Opcode =>
  opcode(
    code,
    mnemonic,
    extended,
    eviction,
    prefetch,
    sizes,
    order(77),
    ...more,
    d,
    globalLoad,
    lastPredicate,
  )
const storeGlobal = (code: number | number[], mnemonic: string): Opcode =>
  opcode(code, mnemonic, extended, eviction, sizes, order(77), globalStore, reg(32))

const atomicOperations = ['ADD', 'MIN', 'MAX', 'INC', 'DEC', 'AND', 'OR', 'XOR', 'EXCH']
const atomicTypesBefore90 = choice(73, 3, [
  '',
  'S32',
  '64',
  'F32.FTZ.RN',
  'F16x2.RN',
  'S64',
  'F64.RN',
  'BF16x2.RN',
])
const atomicTypes = before(90, [atomicTypesBefore90], [choice(73, 3, ['', 'S32', '64', 'S64'])])
const floatAtomicTypes = choice(73, 4, {
  0: 'F16x2.RN',
  2: 'F16x8.RN',
  3: 'BF16x2.RN',
  9: 'F32.FTZ.RN',
  10: 'F32x2.FTZ.RN',
  11: 'F32x4.FTZ.RN',
  15: 'F64.RN',
})
/**
 * Returns an atomic's opcode. An atomic's operands are a predicate, the destination of the old
 * value, the address and the value.
 */
const atomic = (code: number | number[], mnemonic: string, types: Part): Opcode =>
  opcode(
    code,
    mnemonic,
    extended,
    choice(87, 4, atomicOperations),
    types,
    order(77),
    eviction,
    pd(81),
    d,
    address({ uniformAt: 64, descriptorIf: 71, wideIf: 70 }),
    reg(32),
  )
const compareAndSwap = (code: number, mnemonic: string): Opcode =>
  opcode(
    code,
    mnemonic,
    extended,
    always('CAS'),
    choice(73, 3, ['', undefined, '64']),
    order(77),
    eviction,
    pd(81),
    d,
    plainAddress,
    reg(32),
    reg(64),
  )
const reduction = (code: number, types: Part): Opcode =>
  opcode(
    code,
    'REDG',
    before(90, [named('RED')]),
    extended,
    choice(87, 3, atomicOperations),
    types,
    order(77),
    eviction,
    address({ uniformAt: 64, descriptorIf: 71, wideIf: 90 }),
    reg(32),
  )

const constantAddress =
  (index: 'register' | 'uniform' | 'none'): Part =>
  ({ encoding, operands }) => {
    const operand: ConstantOperand = {
      kind: 'constant',
      bank: encoding.bits(54, 5),
      offset: encoding.bits(38, 16),
      register: index === 'register' ? encoding.bits(24, 8) : null,
      uniform: index === 'uniform' ? encoding.bits(24, 6) : null,
      negated: false,
      absolute: false,
      inverted: false,
      suffixes: [],
    }
    operands.push(operand)
  }

/** Destination address of an asynchronous copy from global memory. */
const copyTarget = memory(({ encoding }) => ({
  register: encoding.bits(16, 8),
  offset: [44, 20],
}))

export const memoryOpcodes: Opcode[] = [
  loadGlobal([0x381, 0x981], 'LDG', fixed(81, 3, 7)),
  loadGlobal([0x380, 0x980], 'LD'),
  storeGlobal([0x386, 0x986], 'STG'),
  storeGlobal(0x985, 'ST'),
  opcode(0x385, 'ST', extended, eviction, sizes, order(77), plainAddress, reg(64)),
  opcode(0x984, 'LDS', flag(76, 'U'), sizes, d, sharedLoad),
  opcode([0x388, 0x988], 'STS', sizes, sharedStore, reg(32)),
  opcode(0x983, 'LDL', eviction, sizes, d, address({ uniformAt: 32 })),
  opcode([0x387, 0x987], 'STL', eviction, sizes, address({ uniformAt: 64 }), reg(32)),
  opcode(
    0x83b,
    'LDSM',
    always('16'),
    choice(78, 1, ['M88', 'MT88']),
    choice(72, 2, ['', '2', '4']),
    d,
    address({ uniformAt: 32 }),
  ),
  opcode(
    0x844,
    'STSM',
    always('16'),
    choice(78, 1, ['M88', 'MT88']),
    choice(72, 2, ['', '2', '4']),
    address({ uniformAt: 64 }),
    reg(32),
  ),
  opcode(
    0xb82,
    'LDC',
    choice(78, 2, ['', 'IL', 'IS', 'ISL']),
    sizes,
    d,
    constantAddress('register'),
  ),
  opcode(0xab9, 'ULDC', sizes, ud, constantAddress('none')),
  opcode(0xabb, 'ULDC', sizes, ud, fixed(91, 1, 1), constantAddress('uniform')),

  opcode(
    0xfae,
    'LDGSTS',
    always('E'),
    eviction,
    flag(81, '', 'BYPASS'),
    choice(71, 2, ['', undefined, 'LTC128B', 'LTC256B']),
    sizes,
    order(77),
    flag(82, 'ZFILL'),
    copyTarget,
    address({ uniformAt: 64, offset: [32, 12], descriptorIf: 76, wideIf: 70 }),
    unlessTrue(ps(87)),
  ),
  opcode(0x9af, 'LDGDEPBAR'),

  atomic([0x3a8, 0x9a8], 'ATOMG', atomicTypes),
  atomic(0x9a3, 'ATOMG', floatAtomicTypes),
  atomic(0x98a, 'ATOM', atomicTypes),
  atomic(0x9a2, 'ATOM', floatAtomicTypes),
  compareAndSwap(0x3a9, 'ATOMG'),
  compareAndSwap(0x38b, 'ATOM'),
  reduction(0x98e, atomicTypes),
  reduction(0x9a6, floatAtomicTypes),
  opcode(
    [0x38c, 0x98c],
    'ATOMS',
    choice(87, 4, atomicOperations),
    atomicTypes,
    d,
    sharedStore,
    reg(32),
  ),
  opcode(
    0xf8c,
    'ATOMS',
    before(90, [choice(87, 4, { 10: 'POPC.INC.32' })], [choice(87, 4, { 11: 'POPC.INC.32' })]),
    fixed(73, 3, 0),
    d,
    sharedStore,
  ),

  opcode(
    0x38d,
    'ATOMS',
    choice(87, 2, ['CAS', undefined, undefined, 'CAST.SPIN']),
    flag(74, '64'),
    d,
    sharedStore,
    reg(32),
    reg(64),
  ),
  opcode(
    0x9b0,
    'ARRIVES',
    always('LDGSTSBAR'),
    always('64'),
    fixed(73, 3, 5),
    choice(70, 2, ['', 'ARVCNT', 'TRANSCNT']),
    address({ uniformAt: 64 }),
  ),
  opcode(0x3aa, 'QSPC', extended, choice(73, 2, ['G', 'L', 'S']), pd(81), d, plainAddress),

  opcode(
    0x992,
    'MEMBAR',
    choice(79, 2, ['SC', 'ALL', '']),
    choice(76, 3, ['CTA', 'SM', 'GPU', 'SYS', undefined, 'VC']),
  ),
  opcode(0x9ab, 'ERRBAR'),
  opcode(0x5ab, 'CGAERRBAR'),
  opcode(
    0x98f,
    'CCTL',
    extended,
    choice(87, 4, { 0: 'PF1', 1: 'PF2', 3: 'IV', 4: 'IVALL', 10: 'DML2', 11: 'RML2' }),
    when(87, 4, 4, [fixed(24, 8, 255)], [cacheLine]),
  ),
  opcode(0x3c6, 'FENCE', always('VIEW'), always('ASYNC'), flag(72, 'G', 'S')),
]
