/** A report's screens: the first page and one screen per section. */
import { createRouter, createWebHashHistory, type Router } from 'vue-router'
import { FrozenReport, type ReportSection } from '../../../src-main/domain/report/frozen-report'
import { sessionScreens } from '../frame/session-screens'

const sections = Object.keys(sessionScreens) as ReportSection[]

/** Returns the screens for the report's sections. */
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
  // If a screen links to a screen that this report omits, open a note instead of failing.
  const resolve = router.resolve.bind(router)
  router.resolve = ((to: Parameters<typeof resolve>[0], from: Parameters<typeof resolve>[1]) => {
    const isLeftOut =
      typeof to === 'object' && 'name' in to && to.name !== undefined && !router.hasRoute(to.name)
    return resolve(isLeftOut ? { name: 'missing', params: { rest: [] } } : to, from)
  }) as typeof router.resolve
  return router
}
