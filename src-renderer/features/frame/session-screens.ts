/** The screens of a session, in the program and in a report. */
import type { RouteRecordRaw } from 'vue-router'
import type { ReportSection } from '../../../src-main/domain/report/frozen-report'

/** By the section of a report that the screen shows. */
export const sessionScreens: Record<ReportSection, RouteRecordRaw> = {
  ladder: {
    path: '/session/:sessionRef/ladder',
    name: 'ladder',
    props: true,
    component: () => import('../ladder/LadderScreen.vue'),
  },
  compare: {
    path: '/session/:sessionRef/compare/:a?/:b?',
    name: 'compare',
    props: true,
    component: () => import('../compare/CompareScreen.vue'),
  },
  matrix: {
    path: '/session/:sessionRef/matrix',
    name: 'matrix',
    props: true,
    component: () => import('../matrix/MatrixScreen.vue'),
  },
  charts: {
    path: '/session/:sessionRef/charts/:chart?',
    name: 'charts',
    props: true,
    component: () => import('../charts/ChartsScreen.vue'),
  },
}
