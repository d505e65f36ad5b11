/**
 * Machine code with timing information. Each instruction has a pipe, the time for which it occupies
 * the pipe, the time until its result is available, and the compiler's control bits.
 */
import { zeroRegister, type Instruction, type Operand } from '../sass/instruction'
import { lineBytes } from './memory-units'
import type { ParameterValues } from './parameter-table'

/**
 * Units that an instruction can occupy. FMA instructions alternate between two halves of the FMA
 * pipe, and IMAD can use only the heavy half.
 */
export const pipes = [
  'none',
  'fma',
  'imad',
  'alu',
  'fp16',
  'fp64',
  'xu',
  'lsu',
  'uniform',
  'branch',
  'tensor',
] as const
export type Pipe = (typeof pipes)[number]

/** The simulator's action for an instruction, in addition to issuing the instruction. */
export type Action =
  /**
   * No action. The result is available after a fixed time, given by the stall count or by
   * `latency`.
   */
  | { readonly kind: 'plain' }
  /** Processes the instruction's events in the trace: accesses, arrivals and waits. */
  | { readonly kind: 'events' }
  | { readonly kind: 'shuffle' }
  | { readonly kind: 'constant'; readonly line: string | null }
  /** Waits until at most `pending` operations of a scoreboard are outstanding. */
  | { readonly kind: 'scoreboard'; readonly scoreboard: number; readonly pending: number }
  /** Commits a group of asynchronous copies. */
  | { readonly kind: 'copy-group' }
  /**
   * Runs a WGMMA for `cycles` on the tensor core of each sub-core. The WGMMA's result is complete
   * `drain` cycles after the tensor cores finish. With `commits`, the instruction also commits a
   * WGMMA group.
   */
  | {
      readonly kind: 'warpgroup'
      readonly cycles: number
      readonly drain: number
      readonly commits: boolean
    }
  | { readonly kind: 'warpgroup-wait'; readonly pending: number }
  | { readonly kind: 'sleep'; readonly cycles: number }

/** A source register of an instruction. */
export interface RegisterRead {
  readonly register: number
  /** Operand position, from 0 to 2. */
  readonly position: number
  /** Whether the operand also uses the next register. */
  readonly isWide: boolean
  /** Whether the operand cache keeps the register for the next instruction. */
  readonly isKept: boolean
}

export interface TimedInstruction {
  readonly pipe: Pipe
  /** Number of cycles for which the instruction occupies the pipe of one sub-core. */
  readonly interval: number
  /** Number of cycles from issue to the result, if a scoreboard signals the result. */
  readonly latency: number
  readonly action: Action
  readonly stall: number
  readonly waitMask: number
  readonly writeBarrier: number
  readonly readBarrier: number
  /** Whether the instruction accesses memory other than shared memory. */
  readonly long: boolean
  /** Whether the instruction accesses memory through the load/store unit. */
  readonly accesses: boolean
  /** Number of shared-memory wavefronts if there are no bank conflicts. */
  readonly leastWavefronts: number
  /** Source registers. Empty if the instruction's pipe does not read its registers at issue. */
  readonly reads: readonly RegisterRead[]
  /** Constant-memory lines that the operands use. */
  readonly constants: readonly string[]
}

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(' '))

const fma = setOf('FFMA FMUL FADD FFMA32I FMUL32I FADD32I FSWZADD')
const imad = setOf('IMAD IMUL IMUL32I IDP IDP4A XMAD IMAD32I')
const fp16 = setOf('HFMA2 HADD2 HMUL2 HADD2_32I HFMA2_32I HMUL2_32I HSETP2 HSET2 HMNMX2')
const fp64 = setOf('DFMA DADD DMUL DSETP')
const xu = setOf('MUFU F2F F2I I2F FRND POPC FLO BREV I2I FCHK')
const branches = setOf(
  'BRA BRX JMP BSSY BSYNC BREAK WARPSYNC YIELD NANOSLEEP CALL RET EXIT KILL BAR BPT UCGABAR_ARV UCGABAR_WAIT',
)
const loadsAndStores = setOf(
  'LD LDG LDS LDL ST STG STS STL ATOM ATOMG ATOMS RED REDG LDGSTS LDSM STSM',
)
/** Instructions whose addresses are in the trace. */
const accesses = new Set([
  ...loadsAndStores,
  ...['UTMALDG', 'UTMASTG', 'UBLKCP', 'SYNCS', 'ARRIVES'],
])
const waits = setOf('BAR UCGABAR_ARV UCGABAR_WAIT')
const special = setOf('S2R S2UR B2R CS2R')
const lsu = setOf('SHFL MATCH MEMBAR ERRBAR CCTL CCTLL FENCE LDGDEPBAR')
const global = setOf('LD LDG LDL ST STG STL ATOM ATOMG RED REDG LDGSTS TEX TLD TLD4 SULD')
const free = setOf('NOP DEPBAR WARPGROUP')

/** Number of multiply-adds in HMMA.16816, the reference for other shapes. */
const macsOf16816 = 16 * 8 * 16

/** Returns the dimensions of a matrix product from a shape such as `16816` or `64x128x16`. */
function shapeOf({ modifiers }: Instruction): readonly [number, number, number] | null {
  for (const word of modifiers) {
    const wide = /^(\d+)x(\d+)x(\d+)$/.exec(word)
    if (wide) return [Number(wide[1]), Number(wide[2]), Number(wide[3])]
    const short = /^(16|8)(8|16)(\d+)$/.exec(word)
    if (short) return [Number(short[1]), Number(short[2]), Number(short[3])]
  }
  return null
}

/** Returns the tensor-core speed for the instruction's type, relative to 16-bit types. */
function speedOf({ mnemonic, modifiers }: Instruction): number {
  if (mnemonic === 'QGMMA' || mnemonic === 'IGMMA' || mnemonic === 'QMMA') return 2
  return modifiers.includes('TF32') ? 0.5 : 1
}

/**
 * Returns whether a WGMMA reads A from shared memory. If A is in registers, a register precedes the
 * descriptor of B.
 */
const hasSharedA = ({ operands }: Instruction): boolean => operands[1]?.kind === 'matrix-descriptor'

/**
 * Returns the number of cycles for which a WGMMA multiplies, excluding the time to read its
 * operands.
 */
const multiplyCycles = (instruction: Instruction, values: ParameterValues): number => {
  const [rows, columns, depth] = shapeOf(instruction) ?? [64, 8, 16]
  return (rows * columns * depth) / values.hgmmaMacsPerCycle / speedOf(instruction)
}

/**
 * Returns the number of cycles from the start of a WGMMA to its result. On the H200, a WGMMA takes
 * 77 cycles for 8 columns and 201 cycles for 256 columns: a fixed latency plus the multiplication
 * time.
 */
const resultCycles = (instruction: Instruction, values: ParameterValues): number => {
  const leastColumns = (64 * 8 * 16) / values.hgmmaMacsPerCycle
  return values.latencyHgmma - leastColumns + multiplyCycles(instruction, values)
}

function tensorCycles(instruction: Instruction, values: ParameterValues): number | null {
  const { mnemonic } = instruction
  const shape = shapeOf(instruction)
  const macs = shape ? shape[0] * shape[1] * shape[2] : macsOf16816
  if (mnemonic === 'HMMA' || mnemonic === 'QMMA')
    return (values.pipeHmma * macs) / macsOf16816 / speedOf(instruction)
  if (mnemonic === 'IMMA') return (values.pipeImma * macs) / (16 * 8 * 32)
  if (mnemonic === 'DMMA') return (values.pipeDmma * macs) / (8 * 8 * 4)
  if (isWarpgroup(instruction)) {
    const cycles = multiplyCycles(instruction, values)
    // Each row of A and each column of B has 32 bytes along k. The matrix A may be in registers.
    const [rows, columns] = shape ?? [64, 8]
    const inShared = columns + (hasSharedA(instruction) ? rows : 0)
    return Math.max(cycles, (32 * inShared) / lineBytes, values.hgmmaLeastCycles)
  }
  return null
}

const isWarpgroup = ({ mnemonic }: Instruction): boolean => /^[HQI]GMMA$/.test(mnemonic)

function pipeOf(instruction: Instruction, values: ParameterValues): readonly [Pipe, number] {
  const { mnemonic, modifiers } = instruction
  const cycles = tensorCycles(instruction, values)
  if (cycles !== null) return ['tensor', isWarpgroup(instruction) ? 0 : cycles]
  if (free.has(mnemonic)) return ['none', 1]
  if (fma.has(mnemonic)) return ['fma', 2 * values.pipeFma]
  if (imad.has(mnemonic)) {
    // IMAD used as a move can use either half of the FMA pipe.
    if (modifiers.includes('WIDE') || modifiers.includes('HI')) return ['imad', values.pipeImadWide]
    const moves = modifiers.some((word) => word === 'MOV' || word === 'SHL' || word === 'IADD')
    return [moves ? 'fma' : 'imad', moves ? 2 * values.pipeFma : values.pipeImad]
  }
  if (fp16.has(mnemonic)) return ['fp16', values.pipeFp16]
  if (fp64.has(mnemonic)) return ['fp64', values.pipeFp64]
  if (xu.has(mnemonic)) return ['xu', values.pipeXu]
  if (accesses.has(mnemonic) || lsu.has(mnemonic) || special.has(mnemonic))
    return ['lsu', values.pipeLsu]
  if (mnemonic === 'LDC') return ['lsu', values.pipeLsu]
  if (branches.has(mnemonic)) return ['branch', values.pipeBranch]
  if (
    mnemonic.startsWith('U') ||
    mnemonic === 'R2UR' ||
    mnemonic === 'VOTEU' ||
    mnemonic === 'REDUX'
  )
    return ['uniform', values.pipeUniform]
  return ['alu', values.pipeAlu]
}

function latencyOf({ mnemonic }: Instruction, values: ParameterValues): number {
  if (xu.has(mnemonic)) return values.latencyXu
  if (special.has(mnemonic) || mnemonic === 'R2UR' || mnemonic === 'REDUX')
    return values.latencySpecial
  if (mnemonic === 'SHFL' || mnemonic === 'MATCH') return values.latencyShuffle
  if (fp64.has(mnemonic)) return values.latencyFp64
  if (mnemonic === 'LDC' || mnemonic === 'ULDC') return values.latencyConstant
  if (/MMA$/.test(mnemonic)) return values.latencyHmma
  if (mnemonic === 'SYNCS' || mnemonic === 'ARRIVES') return values.latencyMbarrier
  return values.latencyXu
}

/** Pipes whose instructions read their registers within a fixed time after issue. */
const readsAtIssue: ReadonlySet<Pipe> = new Set<Pipe>(['fma', 'imad', 'alu', 'fp16', 'fp64'])

/** Returns the source registers of an instruction. */
function readsOf({ mnemonic, modifiers, operands }: Instruction, pipe: Pipe): RegisterRead[] {
  if (!readsAtIssue.has(pipe)) return []
  // The first operand is the destination, except for comparisons, which only write predicates.
  const writesRegister = operands[0]?.kind === 'register'
  const sources = operands
    .slice(writesRegister ? 1 : 0)
    .filter(({ kind }) => !kind.includes('predicate'))
  const isWideAt = (position: number): boolean =>
    pipe === 'fp64' || (mnemonic === 'IMAD' && modifiers.includes('WIDE') && position === 2)
  return sources.slice(0, 3).flatMap((operand, position) =>
    operand.kind === 'register' && operand.index !== zeroRegister
      ? [
          {
            register: operand.index,
            // A single source operand, such as that of MOV, is in the second position.
            position: sources.length === 1 ? 1 : position,
            isWide: isWideAt(position),
            isKept: operand.reuse,
          },
        ]
      : [],
  )
}

/** Size in bytes of a constant-memory line. */
const constantLine = 64

const lineOf = (operand: Operand): string | null =>
  operand.kind === 'constant' &&
  typeof operand.bank === 'number' &&
  operand.register === null &&
  operand.uniform === null
    ? `${operand.bank} ${Math.floor(operand.offset / constantLine)}`
    : null

const numberIn = (operand: Operand | undefined): number =>
  operand?.kind === 'immediate' ? operand.bits : 0

/**
 * Returns the index of the scoreboard operand. `group` selects the warpgroup's scoreboard instead
 * of the warp's.
 */
const scoreboardOf = ({ operands }: Instruction, group: boolean): number | null =>
  operands.flatMap((operand) =>
    operand.kind === 'scoreboard' && operand.group === group ? [operand.index] : [],
  )[0] ?? null

function actionOf(instruction: Instruction, values: ParameterValues): Action {
  const { mnemonic, modifiers, operands } = instruction
  if (accesses.has(mnemonic) || waits.has(mnemonic)) return { kind: 'events' }
  if (mnemonic === 'SHFL' || mnemonic === 'MATCH') return { kind: 'shuffle' }
  if (mnemonic === 'LDGDEPBAR' || mnemonic === 'UTMACMDFLUSH') return { kind: 'copy-group' }
  const immediate = operands.findLast(({ kind }) => kind === 'immediate')
  if (mnemonic === 'DEPBAR')
    return {
      kind: 'scoreboard',
      scoreboard: scoreboardOf(instruction, false) ?? 0,
      pending: numberIn(immediate),
    }
  if (isWarpgroup(instruction)) {
    const cycles = tensorCycles(instruction, values)!
    return {
      kind: 'warpgroup',
      cycles,
      drain: resultCycles(instruction, values) - cycles,
      commits: scoreboardOf(instruction, true) !== null,
    }
  }
  if (mnemonic === 'WARPGROUP' && modifiers.includes('DEPBAR'))
    return { kind: 'warpgroup-wait', pending: numberIn(immediate) }
  if (mnemonic === 'NANOSLEEP')
    return { kind: 'sleep', cycles: (numberIn(immediate) * values.clockMHz) / 1000 }
  if (mnemonic === 'LDC' || mnemonic === 'ULDC')
    return { kind: 'constant', line: operands.map(lineOf).find((line) => line !== null) ?? null }
  return { kind: 'plain' }
}

/**
 * Returns the minimum number of wavefronts for a warp's shared-memory access. For example, the
 * minimum is four for 16 bytes per lane or for four matrices.
 */
const leastWavefronts = ({ modifiers }: Instruction): number =>
  modifiers.includes('128') || modifiers.includes('4')
    ? 4
    : modifiers.includes('64') || modifiers.includes('2')
      ? 2
      : 1

/**
 * Returns the instructions of a kernel with their timing, for a GPU with the given parameters.
 * Without control bits, every instruction issues one cycle after the previous one and does not wait
 * for results.
 */
export function timedCode(
  code: readonly Instruction[],
  values: ParameterValues,
  hasControlBits = true,
): TimedInstruction[] {
  return code.map((instruction) => {
    const [pipe, interval] = pipeOf(instruction, values)
    const { stall, waitMask, writeBarrier, readBarrier } = instruction.control
    const action = actionOf(instruction, values)
    const alsoWaits = instruction.operands
      .flatMap((operand) => (operand.kind === 'scoreboard-set' ? operand.indices : []))
      .reduce((mask, index) => mask | (1 << index), 0)
    return {
      ...{ pipe, interval, action },
      waitMask: hasControlBits ? waitMask | alsoWaits : 0,
      latency: latencyOf(instruction, values),
      stall: hasControlBits ? Math.max(1, stall) : 1,
      writeBarrier: writeBarrier ?? -1,
      readBarrier: readBarrier ?? -1,
      long: global.has(instruction.mnemonic),
      accesses: loadsAndStores.has(instruction.mnemonic),
      leastWavefronts: leastWavefronts(instruction),
      reads: readsOf(instruction, pipe),
      constants:
        action.kind === 'constant'
          ? []
          : instruction.operands.map(lineOf).filter((line) => line !== null),
    }
  })
}
