/**
 * Finds each rung's measured times for a predicted session. The times are for the same problem on
 * the same GPU.
 */
import { computed, watch, type ComputedRef } from 'vue'
import { sameSizes } from '../../../src-main/domain/task/problem'
import type { PredictedTime } from '../../../src-main/domain/session/predicted'
import type { CacheState, Session } from '../../../src-main/domain/session/session'
import { formatPercent } from '../../../src-main/domain/metrics/units'
import { gpuOfTarget } from '../../../src-main/domain/targets/targets'
import { useAppStore } from '../../stores/app'
import { useSessionsStore } from '../../stores/sessions'
import { valueOf } from '../../stores/loadable'
import { t } from '../../ui/words'

export interface MeasuredBeside {
  ref: string
  medianMs: number
  cacheState: CacheState
}

/**
 * Returns the measured times from the newest measured session with the same ladder, problem, and
 * GPU. Recordings are included. A report has no other sessions.
 */
export function useMeasuredBeside(
  session: () => Session,
): ComputedRef<ReadonlyMap<string, MeasuredBeside>> {
  const sessions = useSessionsStore()
  const app = useAppStore()
  /**
   * Whether other sessions can be requested. A report is a static page, so it cannot request any.
   */
  const asks = computed(
    () =>
      session().prediction !== undefined &&
      ['web', 'electron'].includes(valueOf(app.info)?.host ?? ''),
  )
  watch(asks, (may) => may && sessions.list.state === 'loading' && void sessions.loadList(), {
    immediate: true,
  })
  const found = computed(() => {
    const { prediction, problem, ladder, target } = session()
    const gpu = gpuOfTarget(target)
    if (!prediction || !problem || !gpu) return null
    return (valueOf(sessions.list) ?? [])
      .filter(
        (one) =>
          one.damaged === undefined &&
          one.cacheState !== undefined &&
          one.ladder.id === ladder.id &&
          one.problem !== null &&
          sameSizes(one.problem.sizes, problem.sizes) &&
          one.deviceName?.endsWith(gpu.name),
      )
      .toSorted((a, b) => b.createdAt.localeCompare(a.createdAt))[0]
  })
  watch(found, (one) => one && sessions.fetch(one.ref), { immediate: true })
  return computed(() => {
    const ref = found.value?.ref
    const measured = ref === undefined ? undefined : valueOf(sessions.sessions.get(ref))
    return new Map(
      (measured?.rungs ?? []).flatMap(({ id, timing }) =>
        timing
          ? [[id, { ref: ref!, medianMs: timing.medianMs, cacheState: timing.cacheState }] as const]
          : [],
      ),
    )
  })
}

/** Returns text such as `error +8.1 %, inside its range`. */
export function predictionErrorText(
  { ms, lowMs, highMs }: PredictedTime,
  medianMs: number,
): string {
  const error = ms / medianMs - 1
  const isInside = medianMs >= lowMs && medianMs <= highMs
  return t(isInside ? 'predicted.errorInside' : 'predicted.errorOutside', {
    error: `${error < 0 ? '−' : '+'}${formatPercent(Math.abs(100 * error))}`,
  })
}
