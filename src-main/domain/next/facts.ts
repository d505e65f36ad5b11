/**
 * Computes the facts about a rung that recommendations need: how long each unit is busy, and how
 * long warps stall.
 */
import { gridOf, kernelCount, valueOf, type Side } from '../why/side'
import { unitIds, units, type UnitId } from '../why/units'
import { leadOf } from '../analysis/lead-figure'
import { isTensor, leastBytes } from '../task/problem'
import { threadsPerBlock } from '../analysis/derived-metrics'
import type { Removal } from '../session/prediction-words'
import { opcodeFamily, type Instruction } from '../session/deep'
import { timeOfRung, type RungTime } from './time-of-rung'

/** Stall-reason metrics. */
export const waitMetrics = [
  'stallLongScoreboard',
  'stallShortScoreboard',
  'stallMioThrottle',
  'stallLgThrottle',
  'stallBarrier',
  'stallMathPipe',
  'stallNotSelected',
  'stallWait',
  'stallDispatch',
] as const
export type WaitMetric = (typeof waitMetrics)[number]

export interface Facts {
  side: Side
  time: RungTime
  /** Time of an empty launch in ms. No change can make a launch faster than an empty launch. */
  emptyMs: number
  /**
   * For each cause, the remaining fraction of the time in a simulation without the cause, 0 to 1.
   * Empty if there is no prediction.
   */
  without: Partial<Record<Removal, number>>
  /**
   * Fraction of the launch during which each unit is busy, 0 to 1. Units without counters are
   * absent.
   */
  busy: Partial<Record<UnitId, number>>
  /**
   * Fraction of all warp cycles spent in each stall reason, 0 to 1. Null unless all stall reasons
   * were counted.
   */
  waits: Record<WaitMetric, number> | null
  /** Returns a registry metric, or null if it has no value. */
  value(id: string): number | null
  /** Fraction of time during which an SM has a resident block, 0 to 1; 1 if unknown. */
  spread: number
  /** Number of kernels per launch of the rung; 0 if unknown. */
  kernels: number
  /** Threads per block; null if unknown or if kernels differ. */
  threads: number | null
  /** Minimum number of bytes that the task moves; null if unknown. */
  leastBytes: number | null
  /** Whether the task is memory-bound or compute-bound; null if the task is unknown. */
  boundBy: 'bytes' | 'operations' | null
  /** Whether arithmetic for the task's data types runs on tensor cores. */
  tensorTypes: boolean
  /**
   * Average fraction of active lanes across all executed warp instructions, 0 to 1; null if
   * unknown.
   */
  lanes: number | null
  /** Instructions with their counters. Empty below the deep profile level. */
  code: readonly Instruction[]
  /** Executed warp instructions by opcode family. Null below the deep profile level. */
  opcodes: ReadonlyMap<string, number> | null
  /** The rung's source; null if not available. */
  source: string | null
}

/** Per-thread instruction counters for all categories. */
const threadKinds = [
  'fp32Instructions',
  'integerInstructions',
  'memoryInstructions',
  'controlInstructions',
  'miscInstructions',
  'uniformInstructions',
  'bitInstructions',
  'conversionInstructions',
  'exchangeInstructions',
] as const

const warpSize = 32

function waitsOf(side: Side): Facts['waits'] {
  const found = waitMetrics.map((id) => [id, valueOf(side, id)] as const)
  if (found.some(([, value]) => value === null || value < 0)) return null
  // Each issued instruction corresponds to one selected warp.
  const total = 1 + found.reduce((sum, [, value]) => sum + value!, 0)
  return Object.fromEntries(found.map(([id, value]) => [id, value! / total])) as Facts['waits']
}

function lanesOf(side: Side): number | null {
  const warps = valueOf(side, 'instructions')
  const kinds = threadKinds.map((id) => valueOf(side, id))
  if (warps === null || warps <= 0 || kinds.includes(null)) return null
  const threads = kinds.reduce<number>((sum, value) => sum + value!, 0)
  const share = threads / (warpSize * warps)
  // The sum of thread instructions is slightly low because ncu does not report all categories. A
  // sum well above the number of lanes means that the counters contradict each other.
  return share > 0 && share <= 1.02 ? Math.min(share, 1) : null
}

function opcodesOf(code: readonly Instruction[]): Facts['opcodes'] {
  if (code.length === 0) return null
  const sum = new Map<string, number>()
  for (const { opcode, executed } of code) {
    const family = opcodeFamily(opcode)
    sum.set(family, (sum.get(family) ?? 0) + (executed ?? 0))
  }
  return sum
}

/**
 * Returns the simulated remaining times for a rung with a predicted time. Each value uses the lower
 * end of the range, to allow for the model's error.
 */
function withoutOf({ timing, predicted }: Side['rung']): Facts['without'] {
  if (timing || !predicted?.without) return {}
  const { ms, lowMs, without } = predicted
  return Object.fromEntries(
    Object.entries(without).map(([removal, left]) => [removal, (left / ms) * (lowMs / ms)]),
  )
}

/**
 * Default time of an empty launch, used if the time was not measured. On an H100 and an H200, an
 * empty launch takes 1.2 to 1.4 µs.
 */
const leastLaunchMs = 0.001

/**
 * A share of time cannot exceed 100 %. Percentages above 102 % therefore combine several launches.
 */
const mostPercent = 102

/**
 * Returns a rung's facts. Returns null if the time or the counters are missing, or if the counters
 * contradict each other.
 */
export function factsOf(side: Side, source: string | null = null): Facts | null {
  const { session, rung } = side
  const time = timeOfRung(rung)
  if (time === null || rung.status !== 'ok') return null
  const value = (id: string): number | null => valueOf(side, id)
  if (!Object.values(rung.metrics).some(({ value: known }) => known !== null)) return null
  const percents = unitIds.map((id) => [id, value(units[id].busy)] as const)
  if (percents.some(([, busy]) => busy !== null && (busy < 0 || busy > mostPercent))) return null
  const spread = gridOf(side)?.share ?? 1
  const busy = Object.fromEntries(
    percents.flatMap(([id, share]) =>
      // Utilization covers only cycles in which an SM has a block. SMs without a block are idle and
      // must be included.
      share === null
        ? []
        : [[id, Math.min(1, (share / 100) * (units[id].of === 'active' ? spread : 1))]],
    ),
  )
  const { problem, ladder } = session
  const known = problem !== null && ladder.task !== null
  const code = side.deep?.kernels.flatMap(({ instructions }) => instructions) ?? []
  return {
    side,
    time,
    without: withoutOf(rung),
    emptyMs: rung.timing?.emptyMs ?? leastLaunchMs,
    busy,
    waits: waitsOf(side),
    value,
    spread,
    kernels: kernelCount(side),
    threads: threadsPerBlock(rung),
    leastBytes: known ? leastBytes(ladder.task!, { ...problem, flags: rung.flags }) : null,
    boundBy: known ? leadOf(session).of : null,
    tensorTypes: known && isTensor(ladder.task, problem),
    lanes: lanesOf(side),
    code,
    opcodes: opcodesOf(code),
    source,
  }
}

/** Returns the ratio of two metrics, or 0 if either metric is unknown. */
export const shareOf = ({ value }: Facts, part: string, whole: string): number => {
  const [a, b] = [value(part), value(whole)]
  return a === null || b === null || b <= 0 ? 0 : a / b
}
