/**
 * Explains why a rung is slower than the previous rung. The explanation uses the ladder's note and
 * the counter that shows the cause.
 */
import { t } from '../../ui/words'
import { figureText, factorText } from '../../ui/format'
import { formatRatio } from '../../../src-main/domain/metrics/units'
import type { LadderRow } from './ladder-rows'
import type { Slowdown } from '../../../src-main/domain/analysis/slowdown'
import { useMetricWords } from '../shared/use-metric-words'

export function useSlowdown() {
  const { metricLabel } = useMetricWords()

  function slowdownSentences({ slowdown, before, step }: LadderRow): string[] {
    if (!slowdown) return []
    const sentences: string[] = []
    if (before && step)
      sentences.push(
        slowdown.slower
          ? t('slowdown.slower', { before: before.title, factor: formatRatio(1 / step.factor) })
          : t('slowdown.notSlower', { before: before.title, factor: formatRatio(step.factor) }),
      )
    const { metric } = slowdown
    if (metric?.a?.value != null && metric.b?.value != null)
      sentences.push(
        t(metric.verdict === 'worse' ? 'slowdown.counter' : 'slowdown.moved', {
          metric: metricLabel(metric.id),
          a: figureText(metric.a.value, metric.unit),
          b: figureText(metric.b.value, metric.unit),
          factor: metric.ratio === null ? '' : ` (${factorText(metric.ratio)})`,
        }),
      )
    else if (slowdown.slower) sentences.push(t('slowdown.noCounter'))
    if (slowdown.note) sentences.push(slowdown.note)
    return sentences
  }
  /**
   * Returns a slowdown's title. The title depends on whether the rung is slower or was only
   * expected to be slower.
   */
  const slowdownTitle = ({ slower }: Slowdown): string =>
    t(slower ? 'slowdown.title' : 'slowdown.meant')

  return { slowdownTitle, slowdownSentences }
}
