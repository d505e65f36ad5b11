/**
 * Whether the new code of each rung is slower than the old, from rounds in which both were timed in turn. A round
 * is one process; what it says is one number, the logarithm of the ratio of the times. Pure.
 */
import { meanInterval, pBeyond, rejected, median } from './statistics'

export const confidence = 0.99

/** The smallest change that a verdict is given on, in percent, unless asked otherwise. */
export const leastPercent = 0.5

/** Times of one process; elements 2i and 2i + 1 are of block i. */
export interface Round {
  newMs: readonly number[]
  oldMs: readonly number[]
  /** Of a copy of the old build, loaded beside it. */
  copyMs: readonly number[]
  /** SM cycles of the same launches; null where they are unknown. */
  newCycles: readonly (number | null)[]
  oldCycles: readonly (number | null)[]
}

/** The new figure over the old. */
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

/** The log ratio of one round: the median over its blocks, within which steady drift cancels. */
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

/** Null if the cycles of fewer than two rounds are known. */
export const cycleRatio = (rounds: readonly Round[]): Ratio | null =>
  asRatio(logRatios(rounds, ['newCycles', 'oldCycles']))

/** The copy of the old build over the old build: how far the same code of a rung differs from itself. */
export const sameCodeRatio = (rounds: readonly Round[]): Ratio | null =>
  asRatio(logRatios(rounds, ['copyMs', 'oldMs']))

/** The far end of an interval around 1, in percent. */
const reachPercent = ({ low, high }: Ratio): number => 100 * (Math.max(high, 1 / low) - 1)

/** How far the same code differs from itself on this machine, in percent: half of these rungs do by less. */
export function spreadOfSameCode(rungs: Iterable<readonly Round[]>): number | null {
  const reaches = [...rungs].flatMap((rounds) => {
    const ratio = sameCodeRatio(rounds)
    return ratio ? [reachPercent(ratio)] : []
  })
  return reaches.length === 0 ? null : median(reaches)
}

/** What a change must exceed to count. */
export const thresholdPercent = (requestedRatio: number, sameCode: number | null): number =>
  Math.max(requestedRatio, sameCode ?? 0)

/** What a change of one rung must exceed: its own same code may differ by more than that of others. */
export function thresholdOf(rounds: readonly Round[], percent: number): number {
  const ratio = sameCodeRatio(rounds)
  return ratio ? Math.max(percent, reachPercent(ratio)) : percent
}

export const measuredVerdicts = ['slower', 'faster', 'same', 'unresolved'] as const
export type MeasuredVerdict = (typeof measuredVerdicts)[number]

/** By its interval alone: changed beyond one threshold, the same within the other. */
function byInterval({ low, high }: Ratio, beyond: number, within: number): MeasuredVerdict {
  if (low > beyond) return 'slower'
  if (high < 1 / beyond) return 'faster'
  return low >= 1 / within && high <= within ? 'same' : 'unresolved'
}

/**
 * The verdict on each rung by its times. With many rungs some interval lies outside by chance, so slower and faster also
 * have to hold up among all of them.
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
 * What to say of a rung: what is the same machine code got neither slower nor faster, whatever was measured. Where it
 * lies in memory differs, and that can be all there is to a difference.
 */
export const judged = (byTimes: MeasuredVerdict, sameBuild: boolean): MeasuredVerdict =>
  sameBuild && (byTimes === 'slower' || byTimes === 'faster') ? 'unresolved' : byTimes

/** Measured anew, a rung is slower only if it is slower again. */
export const confirmed = (again: MeasuredVerdict): MeasuredVerdict =>
  again === 'slower' ? 'slower' : 'unresolved'

/** 0 nothing got slower, 1 something did or broke, 2 nothing could be decided. */
export function exitCodeOf(all: readonly RegressVerdict[]): 0 | 1 | 2 {
  if (all.some((verdict) => verdict === 'slower' || verdict === 'broken')) return 1
  return all.some((verdict) => verdict === 'faster' || verdict === 'same') ? 0 : 2
}
