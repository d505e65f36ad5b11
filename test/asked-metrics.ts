/**
 * Recordings and captures know the metrics that their runs asked for. One that has come to the registry since
 * is no fault of theirs.
 */
import { metricsIn } from '../src-main/adapters/tools/ncu'
import { says } from '../src-main/domain/messages/message'
import type { MetricDefinition, ProfileLevel } from '../src-main/domain/metrics/metric-definition'
import { metricDefinition, metricsAtLevel } from '../src-main/domain/metrics/metrics'
import { rungOf, type Session } from '../src-main/domain/session/session'

/** Those of a level that follow from what a call of ncu asked for. */
export function metricsAsked(level: ProfileLevel, argv: readonly string[]): MetricDefinition[] {
  const names = metricsIn(argv)
  const isAsked = ({ ncu, derived }: MetricDefinition): boolean =>
    derived
      ? derived.from.every((id) => isAsked(metricDefinition(id)!))
      : ncu.some((name) => names.has(name))
  return metricsAtLevel(level).filter(isAsked)
}

/** A session without the metrics that the run of `saved` was not asked for. */
export const withAsked = (session: Session, saved: Session): Session => ({
  ...session,
  rungs: session.rungs.map((rung) => ({
    ...rung,
    metrics: Object.fromEntries(
      Object.entries(rung.metrics).filter(
        ([id]) => !says(rungOf(saved, rung.id)?.metrics[id]?.reason, 'records.notAsked'),
      ),
    ),
  })),
})
