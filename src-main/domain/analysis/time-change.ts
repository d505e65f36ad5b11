/**
 * Computes how a rung's time changed between two sessions. If the reference's time changed too, the
 * change is relative to the reference. If the samples are inconclusive, the result contains the
 * reasons.
 */
import { message, type AnyMessage } from '../messages/message'
import { rungOf, type RungResult, type Session, type Timing } from '../session/session'
import {
  fewestSamples,
  quantile,
  ascending,
  medianInterval,
  ratioInterval,
  type Interval,
} from './confidence-intervals'
import { code } from '../messages/sentence'

/** The new median time divided by the baseline's median time, with its confidence interval. */
export interface Change extends Interval {
  ratio: number
}

/**
 * Maximum reference drift at which times are still normalized by the reference. At a larger drift,
 * a memory-bound rung and a compute-bound reference may drift by different factors.
 */
const farthestDrift = 1.25

/** Rounding tolerance. The runner prints nine significant digits. */
const rounding = 1e-6

export const sides = { baseline: 'baseline.inBaseline', now: 'baseline.inNew' } as const
export const where = (a: boolean, b: boolean): AnyMessage =>
  message(a && b ? 'baseline.inBoth' : a ? sides.baseline : sides.now)

export function percentChange(ratio: number): string {
  const percent = ((ratio - 1) * 100).toFixed(2)
  const digits = percent.replace('-', '')
  if (Number(digits) === 0) return '0.00 %'
  return `${percent.startsWith('-') ? '−' : '+'}${digits} %`
}

export const figures = ({ ratio, low, high }: Change) => ({
  change: percentChange(ratio),
  low: percentChange(low),
  high: percentChange(high),
})

const isTime = (ms: number): boolean => Number.isFinite(ms) && ms > 0

const isTimed = (rung: RungResult): boolean => rung.timing !== null && isTime(rung.timing.medianMs)

function followsFromSamples({ medianMs, spread, samplesMs }: Timing): boolean {
  const sorted = ascending(samplesMs)
  const near = (a: number, b: number): boolean => Math.abs(a - b) <= rounding
  const median = quantile(sorted, 0.5)
  return (
    sorted.every(isTime) &&
    near(median / medianMs, 1) &&
    near((quantile(sorted, 0.75) - quantile(sorted, 0.25)) / median, spread)
  )
}

/** Returns the change in a rung's time, or the reasons why its samples are inconclusive. */
export function changeOf(a: RungResult, b: RungResult): Change | AnyMessage[] {
  if (!isTimed(a) || !isTimed(b))
    return [message('baseline.noTime', { where: where(!isTimed(a), !isTimed(b)) })]
  const timings = { baseline: a.timing!, now: b.timing! }
  const faults = (['baseline', 'now'] as const).flatMap((side): AnyMessage[] => {
    const { samplesMs } = timings[side]
    const values = { where: message(sides[side]) }
    if (samplesMs.length < fewestSamples)
      return [
        message('baseline.fewSamples', {
          ...values,
          samples: samplesMs.length,
          fewest: fewestSamples,
        }),
      ]
    return followsFromSamples(timings[side]) ? [] : [message('baseline.samplesDisagree', values)]
  })
  if (faults.length > 0) return faults
  const [before, now] = [medianInterval(a.timing!.samplesMs)!, medianInterval(b.timing!.samplesMs)!]
  return { ratio: b.timing!.medianMs / a.timing!.medianMs, ...ratioInterval(before, now) }
}

export const isChange = (change: Change | AnyMessage[]): change is Change => !Array.isArray(change)

export const clockOf = ({
  smClockBeforeMHz: before,
  smClockAfterMHz: after,
}: Timing): number | null => {
  const known = [before, after].filter((clock) => clock !== null)
  return known.length === 0 ? null : known.reduce((sum, clock) => sum + clock, 0) / known.length
}

/** The reference's drift, and how to correct for it. */
export interface Drift {
  reference: string
  change: Change
  /**
   * Whether to judge only by times relative to the reference. If false, a verdict requires measured
   * and relative times to agree.
   */
  normalize: boolean
  note: AnyMessage
}

export function driftOf(
  a: Session,
  b: Session,
  ids: readonly string[],
  threshold: number,
): Drift | null {
  const { reference } = a.ladder
  if (reference === null || reference !== b.ladder.reference) return null
  const changeOfRung = (id: string): Change | null => {
    const [left, right] = [rungOf(a, id), rungOf(b, id)]
    const change = left && right ? changeOf(left, right) : null
    return change && isChange(change) ? change : null
  }
  const change = changeOfRung(reference)
  // If the reference's source changed, its times do not show drift.
  if (!change || rungOf(a, reference)!.sourceHash !== rungOf(b, reference)!.sourceHash) return null
  const up = change.low > 1
  const size = Math.max(change.ratio, 1 / change.ratio)
  if ((!up && change.high >= 1) || size - 1 <= (threshold - 1) / 2) return null
  const others = ids.flatMap((id) => (id === reference ? [] : (changeOfRung(id) ?? [])))
  const together = others.length > 0 && others.every(({ low, high }) => (up ? low > 1 : high < 1))
  const values = { reference: code(reference), change: percentChange(change.ratio) }
  const normalize = together && size <= farthestDrift
  const key = normalize ? 'baseline.drift' : together ? 'baseline.driftFar' : 'baseline.driftPart'
  return { reference, change, normalize, note: message(key, values) }
}

/**
 * Returns the change relative to the reference launches that were interleaved with the rung. A
 * session does not store the samples of the interleaved reference launches. The noise is therefore
 * computed from the reference's regular samples.
 */
export function relativeTo(
  { change: own }: Drift,
  a: Timing,
  b: Timing,
  change: Change,
): Change | null {
  const [before, now] = [a.referenceMedianMs, b.referenceMedianMs]
  if (before === null || now === null || !isTime(before) || !isTime(now)) return null
  const beside = now / before
  return {
    ratio: change.ratio / beside,
    low: change.low / (beside * (own.high / own.ratio)),
    high: change.high / (beside * (own.low / own.ratio)),
  }
}
