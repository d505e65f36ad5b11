/** Links from a chart to its rungs, and highlighting shared with other charts and tables. */
import { computed } from 'vue'
import { useRouter, type RouteLocationRaw } from 'vue-router'
import { rungBefore } from '../../../src-main/domain/session/session'
import { valueOf } from '../../stores/loadable'
import { useSessionsStore } from '../../stores/sessions'
import { useRungFocusStore } from '../../stores/rung-focus'

export function useRungLinks() {
  const router = useRouter()
  const sessions = useSessionsStore()
  const focus = useRungFocusStore()
  const session = computed(() =>
    sessions.currentRef === null ? undefined : valueOf(sessions.sessions.get(sessions.currentRef)),
  )

  function go(name: 'ladder' | 'compare', to: Omit<Extract<RouteLocationRaw, object>, 'name'>) {
    // An HTML report can lack the target screen.
    if (sessions.currentRef !== null && router.hasRoute(name))
      void router.push({ name, ...to } as RouteLocationRaw)
  }
  const open = (rung: string) =>
    go('ladder', { params: { sessionRef: sessions.currentRef }, query: { rung } } as object)
  const compare = (a: string, b: string) =>
    go('compare', { params: { sessionRef: sessions.currentRef, a, b } } as object)
  function compareWithBefore(rung: string): void {
    const before = session.value && rungBefore(session.value, rung)
    if (before) compare(before.id, rung)
  }
  return { focus, open, compare, compareWithBefore }
}
