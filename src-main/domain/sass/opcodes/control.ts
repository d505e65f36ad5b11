/** Branches, calls, convergence, barriers, and exchange between the lanes of a warp. */
import {
  a,
  alu,
  always,
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
  ureg,
  when,
  type Draft,
  type Opcode,
  type Part,
} from '../parts'
import { specialRegisters } from '../special-registers'

/** The condition of a control instruction beside its guard. */
const condition = unlessTrue(ps(87))

/**
 * Where a branch goes, in units of 4 bytes. On sm_90 the low 8 bits are apart from the others; before, they all
 * begin at bit 34.
 */
const branchTarget: Part = (draft) => {
  const split = draft.architecture >= 90
  target((encoding) =>
    split
      ? encoding.bits(16, 8) * 4 +
        (encoding.bits(34, 30) + encoding.signed(64, 18) * 2 ** 30) * 1024
      : encoding.bits(34, 30) * 4 + encoding.signed(64, 18) * 2 ** 32,
  )(draft)
}
const reconvergence = target((encoding) => encoding.bits(34, 30) * 4)

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
const reduced: Part = when(77, 3, 2, [ps(87)])

export const controlOpcodes: Opcode[] = [
  opcode(
    0x947,
    'BRA',
    choice(32, 2, ['', 'U', 'DIV', 'CONV']),
    choice(84, 2, ['', 'ANY']),
    condition,
    when(33, 1, 1, [fixed(91, 1, 1), ureg(24, { not: true, negAt: 30 })]),
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
  opcode(0x95d, 'NANOSLEEP', condition, int(32, 32)),
  opcode(0x35d, 'NANOSLEEP', condition, reg(32)),
  opcode(0x948, 'WARPSYNC', when(32, 32, 0, [always('ALL'), condition], [condition, int(32, 32)])),
  opcode(0x348, 'WARPSYNC', flag(86, 'COLLECTIVE'), condition, a(), branchTarget),
  opcode(0x91b, 'ENDCOLLECTIVE', condition),
  opcode(0x82f, 'ELECT', pd(81), ureg(16), ps(87)),

  opcode(0xb1d, 'BAR', ...barrierKinds, int(54, 4), when(42, 12, 0, [], [int(42, 12)]), reduced),
  opcode(0x51d, 'BAR', ...barrierKinds, reg(32), int(42, 12), reduced),
  opcode(0x31d, 'BAR', ...barrierKinds, reg(32), reg(32), reduced),
  opcode(0x91a, 'DEPBAR', always('LE'), scoreboard, int(38, 6), waited),

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

/** What is written to RZ or URZ is not printed. */
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
  fixed(47, 1, 1)({ encoding, operands } as Draft)
  operands.push({ kind: 'scoreboard', index: encoding.bits(44, 3), group: false })
}

/** The other scoreboards that are waited for until they are zero. */
function waited({ encoding, operands }: Draft): void {
  const mask = encoding.bits(32, 6)
  if (mask === 0) return
  const indices = [5, 4, 3, 2, 1, 0].filter((index) => (mask >> index) & 1)
  operands.push({ kind: 'scoreboard-set', indices })
}
