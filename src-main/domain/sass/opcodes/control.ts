/**
 * Opcodes for branches, calls, convergence, barriers, and data exchange between the lanes of a
 * warp.
 */
import {
  a,
  alu,
  always,
  before,
  c32,
  choice,
  d,
  fixed,
  flag,
  int,
  opcode,
  pd,
  ps,
  reg,
  target,
  ud,
  unlessTrue,
  upd,
  ups,
  ureg,
  when,
  type Draft,
  type Opcode,
  type Part,
} from '../parts'
import { type Encoding, specialRegisters } from '../instruction'

/** Condition of a control instruction, in addition to its guard. */
const condition = unlessTrue(ps(87))

/**
 * Returns the branch distance in bytes. On sm_90, the low bits are stored separately at bit 16. On
 * older GPUs, the whole field starts at bit 34.
 */
const branchDistance = (encoding: Encoding, architecture: number): number =>
  architecture >= 90
    ? encoding.bits(16, 8) * 4 + (encoding.bits(34, 30) + encoding.signed(64, 18) * 2 ** 30) * 1024
    : encoding.bits(34, 30) * 4 + encoding.signed(64, 18) * 2 ** 32
const branchTarget: Part = (draft) => {
  target((encoding) => branchDistance(encoding, draft.architecture))(draft)
}
/**
 * Adds an offset. The target is the sum of the offset, a register, and the address of the next
 * instruction.
 */
const branchOffset: Part = ({ encoding, architecture, operands }) => {
  const bits = branchDistance(encoding, architecture)
  if (!Number.isSafeInteger(bits)) encoding.known = false
  operands.push({ kind: 'immediate', bits, type: 'integer', signed: true })
}
const collective = flag(86, 'COLLECTIVE')
const collectiveTarget = when(86, 1, 1, [branchTarget])
const reconvergence = target((encoding) => encoding.bits(34, 30) * 4)

/** Adds the operand that selects one half of the return address. */
const returnAddress: Part = ({ encoding, operands }) => {
  operands.push({ kind: 'word', text: encoding.bit(31) ? 'Rpc.HI' : 'Rpc.LO' })
}
const invertible: Part = ({ encoding, operands }) => {
  operands.push({
    kind: 'uniform-register',
    index: encoding.bits(24, 6),
    negated: false,
    absolute: false,
    inverted: encoding.bit(30),
    suffixes: [],
  })
}

const barrier =
  (at: number): Part =>
  ({ encoding, operands }) => {
    operands.push({ kind: 'convergence-barrier', index: encoding.bits(at, 4) })
  }

const special =
  (at: number): Part =>
  ({ encoding, operands }) => {
    const index = encoding.bits(at, 8)
    const name = specialRegisters[index]
    if (name === undefined) encoding.known = false
    else operands.push({ kind: 'special-register', index, name })
  }

const shuffle = (code: number, lane: Part, clamp: Part): Opcode =>
  opcode(code, 'SHFL', choice(58, 2, ['IDX', 'UP', 'DOWN', 'BFLY']), pd(81), d, a(), lane, clamp)
const laneRegister = reg(32, {}, 'b')
const clampRegister = reg(64, {}, 'c')

const barrierKinds: readonly Part[] = [
  choice(77, 3, ['SYNC', 'ARV', 'RED', 'SCAN', 'SYNCALL']),
  when(77, 3, 2, [choice(74, 2, ['POPC', 'AND', 'OR'])]),
  flag(80, 'DEFER_BLOCKING'),
]
/** Number of threads that participate in the barrier, unless all threads participate. */
const barrierThreads: Part = when(42, 12, 0, [], [int(42, 12)])
const reduced: Part = when(77, 3, 2, [ps(87)])

export const controlOpcodes: Opcode[] = [
  opcode(
    0x947,
    'BRA',
    choice(32, 2, ['', 'U', 'DIV', 'CONV']),
    choice(84, 2, ['', 'ANY']),
    condition,
    when(33, 1, 1, [fixed(91, 1, 1), invertible]),
    branchTarget,
  ),
  opcode(0x944, 'CALL', always('REL'), flag(86, 'NOINC'), fixed(87, 4, 7), branchTarget),
  opcode(0x950, 'RET', always('REL'), flag(86, 'NODEC'), fixed(87, 4, 7), a(), branchTarget),
  opcode(0x945, 'BSSY', condition, barrier(16), reconvergence),
  opcode(0x941, 'BSYNC', condition, barrier(16)),
  opcode(0x942, 'BREAK', condition, barrier(16)),
  opcode(0x355, 'BMOV', always('32'), flag(84, 'CLEAR'), d, barrier(24)),
  opcode(0x356, 'BMOV', always('32'), barrier(24), reg(32)),
  opcode(0x94d, 'EXIT', condition),
  opcode(0x946, 'YIELD', condition),
  opcode(0x918, 'NOP'),
  opcode(0x82d, 'PREEXIT'),
  opcode(0x82e, 'ACQBULK'),
  opcode(0x95c, 'BPT', choice(84, 3, { 3: 'TRAP' }), int(34, 20)),
  opcode(0x547, 'BRA', choice(32, 2, ['', 'U']), condition, fixed(91, 1, 1), ups(24), branchTarget),
  opcode(0x949, 'BRX', condition, a(), branchOffset),
  opcode(0x343, 'CALL', always('ABS'), flag(86, 'NOINC'), fixed(87, 4, 7), a()),
  opcode(0x344, 'CALL', always('REL'), flag(86, 'NOINC'), fixed(87, 4, 7), a(), branchTarget),
  opcode(
    0x3a1,
    'MATCH',
    flag(79, 'ANY', 'ALL'),
    flag(73, 'U64'),
    when(79, 1, 1, [fixed(81, 3, 7)], [pd(81)]),
    d,
    a(),
  ),
  opcode(
    0x3c4,
    'REDUX',
    choice(78, 3, ['', 'OR', 'XOR', 'SUM', 'MIN', 'MAX']),
    flag(73, 'S32'),
    ud,
    a(),
  ),
  opcode(0x31c, 'B2R', choice(77, 3, { 2: 'RESULT' }), d, unlessTrue(pd(81))),
  opcode(0x91d, 'BAR', ...barrierKinds, int(54, 4), reg(32), reduced),
  opcode(0x95d, 'NANOSLEEP', flag(84, 'SYNCS'), condition, int(32, 32)),
  opcode(0x35d, 'NANOSLEEP', condition, reg(32)),
  opcode(
    0x948,
    'WARPSYNC',
    collective,
    when(32, 32, 0, [always('ALL'), condition], [condition, int(32, 32)]),
    collectiveTarget,
  ),
  opcode(
    0x348,
    'WARPSYNC',
    before(
      90,
      [flag(86, 'EXCLUSIVE'), condition, reg(32)],
      [collective, condition, a(), collectiveTarget],
    ),
  ),
  opcode(0x352, 'RPCMOV', always('32'), returnAddress, reg(32)),
  opcode(0x353, 'RPCMOV', always('32'), d, returnAddress),
  opcode(0x34e, 'LEPC', d),
  opcode(
    0x94e,
    'LEPC',
    d,
    target((encoding) => encoding.bits(24, 8) + encoding.signed(32, 32) * 256),
  ),
  opcode(0xb5d, 'NANOSLEEP', condition, c32()),
  opcode(0x91b, 'ENDCOLLECTIVE', condition),
  opcode(0x82f, 'ELECT', pd(81), ureg(16), ps(87)),

  opcode(0xb1d, 'BAR', ...barrierKinds, int(54, 4), barrierThreads, reduced),
  opcode(0x51d, 'BAR', ...barrierKinds, reg(32), barrierThreads, reduced),
  opcode(0x31d, 'BAR', ...barrierKinds, reg(32), reg(32), reduced),
  opcode(0x91a, 'DEPBAR', when(47, 1, 1, [always('LE'), scoreboard, int(38, 6)]), waited),

  shuffle(0x389, laneRegister, clampRegister),
  shuffle(0x589, laneRegister, int(40, 13)),
  shuffle(0x989, int(53, 5), clampRegister),
  shuffle(0xf89, int(53, 5), int(40, 13)),
  opcode(0x806, 'VOTE', choice(72, 2, ['ALL', 'ANY', 'EQ']), unlessDestination(d), pd(81), ps(87)),
  opcode(
    0x886,
    'VOTEU',
    choice(72, 2, ['ALL', 'ANY', 'EQ']),
    unlessDestination(ud),
    upd(81),
    ps(87),
  ),

  opcode(0x919, 'S2R', d, special(72)),
  opcode(0x9c3, 'S2UR', ud, special(72)),
  opcode(0x805, 'CS2R', flag(80, '', '32'), d, special(72)),
  opcode(0x2ca, 'R2UR', flag(84, 'OR'), unlessTrue(pd(81)), ud, a()),
  alu(0x1c2, 'R2UR', [1], unlessTrue(pd(81)), ud, a()),
  opcode(0x9c7, 'UCGABAR_ARV', fixed(91, 1, 1)),
  opcode(0xdc7, 'UCGABAR_WAIT', fixed(91, 1, 1)),
]

/**
 * Returns a part that omits the destination if it is RZ or URZ, which the disassembler does not
 * print.
 */
function unlessDestination(part: Part): Part {
  return (draft) => {
    part(draft)
    const last = draft.operands.at(-1)
    if (
      last &&
      'index' in last &&
      (last.index === 255 || (last.kind === 'uniform-register' && last.index === 63))
    )
      draft.operands.pop()
  }
}

function scoreboard({ encoding, operands }: Draft): void {
  operands.push({ kind: 'scoreboard', index: encoding.bits(44, 3), group: false })
}

/** Adds the set of additional scoreboards that the instruction waits for. */
function waited({ encoding, operands }: Draft): void {
  const mask = encoding.bits(32, 6)
  if (mask === 0) return
  const indices = [5, 4, 3, 2, 1, 0].filter((index) => (mask >> index) & 1)
  operands.push({ kind: 'scoreboard-set', indices })
}
