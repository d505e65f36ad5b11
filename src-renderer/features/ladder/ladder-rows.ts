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
  /** Beside the main story of its ladder. */
  isAside: boolean
  before: RungResult | undefined
  /** The rung against the one it builds on; undefined for the first. */
  comparison: RungComparison | undefined
  step: TakenStep | null
  /** The notes beside its time. */
  timeNotes: readonly AnyMessage[]
  /** Called faster than the reference only where all ways of timing agree. */
  isFaster: boolean
  /** The time of the ladder's first rung over this one's; null for the reference. */
  overFirst: number | null
  /** Set if it is slower than the rung it builds on, or was expected to be. */
  slowdown: Slowdown | null
  /** The ladder's note on it. */
  note: string | null
  /** Of its result against FP64, on the scale of the task's check; null where it was not verified or is not finite. */
  error: number | null
  /** That error over the reference's; null for the reference. */
  errorToReference: number | null
  /** The NVTX range that it was launched in; null unless kernels are grouped by range. */
  range: RangeGroup | null
}

/** The ladder's starting point: the first timed rung that is not the reference. */
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

/** 3.5e-6: the exponent tells precisions apart, and digits beyond the second depend on the inputs. */
export const errorText = (error: number): string => error.toExponential(1)

/** Whether the rungs' precisions differ: a column of identical errors says nothing. */
export function errorsDiffer({ rungs }: Session): boolean {
  const errors = rungs.map(errorOf).filter((error) => error !== null)
  return new Set(errors.map(errorText)).size > 1
}

/** The columns of times, besides which a session may have others. */
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

/** What the ratio column's times are divided by. */
export type RatioTo = 'reference' | 'first' | 'baseline'

/** Operations or bytes a second, by what bounds the task. */
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

/** The reference's throughput; if it is not a row of the session, from its time measured with another rung. */
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

/** Toggles a rung: two picked rungs open in Compare, more in the matrix. */
export function togglePick(picked: readonly string[], id: string): string[] {
  if (picked.includes(id)) return picked.filter((other) => other !== id)
  return [...picked, id]
}

/**
 * The pair that Compare opens with: the step that bought most, as the factor between both times. Kernels that do not build
 * on each other have no steps: then the two that take the most time.
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

/** The kernel that takes the most time, which an import opens with; undefined for sessions that we ran. */
export const hottestOfImport = (session: Session): string | undefined =>
  can(session.target).knowsRun ? undefined : byTime(session.rungs)[0]?.id
