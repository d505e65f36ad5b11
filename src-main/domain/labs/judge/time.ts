/** Judges a measured or predicted time against another rung's time. */
import type { TimeCheck } from '../lab'
import type { LabFigure } from '../outcome'
import { message } from '../../messages/message'
import type { MetricValue } from '../../metrics/metrics'
import { rungOf } from '../../session/session'
import { formatPredictedMs } from '../../metrics/predicted-range'
import type { PredictedTime } from '../../session/predicted'
import { keepsTo } from '../predicted-bounds'
import { formatMs } from '../../metrics/units'
import { submissionId, cannot, type LabEvidence } from './evidence'
import { passed, failed, notHere, measured, derived, type Verdict } from './verdict'
import { metricLabel } from './check-title'

const predicted = (ms: number): MetricValue => ({ value: ms, unit: 'ms', evidence: 'predicted' })

/**
 * Judges a predicted time. Gives a verdict only if the model's whole error range is on one side of
 * the limit.
 */
function judgePredicted(check: TimeCheck, own: PredictedTime, other: PredictedTime): Verdict {
  const { rung, factor } = check.below
  const most = factor * (1 + check.noise)
  const holds = keepsTo({ low: own.lowMs, high: own.highMs }, '≤', {
    low: other.lowMs * most,
    high: other.highMs * most,
  })
  const figures: LabFigure[] = [
    { label: metricLabel('time'), value: predicted(own.ms) },
    { label: rung, value: predicted(other.ms) },
    { label: `≤ (${factor} × ${rung})`, value: predicted(other.ms * most) },
  ]
  const figure = {
    ...{ own: formatPredictedMs(own), theirs: formatPredictedMs(other), rung, factor },
    noise: (check.noise * 100).toFixed(1),
  }
  if (holds === null)
    return notHere(
      message('checks.cannotTell', { what: message('checks.predictedTime', figure) }),
      figures,
    )
  return holds
    ? passed(message('checks.fasterPredicted', figure), figures)
    : failed(message('checks.slowerPredicted', figure), figures)
}

export function judgeTime(check: TimeCheck, evidence: LabEvidence): Verdict {
  const blocked = cannot(evidence)
  if (blocked) return blocked
  const session = evidence.session!
  const submission = rungOf(session, submissionId)
  const own = submission?.timing
  const other = rungOf(session, check.below.rung)
  const times = submission?.predicted && other?.predicted
  if (times) return judgePredicted(check, submission.predicted!, times)
  const refused = submission?.notPredicted ?? other?.notPredicted
  if (!own && refused) return notHere(refused)
  if (!own) return notHere(message('checks.noTime'))
  if (!other?.timing)
    return notHere(
      message('checks.otherWithoutTime', {
        rung: check.below.rung,
        why: other?.reason ?? message('checks.notMeasured'),
      }),
    )
  const noise = check.noise + own.spread + other.timing.spread
  const limit = other.timing.medianMs * check.below.factor * (1 + noise)
  const ratio = own.medianMs / other.timing.medianMs
  const figures: LabFigure[] = [
    { label: metricLabel('time'), value: measured(own.medianMs, 'ms') },
    { label: check.below.rung, value: measured(other.timing.medianMs, 'ms') },
    { label: `≤ (${check.below.factor} × ${check.below.rung})`, value: derived(limit, 'ms') },
  ]
  const words = message('checks.time', {
    own: formatMs(own.medianMs),
    ratio: ratio.toFixed(3),
    theirs: formatMs(other.timing.medianMs),
    rung: check.below.rung,
    factor: check.below.factor,
    noise: (noise * 100).toFixed(1),
  })
  return own.medianMs <= limit ? passed(words, figures) : failed(words, figures)
}
