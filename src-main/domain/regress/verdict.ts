/**
 * Decides whether the new code of each rung is slower than the old code. Launches of the old and
 * the new code alternate in several rounds. Each round runs in its own process and contributes one
 * number, the logarithm of the time ratio. Pure.
 */
import { meanInterval, pBeyond, rejected, median } from './statistics'

export const confidence = 0.99

/** Default threshold for a change in time, in percent. */
export const leastPercent = 0.5

/** Times from one process. Elements 2i and 2i + 1 belong to measurement block i. */
export interface Round {
  newMs: readonly number[]
  oldMs: readonly number[]
  /**
   * Times of a copy of the old build, measured in the same process to show the spread of identical
   * code.
   */
  copyMs: readonly number[]
  /** SM cycles of the same launches; null if unknown. */
  newCycles: readonly (number | null)[]
  oldCycles: readonly (number | null)[]
}

/** New value divided by old value, with its interval. */
interface Ratio {
  ratio: number
  low: number
  high: number
}

export const regressVerdicts = [
  'slower',
  'broken',
  'unresolved',
  'faster',
  'same',
  'new',
  'gone',
  'skipped',
] as const
export type RegressVerdict = (typeof regressVerdicts)[number]

/**
 * Returns the log ratio of one round, which is the median over its measurement blocks. Steady drift
 * cancels out within a block.
 */
function logRatioOf(
  fresh: readonly (number | null)[],
  old: readonly (number | null)[],
): number | null {
  const blocks: number[] = []
  for (let at = 0; at + 1 < Math.min(fresh.length, old.length); at += 2) {
    const four = [fresh[at], fresh[at + 1], old[at], old[at + 1]]
    if (!four.every((value): value is number => value != null && value > 0)) continue
    const [a, b, c, d] = four.map(Math.log) as [number, number, number, number]
    blocks.push((a + b - c - d) / 2)
  }
  return blocks.length === 0 ? null : median(blocks)
}

const logRatios = (
  rounds: readonly Round[],
  what: readonly ['newMs' | 'copyMs', 'oldMs'] | readonly ['newCycles', 'oldCycles'],
): number[] => rounds.flatMap((round) => logRatioOf(round[what[0]], round[what[1]]) ?? [])

const asRatio = (logs: readonly number[]): Ratio | null => {
  if (logs.length < 2) return null
  const interval = meanInterval(logs, confidence)
  return {
    ratio: Math.exp(interval.mean),
    low: Math.exp(interval.low),
    high: Math.exp(interval.high),
  }
}

export const timeRatio = (rounds: readonly Round[]): Ratio | null =>
  asRatio(logRatios(rounds, ['newMs', 'oldMs']))

/** Returns the cycle ratio, or null if fewer than two rounds have cycles. */
export const cycleRatio = (rounds: readonly Round[]): Ratio | null =>
  asRatio(logRatios(rounds, ['newCycles', 'oldCycles']))

/**
 * Returns the time ratio of the old build's copy to the old build, which shows how much the time of
 * identical code varies.
 */
export const sameCodeRatio = (rounds: readonly Round[]): Ratio | null =>
  asRatio(logRatios(rounds, ['copyMs', 'oldMs']))

/** Returns the distance from 1 to the far end of an interval, in percent. */
const reachPercent = ({ low, high }: Ratio): number => 100 * (Math.max(high, 1 / low) - 1)

/**
 * Returns by what percentage the times of identical code vary on this machine. The result is the
 * median over rungs.
 */
export function spreadOfSameCode(rungs: Iterable<readonly Round[]>): number | null {
  const reaches = [...rungs].flatMap((rounds) => {
    const ratio = sameCodeRatio(rounds)
    return ratio ? [reachPercent(ratio)] : []
  })
  return reaches.length === 0 ? null : median(reaches)
}

/** Returns the threshold that a change in time must exceed. */
export const thresholdPercent = (requestedRatio: number, sameCode: number | null): number =>
  Math.max(requestedRatio, sameCode ?? 0)

/**
 * Returns the threshold for one rung. The rung's threshold is higher than the common threshold if
 * the time of its identical code varies more than usual.
 */
export function thresholdOf(rounds: readonly Round[], percent: number): number {
  const ratio = sameCodeRatio(rounds)
  return ratio ? Math.max(percent, reachPercent(ratio)) : percent
}

export const measuredVerdicts = ['slower', 'faster', 'same', 'unresolved'] as const
export type MeasuredVerdict = (typeof measuredVerdicts)[number]

/**
 * Returns the verdict for one interval. `beyond` is the threshold for "slower" and "faster".
 * `within` is the limit for "same".
 */
function byInterval({ low, high }: Ratio, beyond: number, within: number): MeasuredVerdict {
  if (low > beyond) return 'slower'
  if (high < 1 / beyond) return 'faster'
  return low >= 1 / within && high <= within ? 'same' : 'unresolved'
}

/**
 * Returns the verdict on each rung, based on its times. Among many rungs, some intervals exceed the
 * threshold by chance. "Slower" and "faster" therefore also require statistical significance across
 * all rungs.
 */
export function verdicts(
  rungs: ReadonlyMap<string, readonly Round[]>,
  percent: number,
): Map<string, MeasuredVerdict> {
  const within = 1 + percent / 100
  const all = [...rungs].flatMap(([id, rounds]) => {
    const logs = logRatios(rounds, ['newMs', 'oldMs'])
    const ratio = asRatio(logs)
    const beyond = 1 + thresholdOf(rounds, percent) / 100
    return ratio ? [{ id, ratio, beyond, p: pBeyond(logs, Math.log(beyond)) }] : []
  })
  const holds = rejected(
    all.map(({ p }) => p),
    1 - confidence,
  )
  const found = new Map<string, MeasuredVerdict>([...rungs.keys()].map((id) => [id, 'unresolved']))
  all.forEach(({ id, ratio, beyond }, index) => {
    const verdict = byInterval(ratio, beyond, within)
    const moved = verdict === 'slower' || verdict === 'faster'
    found.set(id, moved && !holds[index] ? 'unresolved' : verdict)
  })
  return found
}

/**
 * Returns the final verdict on a rung. Identical machine code is never reported as slower or
 * faster. The times of identical code can differ just because the code is loaded at different
 * addresses.
 */
export const judged = (byTimes: MeasuredVerdict, sameBuild: boolean): MeasuredVerdict =>
  sameBuild && (byTimes === 'slower' || byTimes === 'faster') ? 'unresolved' : byTimes

/**
 * Returns the verdict after a second measurement. A rung is reported as slower only if it was
 * slower in both the first and the second measurement.
 */
export const confirmed = (again: MeasuredVerdict): MeasuredVerdict =>
  again === 'slower' ? 'slower' : 'unresolved'

/**
 * Returns the exit code. 0: no rung became slower. 1: a rung became slower or failed. 2: no rung
 * has a verdict.
 */
export function exitCodeOf(all: readonly RegressVerdict[]): 0 | 1 | 2 {
  if (all.some((verdict) => verdict === 'slower' || verdict === 'broken')) return 1
  return all.some((verdict) => verdict === 'faster' || verdict === 'same') ? 0 : 2
}
