/** The first step of advice for each visible rung, requested when the page is idle. */
import { computed, shallowRef, watch } from 'vue'
import { mostFirstSteps } from '../../../src-main/contract/next'
import type { FirstStep } from '../../../src-main/domain/next/first-step'
import { isAdvisable } from '../../../src-main/domain/next/limit'
import type { RungResult, Session } from '../../../src-main/domain/session/session'
import { useClient } from '../../client/client'
import { whenIdle } from '../../ui/when-idle'

/**
 * Returns a function that returns a rung's first step. The step is null until it is known, so that
 * the table reserves a line for it. The step is undefined if the rung needs no line for one.
 */
export function useFirstSteps(
  ref: string,
  session: () => Session,
  shown: () => readonly RungResult[],
): (rung: RungResult) => FirstStep | null | undefined {
  const client = useClient()
  const steps = shallowRef<ReadonlyMap<string, FirstStep | null>>(new Map())
  /** Whether the session has advice. Some reports contain none. */
  const isOffered = shallowRef(true)
  const advisable = computed(() => {
    const of = session()
    const known = new Map<RungResult, boolean>()
    return (rung: RungResult): boolean => {
      const is = known.get(rung) ?? isAdvisable(of, rung)
      known.set(rung, is)
      return is
    }
  })
  const wanted = computed(() =>
    shown()
      .filter((rung) => !steps.value.has(rung.id) && advisable.value(rung))
      .slice(0, mostFirstSteps)
      .map(({ id }) => id),
  )
  let isAsking = false
  async function ask(): Promise<void> {
    if (isAsking) return
    isAsking = true
    await whenIdle()
    while (isOffered.value && wanted.value.length > 0) {
      const rungs = wanted.value
      const answer = await client.call('sessions.firstSteps', { ref, rungs }).catch(() => null)
      if (answer === null) isOffered.value = false
      else
        steps.value = new Map([
          ...steps.value,
          ...rungs.map((id) => [id, answer[id] ?? null] as const),
        ])
    }
    isAsking = false
  }
  watch(wanted, (ids) => ids.length > 0 && void ask(), { immediate: true })
  return (rung) =>
    isOffered.value && advisable.value(rung) ? (steps.value.get(rung.id) ?? null) : undefined
}
