/**
 * A metric's label and meaning in the current language. The registry contains the English strings.
 * The other locales contain translations under `metrics.<id>`.
 */
import { wordsAt } from '../../ui/words'
import { metricDefinition } from '../../../src-main/domain/metrics/metrics'

export function useMetricWords() {
  const word = (id: string, part: 'label' | 'meaning'): string | undefined => {
    const key = `metrics.${id}.${part}`
    return wordsAt(key) ?? metricDefinition(id)?.[part]
  }
  const metricLabel = (id: string): string => word(id, 'label') ?? id
  return {
    /** Returns a metric's label, or the id itself if the registry does not know the metric. */
    metricLabel,
    /**
     * Shortens `Stalled: barrier` to `barrier`, for places where the context makes the prefix
     * redundant.
     */
    kindLabel: (id: string): string => metricLabel(id).replace(/^[^:：]*[:：]\s*/, ''),
    metricMeaning: (id: string): string | undefined => word(id, 'meaning'),
  }
}
