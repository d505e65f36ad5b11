/** The screens that a report has: those of its sections, over its own first page. */
import { createRouter, createWebHashHistory, type RouteRecordRaw, type Router } from 'vue-router'
import type { FrozenReport, ReportSection } from '../../../src-main/domain/report/frozen-report'

/** The screen that shows a section. */
const screens: readonly { section: ReportSection; route: RouteRecordRaw }[] = [
  {
    section: 'ladder',
    route: {
      path: '/session/:sessionRef/ladder',
      name: 'ladder',
      props: true,
      component: () => import('../ladder/LadderScreen.vue'),
    },
  },
  {
    section: 'compare',
    route: {
      path: '/session/:sessionRef/compare/:a?/:b?',
      name: 'compare',
      props: true,
      component: () => import('../compare/CompareScreen.vue'),
    },
  },
  {
    section: 'matrix',
    route: {
      path: '/session/:sessionRef/matrix',
      name: 'matrix',
      props: true,
      component: () => import('../matrix/MatrixScreen.vue'),
    },
  },
  {
    section: 'charts',
    route: {
      path: '/session/:sessionRef/charts/:chart?',
      name: 'charts',
      props: true,
      component: () => import('../charts/ChartsScreen.vue'),
    },
  },
]

const shown = ({ sections }: FrozenReport) =>
  screens.filter(({ section }) => sections.includes(section))

export const screenNames = (report: FrozenReport): string[] =>
  shown(report).map(({ route }) => String(route.name))

export function createReportRouter(report: FrozenReport): Router {
  const router = createRouter({
    history: createWebHashHistory(),
    routes: [
      { path: '/', name: 'home', component: () => import('./SummaryScreen.vue') },
      ...shown(report).map(({ route }) => route),
      {
        path: '/draw/:chart/:choice?',
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
  // A screen may name one that this report leaves out: its link then says so, in place of an error.
  const resolve = router.resolve.bind(router)
  router.resolve = ((to: Parameters<typeof resolve>[0], from: Parameters<typeof resolve>[1]) => {
    const isLeftOut =
      typeof to === 'object' && 'name' in to && to.name !== undefined && !router.hasRoute(to.name)
    return resolve(isLeftOut ? { name: 'missing', params: { rest: [] } } : to, from)
  }) as typeof router.resolve
  return router
}
