/** Judges a counter against fixed bounds and against other rungs' counters. */
import type { MetricCheck } from '../lab'
import type { LabFigure } from '../outcome'
import { message, together, type AnyMessage, type Statement } from '../../messages/message'
import { metricDefinition } from '../../metrics/metrics'
import { rungOf, type Session } from '../../session/session'
import { boundsOfFigure, keepsTo } from '../predicted-bounds'
import { formatValue } from '../../metrics/units'
import { withoutNoise } from '../../session/noisy-counters'
import { submissionId, cannot, type LabEvidence } from './evidence'
import { passed, failed, notHere, derived, type Verdict } from './verdict'
import { metricLabel } from './check-title'

interface Bound {
  sign: '≤' | '≥'
  limit: number
  /** Possible range of a predicted limit. For a measured limit, both ends equal the limit. */
  range: { low: number; high: number }
  /** Description of the limit's origin; empty if the lab states the limit directly. */
  from: string
}

const exactly = (limit: number) => ({ limit, range: { low: limit, high: limit } })

function boundsOf(check: MetricCheck, session: Session): Bound[] | { missing: Statement } {
  const bounds: Bound[] = []
  if (check.max !== undefined) bounds.push({ sign: '≤', ...exactly(check.max), from: '' })
  if (check.min !== undefined) bounds.push({ sign: '≥', ...exactly(check.min), from: '' })
  for (const [bound, sign] of [
    [check.below, '≤'],
    [check.above, '≥'],
  ] as const) {
    if (!bound) continue
    const other = rungOf(session, bound.rung)
    const value = other?.metrics[check.metric]
    if (value?.value == null)
      return {
        missing: message('checks.noFigure', {
          rung: bound.rung,
          why: value?.reason ?? message('checks.notMeasured'),
        }),
      }
    const from = bound.factor === 1 ? bound.rung : `${bound.factor} × ${bound.rung}`
    const { low, high } = boundsOfFigure(other, value)
    const range = { low: low * bound.factor, high: high * bound.factor }
    bounds.push({ sign, limit: value.value * bound.factor, range, from })
  }
  return bounds
}

export function judgeMetric(metricCheck: MetricCheck, evidence: LabEvidence): Verdict {
  const blocked = cannot(evidence)
  if (blocked) return blocked
  const session = evidence.session!
  const own = rungOf(session, submissionId)
  const others = [metricCheck.below, metricCheck.above].flatMap((bound) =>
    bound ? [rungOf(session, bound.rung)] : [],
  )
  const check = { ...metricCheck, metric: withoutNoise(metricCheck.metric, [own, ...others]) }
  const value = own?.metrics[check.metric]
  const label = metricLabel(check.metric)
  const metric = { metric: check.metric }
  const noisy =
    metricDefinition(check.metric)?.structural !== undefined && value?.evidence === 'measured'
      ? message('checks.withNoise')
      : null
  if (value?.value == null)
    return notHere(
      message('checks.metricMissing', {
        metric,
        why: value?.reason ?? message('checks.notCollected'),
      }),
    )
  const bounds = boundsOf(check, session)
  if ('missing' in bounds) return notHere(bounds.missing)
  const figure = { metric, value: formatValue(value.value, value.unit) }
  const words = ({ sign, limit, from }: Bound): AnyMessage => {
    const bound = { sign, limit: formatValue(limit, value.unit) }
    return from === ''
      ? message('part.bound', bound)
      : message('part.boundFrom', { ...bound, from })
  }
  const figures: LabFigure[] = [
    { label, value },
    ...bounds.map(({ sign, limit, from }) => ({
      label: from === '' ? sign : `${sign} (${from})`,
      value: derived(limit, value.unit),
    })),
  ]
  const kept = bounds.map((bound) => ({
    bound,
    holds: keepsTo(boundsOfFigure(own, value), bound.sign, bound.range),
  }))
  const broken = kept.find(({ holds }) => holds === false)?.bound
  const open = kept.find(({ holds }) => holds === null)?.bound
  if (!broken && open)
    return notHere(
      message('checks.cannotTell', {
        what: message('checks.metricFailed', { ...figure, bound: words(open) }),
      }),
      figures,
    )
  return broken
    ? failed(
        together(message('checks.metricFailed', { ...figure, bound: words(broken) }), noisy),
        figures,
      )
    : passed(
        together(
          message('checks.metricPassed', {
            ...figure,
            bound: bounds
              .map(words)
              .reduceRight((other, bound) => message('part.both', { bound, other })),
          }),
          noisy,
        ),
        figures,
      )
}
