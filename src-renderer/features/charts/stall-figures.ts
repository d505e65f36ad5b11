/** Why warps wait: the reasons of each rung, largest first over the whole ladder. */
import { metricDefinitions } from '../../../src-main/domain/metrics/metrics'
import { type MetricDefinition } from '../../../src-main/domain/metrics/metric-definition'
import type { RungResult, Session } from '../../../src-main/domain/session/session'

export const stallReasons: readonly MetricDefinition[] = metricDefinitions.filter(({ id }) =>
  /^stall[A-Z]/.test(id),
)

export interface StallFigures {
  /** Reasons with a figure in some rung, by their sum over the rungs. */
  reasons: readonly MetricDefinition[]
  rungs: readonly RungResult[]
  /** Rungs with no figure for any reason. */
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

/** Warps of one reason; 0 where the rung has none of it, since it has others. */
export const stallValue = (rung: RungResult, id: string): number => valueOf(rung, id) ?? 0
