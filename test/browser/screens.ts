/** Every screen by its address, with what is there once it is ready. */
import type { Page } from 'playwright-core'
import { ladderRoute } from './support'

const recorded = 'recorded:gemm-fp32-h200-4096'
const at = (rest: string): string => ladderRoute(recorded).replace(/ladder$/, rest)

export interface Screen {
  name: string
  route: string
  ready: string
  act?(page: Page): Promise<unknown>
}

export const screens: readonly Screen[] = [
  { name: 'ladder', route: at('ladder'), ready: 'tr[data-rung]' },
  { name: 'compare', route: at('compare/02_coalesced/03_shared_tile'), ready: '.cm-line' },
  { name: 'matrix', route: at('matrix'), ready: '[role="gridcell"]' },
  { name: 'charts', route: at('charts'), ready: 'main h1, main h2' },
  { name: 'export', route: at('export'), ready: 'main h1, main h2' },
  { name: 'sessions', route: '/sessions', ready: 'tr[data-session]' },
  { name: 'history', route: '/sessions/history', ready: 'main h1' },
  { name: 'occupancy', route: '/occupancy', ready: 'main h1, main h2' },
  { name: 'run', route: '/run', ready: 'main select' },
  { name: 'sanitize', route: '/run/checks', ready: 'main h1, main h2' },
  { name: 'folders', route: '/run/folders', ready: 'main h1' },
  { name: 'tunings', route: '/run/tunings', ready: 'tr[data-point], main h1' },
  { name: 'doctor', route: '/doctor', ready: 'main h2' },
  { name: 'missing', route: '/nowhere', ready: 'main h2' },
]

const deep = ladderRoute('recorded:gemm-fp32-h200-4096-deep').replace(/ladder$/, '')
const deepPair = `${deep}compare/03_shared_tile/04_thread_tile_1d`

/** Further screens, and what opens on one. */
export const states: readonly Screen[] = [
  { name: 'labs', route: '/labs', ready: 'main li a' },
  { name: 'lab', route: '/labs/01-coalescing', ready: 'main article h1' },
  { name: 'edit', route: at('edit/05_thread_tile_2d'), ready: '.cm-content' },
  {
    name: 'ladder, details and error column',
    route: ladderRoute('recorded:gemm-3xtf32-h200-4096'),
    ready: 'tr[data-rung]',
    act: (page) => page.locator('tr[data-rung="62_tf32x3_wgmma"] .expand').click(),
  },
  {
    name: 'ladder, published figures',
    route: ladderRoute('recorded:seed-rtx3090-h200-1024'),
    ready: 'tr[data-rung]',
  },
  {
    name: 'compare, machine code',
    route: deepPair,
    ready: '.cm-line',
    act: async (page) => {
      await page.keyboard.press('s')
      await page.getByRole('columnheader', { name: 'SASS' }).waitFor()
    },
  },
  {
    name: 'compare, whole kernels',
    route: deepPair,
    ready: '.cm-line',
    act: async (page) => {
      await page.keyboard.press('m')
      await page.locator('.sass-list .row.cursor').first().waitFor()
    },
  },
  {
    name: 'compare, memory',
    route: deepPair,
    ready: '.cm-line',
    act: async (page) => {
      await page.keyboard.press('y')
      await page.locator('.memory svg').waitFor()
    },
  },
  {
    name: 'compare, chain',
    route: `${deep}compare/05_thread_tile_2d/06_float4`,
    ready: '.cm-line',
    act: async (page) => {
      await page.keyboard.press('c')
      await page.getByRole('region', { name: 'From change to time' }).waitFor()
    },
  },
  ...['roofline', 'stalls', 'traffic', 'waves', 'sweep'].map((chart) => ({
    name: `chart ${chart}`,
    route: `${deep}charts/${chart}`,
    ready: 'main figure',
  })),
  {
    name: 'chart mix',
    route: ladderRoute('recorded:gemm-tensor-h200-4096').replace(/ladder$/, 'charts/mix'),
    ready: 'main figure',
  },
  ...['Parallel coordinates', 'Best by value'].map((view) => ({
    name: `tunings, ${view}`,
    route: '/run/tunings',
    ready: 'tr[data-point]',
    act: async (page: Page) => {
      await page.getByRole('radio', { name: view }).click()
      await page.locator('main figure').waitFor()
    },
  })),
  {
    name: 'lab, code',
    route: '/labs/01-coalescing',
    ready: 'main article h1',
    act: async (page) => {
      await page.locator('#lab-tab-code').click()
      await page.locator('.cm-content').waitFor()
    },
  },
  {
    name: 'a session that is not there',
    route: ladderRoute('recorded:nothing'),
    ready: 'main [role="alert"]',
  },
]
