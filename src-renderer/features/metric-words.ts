/**
 * What a metric is called and what it means, in the language shown. The registry says both in
 * English; the other locales hold the same under `metrics.<id>`.
 */
import { useI18n } from 'vue-i18n'
import { metricDefinition } from '../../src-main/domain/metrics/metrics'

export function useMetricWords() {
  const { t, te } = useI18n()
  const word = (id: string, part: 'label' | 'meaning'): string | undefined => {
    const key = `metrics.${id}.${part}`
    return te(key) ? t(key) : metricDefinition(id)?.[part]
  }
  const metricLabel = (id: string): string => word(id, 'label') ?? id
  return {
    /** The id itself where the registry does not know it. */
    metricLabel,
    /** `Stalled: barrier` → `barrier`, where what is around it says the rest. */
    kindLabel: (id: string): string => metricLabel(id).replace(/^[^:：]*[:：]\s*/, ''),
    metricMeaning: (id: string): string | undefined => word(id, 'meaning'),
  }
}
