/** Contents of the ladder's rows, calculated once per session. */
import {
  compareRungs,
  speedup,
  type RungComparison,
} from '../../../src-main/domain/analysis/compare'
import { stepTo, type TakenStep } from '../../../src-main/domain/analysis/climb'
import { libraryClaim } from '../../../src-main/domain/analysis/library-claim'
import { timeNotes } from '../../../src-main/domain/analysis/time-notes'
import type { AnyMessage } from '../../../src-main/domain/messages/message'
import { leadFigure, leadOf, type Lead } from '../../../src-main/domain/analysis/lead-figure'
import { rangeGroups, type RangeGroup } from '../../../src-main/domain/programs/range-groups'
import { gflops } from '../../../src-main/domain/task/problem'
import {
  climbs,
  rungBefore,
  type RungResult,
  type Session,
  type Timing,
} from '../../../src-main/domain/session/session'
import { can } from '../../../src-main/domain/targets/targets'
import { columnDecimals, rungNumbers } from '../../ui/format'
import { slowdownOf, type Slowdown } from '../../../src-main/domain/analysis/slowdown'
import { makeScale, type Scale, type ScaleKind } from '../../ui/scale'

export interface LadderRow {
  rung: RungResult
  number: string
  isReference: boolean
  /** Whether the rung is off the ladder's main path. */
  isAside: boolean
  before: RungResult | undefined
  /** The comparison with the rung on which this rung builds, or undefined for the first rung. */
  comparison: RungComparison | undefined
  step: TakenStep | null
  /** Notes to show next to the rung's time. */
  timeNotes: readonly AnyMessage[]
  /** Whether the rung is faster than the reference in every timing mode. */
  isFaster: boolean
  /** The time of the ladder's first rung divided by this rung's time, or null for the reference. */
  overFirst: number | null
  /**
   * The slowdown, set if the rung is slower than its previous rung, or was expected to be slower.
   */
  slowdown: Slowdown | null
  /** The ladder's note about the rung. */
  note: string | null
  /**
   * Error of the result relative to FP64, on the scale of the task's check. The error is null if
   * the result was not verified or is not finite.
   */
  error: number | null
  /** The rung's error divided by the reference's error, or null for the reference. */
  errorToReference: number | null
  /** The NVTX range of the launch, or null unless kernels are grouped by range. */
  range: RangeGroup | null
}

/** Returns the ladder's starting point: the first timed rung other than the reference. */
const firstRung = (session: Session): RungResult | undefined =>
  session.rungs.find((rung) => rung.timing && rung.id !== session.ladder.reference)

export function ladderRows(session: Session): LadderRow[] {
  const first = firstRung(session)
  const entries = new Map(session.ladder.rungs.map((entry) => [entry.id, entry]))
  const referenceError = errorOf(session.rungs.find(({ id }) => id === session.ladder.reference))
  const numbers = rungNumbers(session.rungs)
  const byId = new Map(session.rungs.map(({ id }, index) => [id, numbers[index]]))
  const inOrder =
    rangeGroups(session)?.flatMap((range) => range.rungs.map((rung) => ({ rung, range }))) ??
    session.rungs.map((rung) => ({ rung, range: null }))
  return inOrder.map(({ rung, range }) => {
    const isReference = rung.id === session.ladder.reference
    const before = isReference || !climbs(session) ? undefined : rungBefore(session, rung.id)
    const comparison = before && compareRungs({ session, rung: before }, { session, rung })
    const error = errorOf(rung)
    return {
      rung,
      number: byId.get(rung.id) ?? '',
      isReference,
      isAside: entries.get(rung.id)?.aside ?? false,
      before,
      comparison,
      step: stepTo(session, rung),
      timeNotes: rung.timing ? timeNotes(rung.timing) : [],
      isFaster: libraryClaim(session, rung)?.claim === 'faster',
      overFirst: isReference ? null : speedup(first, rung),
      slowdown: isReference ? null : slowdownOf(entries.get(rung.id), comparison),
      note: entries.get(rung.id)?.note ?? null,
      error,
      errorToReference: isReference || !error || !referenceError ? null : error / referenceError,
      range,
    }
  })
}

const errorOf = (rung: RungResult | undefined): number | null =>
  rung?.verify?.worstRelativeError ?? null

/**
 * Returns an error as text, such as 3.5e-6. Errors of different precisions differ in the exponent.
 * Only two digits are shown, because further digits depend on the inputs.
 */
export const errorText = (error: number): string => error.toExponential(1)

/**
 * Returns whether the rungs' errors differ. An error column is useful only if the errors differ.
 */
export function errorsDiffer({ rungs }: Session): boolean {
  const errors = rungs.map(errorOf).filter((error) => error !== null)
  return new Set(errors.map(errorText)).size > 1
}

/** The optional time columns, which only some sessions have. */
export interface TimeColumns {
  notes: boolean
  burst: boolean
  sustained: boolean
}

export function timeColumns({ rungs }: Session): TimeColumns {
  const has = (holds: (timing: Timing) => unknown): boolean =>
    rungs.some(({ timing }) => timing && holds(timing))
  return {
    notes: has((timing) => timeNotes(timing).length > 0),
    burst: has(({ burst }) => burst),
    sustained: has(({ sustained }) => sustained),
  }
}

/** The options for the ratio column. The column shows this time divided by the rung's time. */
export type RatioTo = 'reference' | 'first' | 'baseline'

/** Returns operations per second, or bytes per second if the task is memory-bound. */
export const rateOf = (
  session: Session,
  rung: Pick<RungResult, 'timing' | 'flags'>,
  lead: Lead = leadOf(session),
): number | null => leadFigure(session, rung, lead)?.rate.value ?? null

export const throughputScale = (session: Session, kind: ScaleKind): Scale =>
  makeScale(
    kind,
    session.rungs.flatMap((rung) => rateOf(session, rung) ?? []),
  )

/**
 * Returns the reference's throughput. If the session has no rung for the reference, uses the
 * reference time measured with another rung.
 */
export function referenceThroughput(session: Session): number | null {
  const own = session.rungs.find(({ id }) => id === session.ladder.reference)
  if (own?.timing) return rateOf(session, own)
  const beside = session.rungs.find((rung) => rung.timing?.referenceMedianMs)?.timing
  if (!beside?.referenceMedianMs || !session.problem) return null
  const medianMs = beside.referenceMedianMs
  const timing = {
    ...beside,
    medianMs,
    gflops: gflops(session.ladder.task, session.problem, medianMs),
  }
  return rateOf(session, { timing, flags: [] })
}

export const timeDecimals = (session: Session): number =>
  columnDecimals(session.rungs.flatMap((rung) => (rung.timing ? [rung.timing.medianMs] : [])))

/**
 * Selects or deselects a rung. Two selected rungs open in Compare, and more than two open in the
 * matrix.
 */
export function togglePick(picked: readonly string[], id: string): string[] {
  if (picked.includes(id)) return picked.filter((other) => other !== id)
  return [...picked, id]
}

/**
 * Returns the pair with which Compare opens: the step with the largest speedup. For kernels that do
 * not build on each other and have no steps, returns the two slowest kernels.
 */
export function defaultPair(session: Session): [string, string] | null {
  const steps = session.rungs.flatMap((rung) => {
    const step = stepTo(session, rung)
    return step ? [{ a: step.from.id, b: rung.id, factor: step.factor }] : []
  })
  if (steps.length > 0) {
    const { a, b } = steps.reduce((best, step) => (step.factor > best.factor ? step : best))
    return [a, b]
  }
  const [first, second] = climbs(session) ? session.rungs : byTime(session.rungs)
  return first && second ? [first.id, second.id] : null
}

const profiledMs = ({ profiledTime }: RungResult): number => profiledTime?.totalMs ?? 0
const byTime = (rungs: readonly RungResult[]): RungResult[] =>
  [...rungs].sort((a, b) => profiledMs(b) - profiledMs(a))

/**
 * Returns the slowest kernel in an import, which is shown first. Returns undefined for this
 * program's own runs.
 */
export const hottestOfImport = (session: Session): string | undefined =>
  can(session.target).knowsRun ? undefined : byTime(session.rungs)[0]?.id
