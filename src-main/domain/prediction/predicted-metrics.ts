/** Converts predicted figures to registry metrics. The metrics follow ncu's definitions. */
import { metricDefinitions, type MetricValue } from '../metrics/metrics'
import { limiters, stallReasons, type Limiter } from '../session/prediction-words'
import type { PredictedLaunch } from './prediction'

/** Maps each unit to its utilization metric. */
const utilizations: Readonly<Partial<Record<Limiter, string>>> = {
  dram: 'dramUtilization',
  l2: 'l2Utilization',
  l1: 'lsuDataUtilization',
  lsu: 'lsuUtilization',
  fma: 'fmaUtilization',
  tensor: 'tensorUtilization',
  issue: 'issueSlotsBusy',
}

/** Maps ncu's name for each stall reason to the corresponding metric. */
const stallMetrics = new Map(
  stallReasons.flatMap((reason) => {
    const counter = `smsp__average_warps_issue_stalled_${reason}_per_issue_active.ratio`
    const found = metricDefinitions.find(({ ncu }) => ncu.includes(counter))
    return found ? [[reason, found.id] as const] : []
  }),
)

type Figure = (launch: PredictedLaunch) => number | null | undefined

/**
 * Returns the average of a value over all launches, weighted by launch time. Returns null if no
 * launch has a value.
 */
function weighted(launches: readonly PredictedLaunch[], figure: Figure): number | null {
  let [sum, weight] = [0, 0]
  for (const launch of launches) {
    const value = figure(launch)
    if (value == null) continue
    sum += value * launch.ms
    weight += launch.ms
  }
  return weight > 0 ? sum / weight : null
}

export function predictedMetrics(
  launches: readonly PredictedLaunch[],
): Record<string, MetricValue> {
  const values: Record<string, number | null> = {
    achievedOccupancy: weighted(launches, (one) => 100 * one.achievedOccupancy),
    l1HitRate: weighted(launches, ({ l1HitRate }) => l1HitRate && 100 * l1HitRate),
    l2HitRate: weighted(launches, ({ l2HitRate }) => l2HitRate && 100 * l2HitRate),
    dramBytes: launches.reduce((sum, one) => sum + one.dramReadBytes + one.dramWriteBytes, 0),
    l2Bytes: launches.reduce((sum, one) => sum + one.l2ReadBytes + one.l2WriteBytes, 0),
  }
  for (const unit of limiters) {
    const id = utilizations[unit]
    if (id) values[id] = weighted(launches, ({ utilization: { [unit]: of } }) => of && 100 * of)
  }
  for (const [reason, id] of stallMetrics)
    values[id] = weighted(launches, ({ stalls }) => stalls[reason] ?? 0)
  return Object.fromEntries(
    metricDefinitions.flatMap(({ id, unit }): [string, MetricValue][] => {
      const value = values[id]
      return value == null ? [] : [[id, { value, unit, evidence: 'predicted' }]]
    }),
  )
}
