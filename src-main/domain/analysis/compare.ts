/**
 * Compares the metrics and the times of two rungs. The UI and the reports compute the source diff.
 */
import { z } from 'zod'
import { haveOtherGpus } from './comparability'
import { expectDirections } from '../ladder/rung'
import { metricDefinition, metricDefinitions, MetricValue } from '../metrics/metrics'
import { CacheState, type RungResult, type Session } from '../session/session'
import { PredictedTime } from '../session/predicted'
import { units, type Unit } from '../metrics/units'
import { predictedRatio } from '../metrics/predicted-range'

/**
 * Verdict on the change of a metric or a time.
 *
 * - better, worse: the change follows or opposes the metric's better direction.
 * - changed: the value changed, but neither direction is better.
 * - same: the difference is not significant.
 * - unknown: one of the rungs has no value.
 */
export const Verdict = z.enum(['better', 'worse', 'changed', 'same', 'unknown'])
export type Verdict = z.infer<typeof Verdict>

export const MetricDelta = z.object({
  id: z.string(),
  label: z.string(),
  unit: z.enum(units),
  a: MetricValue.nullable(),
  b: MetricValue.nullable(),
  /** b − a in the metric's unit. */
  delta: z.number().nullable(),
  /** b / a, or null if a is 0. */
  ratio: z.number().nullable(),
  verdict: Verdict,
  /**
   * The prediction that rung b's header makes for this step, and whether it was correct. Null if
   * the header predicts nothing.
   */
  expected: z
    .object({ direction: z.enum(expectDirections), met: z.boolean().nullable() })
    .nullable(),
})
export type MetricDelta = z.infer<typeof MetricDelta>

export const TimeDelta = z.object({
  aMs: z.number().nullable(),
  bMs: z.number().nullable(),
  /**
   * L2 contents while each rung was timed, or null if the runner did not time the rung. Times with
   * different L2 contents or on different GPUs are not compared.
   */
  cacheState: z.object({ a: CacheState.nullable(), b: CacheState.nullable() }),
  /** Time of rung a divided by the time of rung b. A value above 1 means that b is faster. */
  speedup: z.number().nullable(),
  /**
   * Sum of the two times' spreads. A time difference below this sum or below half a percent is not
   * significant.
   */
  noise: z.number().nullable(),
  verdict: Verdict,
  /**
   * Predicted times, or null if the rung has no prediction. Verdicts use the whole predicted range.
   */
  predicted: z.object({ a: PredictedTime.nullable(), b: PredictedTime.nullable() }).optional(),
})
export type TimeDelta = z.infer<typeof TimeDelta>

/**
 * A parameter that differs between two builds of one source. A value is null if the build lacks the
 * parameter.
 */
const ParameterDelta = z.object({
  name: z.string(),
  a: z.number().nullable(),
  b: z.number().nullable(),
})
type ParameterDelta = z.infer<typeof ParameterDelta>

const ComparedSide = z.object({ session: z.string(), rung: z.string(), title: z.string() })

export const RungComparison = z.object({
  a: ComparedSide,
  b: ComparedSide,
  parameters: z.array(ParameterDelta),
  time: TimeDelta,
  metrics: z.array(MetricDelta),
})
export type RungComparison = z.infer<typeof RungComparison>

/**
 * Noise threshold for structural counters. Structural counters are reproducible, but changes that
 * print as 1.00× are ignored.
 */
const structuralNoise = 0.005

/** Typical relative variation of dynamic counters between launches. */
export const dynamicMetricNoise = 0.01

/**
 * Times within this relative difference are treated as equal, regardless of their spread. Clocks
 * and load from other GPU users vary between runs.
 */
const leastTimeChange = 0.005

export const timesAreSame = (aMs: number, bMs: number, spreads: number): boolean =>
  Math.abs(aMs / bMs - 1) <= Math.max(spreads, leastTimeChange)

const near = (a: number, b: number, share: number): boolean =>
  Math.abs(b - a) <= share * Math.max(Math.abs(a), Math.abs(b))

/** Returns whether a change is below the metric's noise floor. */
export function isBelowFloor(id: string, change: number, a: RungResult, b: RungResult): boolean {
  const floor = metricDefinition(id)?.floor
  if (!floor) return false
  if ('least' in floor) return Math.abs(change) < floor.least
  const wholes = floor.of.map((id) => [a.metrics[id]?.value, b.metrics[id]?.value] as const)
  const whole = wholes.find(([left, right]) => left != null && right != null)
  return whole !== undefined && Math.abs(change) < floor.share * Math.max(whole[0]!, whole[1]!)
}

function metricVerdict(
  id: string,
  left: number,
  right: number,
  a: RungResult,
  b: RungResult,
): Verdict {
  const definition = metricDefinition(id)
  const noise = definition?.kind === 'structural' ? structuralNoise : dynamicMetricNoise
  if (near(left, right, noise)) return 'same'
  if (!definition) return 'changed'
  if (isBelowFloor(id, right - left, a, b)) return 'same'
  if (definition.better === 'neither') return 'changed'
  return right > left === (definition.better === 'higher') ? 'better' : 'worse'
}

/**
 * Tolerance for a predicted “same”. The tolerance allows for small side effects, such as extra
 * loads for the first tile of a pipeline.
 */
const sameWithin = 0.01

function expectationMet(
  direction: 'up' | 'down' | 'same',
  verdict: Verdict,
  a: number | null | undefined,
  b: number | null | undefined,
): boolean | null {
  if (a == null || b == null) return null
  if (direction === 'same') return verdict === 'same' || near(a, b, sameWithin)
  if (verdict === 'same') return false
  return direction === 'up' ? b > a : b < a
}

/**
 * Returns whether b's header predicts the step from a to b. If the header has an @after rung, that
 * rung must be rung a.
 */
export const isPredicted = (a: RungResult, b: RungResult): boolean =>
  b.expect.length > 0 && (b.after === null || b.after === a.id)

/**
 * Returns the parameters whose values differ between two rungs. Returns an empty list if the
 * sources differ, because equal names may then have different meanings.
 */
export const parameterDeltas = (a: RungResult, b: RungResult): ParameterDelta[] =>
  a.file === b.file
    ? [...new Set([...Object.keys(a.params), ...Object.keys(b.params)])]
        .map((name) => ({ name, a: a.params[name] ?? null, b: b.params[name] ?? null }))
        .filter((one) => one.a !== one.b)
    : []

/** Returns parameter changes as text, such as `BM 128 → 64, BK 8 → 16`. */
export const parameterWords = (deltas: readonly ParameterDelta[]): string =>
  deltas.map(({ name, a, b }) => `${name} ${a ?? '–'} → ${b ?? '–'}`).join(', ')

function compareMetric(
  id: string,
  unit: Unit,
  label: string,
  a: RungResult,
  b: RungResult,
): MetricDelta {
  const left = a.metrics[id] ?? null
  const right = b.metrics[id] ?? null
  const known = left?.value != null && right?.value != null
  const delta = known ? right.value! - left.value! : null
  const moved = known ? metricVerdict(id, left.value!, right.value!, a, b) : 'unknown'
  const expectation = isPredicted(a, b) ? b.expect.find(({ metric }) => metric === id) : undefined
  const met = expectation
    ? expectationMet(expectation.direction, moved, left?.value, right?.value)
    : null
  // If the header correctly predicted "same", the verdict is "same" even for a small change.
  const verdict = expectation?.direction === 'same' && met === true ? 'same' : moved
  return {
    id,
    label,
    unit,
    a: left,
    b: right,
    delta,
    ratio: known && left.value !== 0 ? right.value! / left.value! : null,
    verdict,
    expected: expectation ? { direction: expectation.direction, met } : null,
  }
}

/** Assumed spread of single launches under ncu, if none was measured. */
const unmeasuredSpread = 0.025

/**
 * Returns the runner's time, or the median under ncu if neither rung has a runner's time. A
 * runner's time is never compared with a time under ncu.
 */
function timeOf(
  { timing, profiledTime }: RungResult,
  other: RungResult,
): { medianMs: number; spread: number } | null {
  if (timing || other.timing) return timing
  return profiledTime
    ? { medianMs: profiledTime.medianMs, spread: profiledTime.spread ?? unmeasuredSpread }
    : null
}

/** Compares predicted times. No ratio is computed between a predicted and a measured time. */
function comparePredicted(
  a: PredictedTime | null,
  b: PredictedTime | null,
  areRanked: boolean,
): TimeDelta {
  const delta = {
    ...{ aMs: a?.ms ?? null, bMs: b?.ms ?? null },
    ...{ cacheState: { a: null, b: null }, noise: null, predicted: { a, b } },
  }
  if (!a || !b || !areRanked) return { ...delta, speedup: null, verdict: 'unknown' }
  const { value, low, high } = predictedRatio(a, b)
  return { ...delta, speedup: value, verdict: low > 1 ? 'better' : high < 1 ? 'worse' : 'unknown' }
}

function compareTime(a: RungResult, b: RungResult, areRanked: boolean): TimeDelta {
  const [predictedA, predictedB] = [a.predicted ?? null, b.predicted ?? null]
  if (predictedA || predictedB) {
    const delta = comparePredicted(predictedA, predictedB, areRanked)
    const measured = {
      aMs: delta.aMs ?? a.timing?.medianMs ?? null,
      bMs: delta.bMs ?? b.timing?.medianMs ?? null,
    }
    return { ...delta, ...measured }
  }
  const [left, right] = [timeOf(a, b), timeOf(b, a)]
  const aMs = left?.medianMs ?? null
  const bMs = right?.medianMs ?? null
  const cacheState = { a: a.timing?.cacheState ?? null, b: b.timing?.cacheState ?? null }
  if (!areRanked || !left || !right || right.medianMs === 0 || cacheState.a !== cacheState.b)
    return { aMs, bMs, cacheState, speedup: null, noise: null, verdict: 'unknown' }
  const speedup = left.medianMs / right.medianMs
  const noise = left.spread + right.spread
  const same = timesAreSame(left.medianMs, right.medianMs, noise)
  return {
    aMs,
    bMs,
    cacheState,
    speedup,
    noise,
    verdict: same ? 'same' : speedup > 1 ? 'better' : 'worse',
  }
}

/**
 * Compares rung b with rung a. The rungs may belong to the same session or to different sessions.
 */
export function compareRungs(
  a: { session: Session; rung: RungResult },
  b: { session: Session; rung: RungResult },
): RungComparison {
  const side = ({ session, rung }: { session: Session; rung: RungResult }) => ({
    session: session.id,
    rung: rung.id,
    title: rung.title,
  })
  return {
    a: side(a),
    b: side(b),
    parameters: parameterDeltas(a.rung, b.rung),
    time: compareTime(a.rung, b.rung, !haveOtherGpus(a.session, b.session)),
    metrics: metricDefinitions
      .filter(({ id }) => a.rung.metrics[id] || b.rung.metrics[id])
      .map(({ id, unit, label }) => compareMetric(id, unit, label, a.rung, b.rung)),
  }
}

/** Returns how much faster rung b is than rung a, or null if either rung has no time. */
export const speedup = (a: RungResult | undefined, b: RungResult): number | null =>
  a?.timing && b.timing && a.timing.cacheState === b.timing.cacheState
    ? a.timing.medianMs / b.timing.medianMs
    : null
