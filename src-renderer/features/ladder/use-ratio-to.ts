/**
 * Chooses the time that the ratio column divides by each rung's time: the pinned baseline's, the
 * reference's, or the first rung's.
 */
import { computed, ref, watch } from 'vue'
import { areTimesRanked } from '../../../src-main/domain/analysis/comparability'
import type { Session } from '../../../src-main/domain/session/session'
import { useBaselineStore } from '../../stores/baseline'
import { guardOf } from '../shared/comparison-guard'
import type { RatioTo } from './ladder-rows'

export function useRatioTo(session: () => Session) {
  const baselines = useBaselineStore()
  /**
   * The baseline's time. The time is null if the two sessions cannot be compared, or if their times
   * cannot be ranked.
   */
  const baselineMs = computed(() => {
    const base = baselines.baseline
    if (!base || guardOf(base.session, session()).refusals.length > 0) return null
    if (!areTimesRanked(base.session, session())) return null
    return base.rung.timing?.medianMs ?? null
  })
  const ratios = computed<RatioTo[]>(() => [
    ...(baselineMs.value === null ? [] : (['baseline'] as const)),
    ...(session().ladder.reference === null ? [] : (['reference'] as const)),
    'first',
  ])
  const wanted = ref<RatioTo | null>(null)
  const ratioTo = computed<RatioTo>({
    get: () => ratios.value.find((one) => one === wanted.value) ?? ratios.value[0]!,
    set: (one) => (wanted.value = one),
  })
  // If the user pins a new baseline, show ratios relative to it.
  watch(
    () => baselines.at,
    () => (wanted.value = null),
  )
  return { ratios, ratioTo, baselineMs }
}
