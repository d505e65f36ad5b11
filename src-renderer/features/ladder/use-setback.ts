/** Why a rung is slower than the one before, in sentences: what its ladder says, and the counter that shows it. */
import { useI18n } from 'vue-i18n'
import { figureText, factorText } from '../../ui/format'
import type { Setback } from '../../../src-main/domain/analysis/slowdown'
import { formatRatio } from '../../../src-main/domain/metrics/units'
import { useMetricWords } from '../metric-words'
import type { LadderRow } from './ladder-rows'

export function useSetback() {
  const { t } = useI18n()
  const { metricLabel } = useMetricWords()

  function setbackSentences({ setback, before, speedup }: LadderRow): string[] {
    if (!setback) return []
    const sentences: string[] = []
    if (before && speedup !== null)
      sentences.push(
        setback.slower
          ? t('setback.slower', { before: before.title, factor: formatRatio(1 / speedup) })
          : t('setback.notSlower', { before: before.title, factor: formatRatio(speedup) }),
      )
    const { metric } = setback
    if (metric?.a?.value != null && metric.b?.value != null)
      sentences.push(
        t(metric.verdict === 'worse' ? 'setback.counter' : 'setback.moved', {
          metric: metricLabel(metric.id),
          a: figureText(metric.a.value, metric.unit),
          b: figureText(metric.b.value, metric.unit),
          factor: metric.ratio === null ? '' : ` (${factorText(metric.ratio)})`,
        }),
      )
    else if (setback.slower) sentences.push(t('setback.noCounter'))
    if (setback.note) sentences.push(setback.note)
    return sentences
  }
  /** Two different things: that it is slower, and that the ladder does not expect it to pay. */
  const setbackTitle = ({ slower }: Setback): string =>
    t(slower ? 'setback.title' : 'setback.meant')

  return { setbackTitle, setbackSentences }
}
