/** The verdict on one check, and the figures that are shown with it. */
import type { CheckResult, LabFigure } from '../outcome'
import { message, type Statement } from '../../messages/message'
import { metricDefinition, unavailable, type MetricValue } from '../../metrics/metrics'
import type { RungResult } from '../../session/session'
import type { Unit } from '../../metrics/units'

export interface Verdict {
  status: CheckResult['status']
  sentence: Statement
  figures?: LabFigure[]
}

export const passed = (sentence: Statement, figures: LabFigure[] = []): Verdict => ({
  status: 'passed',
  sentence,
  figures,
})
export const failed = (sentence: Statement, figures: LabFigure[] = []): Verdict => ({
  status: 'failed',
  sentence,
  figures,
})
export const notHere = (sentence: Statement, figures: LabFigure[] = []): Verdict => ({
  status: 'unavailable',
  sentence,
  figures,
})

export const measured = (value: number, unit: Unit): MetricValue => ({
  value,
  unit,
  evidence: 'measured',
})
export const derived = (value: number, unit: Unit): MetricValue => ({
  value,
  unit,
  evidence: 'derived',
})

/** Returns a rung's time or one of its registry metrics, with the unit and origin. */
export function figureOf(rung: RungResult | undefined, metric: string): MetricValue {
  if (metric === 'time')
    return rung?.timing
      ? measured(rung.timing.medianMs, 'ms')
      : unavailable(
          'ms',
          rung?.reason ?? message(rung?.predicted ? 'checks.onlyPredicted' : 'checks.noTime'),
        )
  return (
    rung?.metrics[metric] ??
    unavailable(
      metricDefinition(metric)?.unit ?? '×',
      rung?.reason ?? message('checks.notCollected'),
    )
  )
}
