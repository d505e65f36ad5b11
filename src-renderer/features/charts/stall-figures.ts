/** Each rung's stall reasons, sorted by their sum over the ladder. */
import type { RungResult, Session } from '../../../src-main/domain/session/session'
import { metricDefinitions } from '../../../src-main/domain/metrics/metrics'
import type { MetricDefinition } from '../../../src-main/domain/metrics/metric-definition'

export const stallReasons: readonly MetricDefinition[] = metricDefinitions.filter(({ id }) =>
  /^stall[A-Z]/.test(id),
)

interface StallFigures {
  /** Stall reasons that have a value in at least one rung, sorted by descending sum. */
  reasons: readonly MetricDefinition[]
  rungs: readonly RungResult[]
  /** Rungs that have no value for any stall reason. */
  without: readonly RungResult[]
}

const valueOf = (rung: RungResult, id: string): number | null => rung.metrics[id]?.value ?? null

export const stallTotal = (rung: RungResult): number =>
  stallReasons.reduce((sum, { id }) => sum + (valueOf(rung, id) ?? 0), 0)

export function stallFigures(session: Session): StallFigures {
  const has = (rung: RungResult) => stallReasons.some(({ id }) => valueOf(rung, id) !== null)
  const rungs = session.rungs.filter(has)
  const sums = new Map(
    stallReasons.map(({ id }) => [
      id,
      rungs.reduce((sum, rung) => sum + (valueOf(rung, id) ?? 0), 0),
    ]),
  )
  return {
    reasons: stallReasons
      .filter(({ id }) => rungs.some((rung) => valueOf(rung, id) !== null))
      .sort((a, b) => (sums.get(b.id) ?? 0) - (sums.get(a.id) ?? 0)),
    rungs,
    without: session.rungs.filter((rung) => !has(rung)),
  }
}

/** Ratio of the longest bar to the median bar above which the median bar is too short to read. */
const dwarfs = 5

/** Returns `share` if one bar would make the other bars unreadable, and `warps` otherwise. */
export function stallScale({ rungs }: Pick<StallFigures, 'rungs'>): 'warps' | 'share' {
  const totals = rungs.map(stallTotal).sort((a, b) => a - b)
  const usual = totals[Math.floor((totals.length - 1) / 2)] ?? 0
  return (totals.at(-1) ?? 0) > dwarfs * usual ? 'share' : 'warps'
}

/**
 * Returns the number of warps stalled for one reason, or 0 if the rung was not stalled for that
 * reason.
 */
export const stallValue = (rung: RungResult, id: string): number => valueOf(rung, id) ?? 0
