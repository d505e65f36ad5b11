/** A session's screens. Both the app and reports use these screens. */
import type { RouteRecordRaw } from 'vue-router'
import type { ReportSection } from '../../../src-main/domain/report/frozen-report'

export type Screen = RouteRecordRaw & { name: string }

/** The session's screens by report section. */
export const sessionScreens: Record<ReportSection, Screen> = {
  ladder: {
    path: '/session/:sessionRef/ladder',
    name: 'ladder',
    props: true,
    meta: { linked: true, key: 'l' },
    component: () => import('../ladder/LadderScreen.vue'),
  },
  compare: {
    path: '/session/:sessionRef/compare/:a?/:b?',
    name: 'compare',
    props: true,
    meta: { linked: true, key: 'c' },
    component: () => import('../compare/CompareScreen.vue'),
  },
  matrix: {
    path: '/session/:sessionRef/matrix',
    name: 'matrix',
    props: true,
    meta: { linked: true, key: 'm' },
    component: () => import('../matrix/MatrixScreen.vue'),
  },
  charts: {
    path: '/session/:sessionRef/charts/:chart?',
    name: 'charts',
    props: true,
    meta: { linked: true, key: 'h' },
    component: () => import('../charts/ChartsScreen.vue'),
  },
}
