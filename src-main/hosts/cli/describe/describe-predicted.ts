/**
 * Prints predicted times as terminal text. Each predicted time is printed with its range. Ratios
 * never combine predicted and measured times.
 */
import { compareRungs } from '../../../domain/analysis/compare'
import { message } from '../../../domain/messages/message'
import {
  formatPredictedMs,
  formatPredictedRatio,
  predictedRatio,
} from '../../../domain/metrics/predicted-range'
import { formatPercent } from '../../../domain/metrics/units'
import { stallHistogramOf, utilizationsOf } from '../../../domain/analysis/predicted-figures'
import type { DeepProfile } from '../../../domain/session/deep'
import { rungBefore, type RungResult, type Session } from '../../../domain/session/session'
import { inEnglish } from '../../../domain/text/english'
import type { Column } from '../table'
import { none } from './figure'

export const hasPredictions = ({ rungs }: Session): boolean =>
  rungs.some(({ predicted, notPredicted }) => predicted ?? notPredicted)

/**
 * Returns text such as `≈ 3.1 ms (2.7–3.6)`. Returns an empty string for a rung without a
 * prediction.
 */
export const predictedText = ({ predicted }: RungResult): string =>
  predicted ? formatPredictedMs(predicted) : ''

/** Returns the predicted speedup over the previous rung in the chain. */
function stepText(session: Session, rung: RungResult): string {
  const before = rungBefore(session, rung.id)
  if (!before?.predicted || !rung.predicted) return none
  const { time } = compareRungs({ session, rung: before }, { session, rung })
  const ratio = formatPredictedRatio(predictedRatio(before.predicted, rung.predicted))
  return time.verdict === 'unknown' ? `${ratio} ?` : ratio
}

export const predictedColumns = (session: Session): Column<RungResult>[] => [
  { header: 'predicted', cell: (rung) => predictedText(rung) || none },
  { header: 'step', cell: (rung) => stepText(session, rung) },
  {
    header: 'limited by',
    align: 'left',
    cell: ({ predicted }) =>
      predicted ? inEnglish(message(`limiter.${predicted.limiter}`)) : none,
  },
]

/**
 * Describes the model that predicted the times, and the missing data for each rung without a
 * prediction.
 */
export function predictedEvidence({ prediction }: Session): string[] {
  if (!prediction) return []
  const { model, parameters } = prediction
  const validated = parameters.validated ? '' : ', not validated'
  return [
    `predicted: by the model ${model} with ${parameters.name}.json (${parameters.hash.slice(0, 8)}${validated}), cold L2, with the range of its error; ?: the ranges overlap too much to tell`,
  ]
}

export const refusedLines = ({ rungs }: Session): string[] =>
  rungs.flatMap(({ id, notPredicted }) =>
    notPredicted ? [`${id}: ${inEnglish(notPredicted)}`] : [],
  )

/** Describes the prediction of one rung in detail. */
export function describePrediction(
  { predicted, notPredicted }: RungResult,
  profile: DeepProfile | null,
): string[] {
  if (notPredicted) return [inEnglish(notPredicted)]
  if (!predicted) return []
  const share = (value: number): string => formatPercent(100 * value)
  const busy = utilizationsOf(profile).map(
    ({ unit, value }) => `${inEnglish(message(`limiter.${unit}`))} ${share(value)}`,
  )
  const waits = stallHistogramOf(profile).map(({ reason, value }) => `${reason} ${share(value)}`)
  return [
    `Predicted: ${formatPredictedMs(predicted)}, class ${predicted.class}, limited by ${inEnglish(message(`limiter.${predicted.limiter}`))}`,
    ...predicted.widened.map((why) => `  range widened: ${inEnglish(message(`widened.${why}`))}`),
    ...(predicted.extrapolated
      ? ['  some blocks were simulated, and the others were assumed to be like them']
      : []),
    ...(busy.length > 0 ? [`  busy: ${busy.join(', ')}`] : []),
    ...(waits.length > 0 ? [`  warps spend their cycles in: ${waits.join(', ')}`] : []),
  ]
}
