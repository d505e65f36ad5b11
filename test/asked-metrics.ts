/**
 * Recordings and captures know the metrics that their runs asked for. One that has come to the registry since
 * is no fault of theirs.
 */
import { metricsIn } from '../src-main/adapters/tools/ncu'
import { says, type Statement } from '../src-main/domain/messages/message'
import type { MetricDefinition, ProfileLevel } from '../src-main/domain/metrics/metric-definition'
import { conflictMetrics } from '../src-main/domain/metrics/counted-metrics'
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

/** The modes of a GPU, which sessions were saved without before they were read. */
function withModesOf(device: Session['device'], saved: Session['device']): Session['device'] {
  if (device === null || saved === null || saved.ecc !== undefined) return device
  const { ecc: _ecc, mig: _mig, ...rest } = device
  return rest
}

/** Why a session has no figure that came to the registry after it was saved: not asked for, or not yet summed over instructions. */
const isLater = (id: string, reason: Statement | undefined): boolean =>
  says(reason, 'records.notAsked') ||
  (overInstructions.has(id) &&
    (says(reason, 'figures.noInstructions') || says(reason, 'figures.follows')))

const overInstructions = new Set(conflictMetrics.map(({ id }) => id))

/** A session without the metrics that the run of `saved` was not asked for. */
export const withAsked = (session: Session, saved: Session): Session => ({
  ...session,
  device: withModesOf(session.device, saved.device),
  rungs: session.rungs.map((rung) => ({
    ...rung,
    metrics: Object.fromEntries(
      Object.entries(rung.metrics).filter(
        ([id]) => !isLater(id, rungOf(saved, rung.id)?.metrics[id]?.reason),
      ),
    ),
  })),
})
