/** A report: what is embedded in this page, parsed once before anything else, and its screens. */
import { type InjectionKey, inject } from 'vue'
import { createRouter, createWebHashHistory, type Router } from 'vue-router'
import {
  deepElementId,
  frozenElementId,
  FrozenReport,
  PackedDeep,
  type FrozenDeep,
  type ReportSection,
} from '../../../src-main/domain/report/frozen-report'
import { sessionScreens } from '../frame/session-screens'

// The report embedded in this page, parsed once before anything else.

export const frozenKey: InjectionKey<FrozenReport> = Symbol('frozen report')

export function readFrozen(page: Document): FrozenReport {
  const text = page.getElementById(frozenElementId)?.textContent
  if (!text) throw new Error('The page holds no session.')
  return FrozenReport.parse(JSON.parse(text))
}

/** Empty if the session was not profiled at the deep level. */
export async function readFrozenDeep(page: Document, session: number): Promise<FrozenDeep> {
  const packed = page.getElementById(deepElementId(session))?.textContent
  if (!packed) return {}
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0))
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))
  return PackedDeep.parse(await new Response(stream).json())
}

export function useFrozen(): FrozenReport {
  const frozen = inject(frozenKey)
  if (!frozen) throw new Error('This component must be used inside a report.')
  return frozen
}

// A report's screens: its first page and those of its sections.

const sections = Object.keys(sessionScreens) as ReportSection[]

/** Screens of the report's sections. */
export const screenNames = (report: FrozenReport): ReportSection[] =>
  sections.filter((section) => report.sections.includes(section))

export function createReportRouter(report: FrozenReport): Router {
  const router = createRouter({
    history: createWebHashHistory(),
    routes: [
      { path: '/', name: 'home', component: () => import('./SummaryScreen.vue') },
      ...screenNames(report).map((name) => sessionScreens[name]),
      {
        path: '/draw/:words+',
        name: 'draw',
        props: true,
        component: () => import('./DrawScreen.vue'),
      },
      {
        path: '/:rest(.*)*',
        name: 'missing',
        component: () => import('../frame/MissingScreen.vue'),
      },
    ],
  })
  // A screen may link to one that this report leaves out: the link then leads to a note instead of an error.
  const resolve = router.resolve.bind(router)
  router.resolve = ((to: Parameters<typeof resolve>[0], from: Parameters<typeof resolve>[1]) => {
    const isLeftOut =
      typeof to === 'object' && 'name' in to && to.name !== undefined && !router.hasRoute(to.name)
    return resolve(isLeftOut ? { name: 'missing', params: { rest: [] } } : to, from)
  }) as typeof router.resolve
  return router
}
