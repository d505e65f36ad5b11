// @ts-check
/**
 * Lists every screen and its states, for `npm run screenshots` and the browser tests. The routes
 * use shipped recordings. The tuning sweeps are from test/captures/tune-h200.json.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './project.mjs'

/** @typedef {import('playwright-core').Page} Page */
/**
 * Returns the UI text for a key. The result is the longest part of the text without placeholders,
 * so that labels are found in every language.
 * @typedef {(key: string) => string} Words
 */
/**
 * @typedef {object} Screen
 * @property {string} route
 * @property {string} ready selector that appears once the screen is ready
 * @property {(page: Page, words: Words) => Promise<unknown>} [act]
 * @property {Record<string, 'hang' | 'fail'>} [calls] calls to the core that hang or fail
 * @property {string[]} [report] session and options of an HTML report to show instead of the app
 * @property {string} [faults] faults of the fake tools; if set, the screen uses fake tools
 */

const session = '/session/recorded:gemm-fp32-h200-4096'
const deep = '/session/recorded:gemm-fp32-h200-4096-deep'
/** Two rungs of the deep session, both with machine code and counters. */
const deepPair = `${deep}/compare/03_shared_tile/04_thread_tile_1d`
const lab = '/labs/01-coalescing'
const heading = 'main h1, main h2'

/** @param {Page} page @param {string} name */
const press = (page, name) => page.getByRole('button', { name, exact: true }).first().click()
/** @param {Page} page @param {string} text */
const writeFirst = async (page, text) => {
  await page.locator('.cm-content').click()
  await page.keyboard.press('Control+Home')
  await page.keyboard.insertText(`${text}\n`)
}
/** @param {Page} page @param {string} text */
const writeLast = async (page, text) => {
  await page.locator('.cm-content').click()
  await page.keyboard.press('Control+End')
  await page.keyboard.insertText(`\n${text}`)
}
/** @param {Page} page @param {Words} words @param {string} label */
const local = async (page, words, label) => {
  await page.getByLabel(words('run.target')).selectOption('local')
  await page.getByLabel(words('run.size')).selectOption({ label })
}
/**
 * Waits until the check of a lab submission ends with any verdict. @param {Page} page @param
 * {Words} words
 */
const labChecked = (page, words) =>
  ['passed', 'failed', 'unavailable']
    .map((status) =>
      page.getByRole('heading', { name: words(`labs.status.${status}`), exact: true }),
    )
    .reduce((any, heading) => any.or(heading))
    .first()
    .waitFor({ timeout: 60_000 })
/** @param {Page} page @param {Words} words */
const complete = (page, words) =>
  page
    .getByRole('heading', { name: words('run.status.complete'), exact: true })
    .waitFor({ timeout: 60_000 })
/** @param {Page} page @param {string} name */
const labStep = (page, name) => page.locator(`#lab-tab-${name}`).click()

/** @param {Page} page @param {Words} words */
const sassBeside = async (page, words) => {
  await page.keyboard.press('s')
  await page.getByRole('columnheader', { name: words('compare.sassInstruction') }).waitFor()
}
/** @param {Page} page @param {Words} words */
const chain = async (page, words) => {
  await page.keyboard.press('c')
  await page.getByRole('region', { name: words('compare.chain.title') }).waitFor()
}
/** @param {Page} page */
const machineCode = async (page) => {
  await page.keyboard.press('m')
  await page.locator('.sass-list .row.cursor').first().waitFor()
}
/** @param {Page} page */
const memoryMap = async (page) => {
  await page.keyboard.press('y')
  await page.locator('.memory svg').waitFor()
}
/** @param {string} view @returns {Screen['act']} */
const tuningsView = (view) => async (page, words) => {
  await page
    .getByRole('main')
    .getByText(words(`tunings.${view}`), { exact: true })
    .click()
  await page.locator('main figure canvas').waitFor()
}

/** @param {string} language @returns {Words} */
export function wordsOf(language) {
  const file = join(root, 'src-renderer/locales', language, 'screens.json')
  const words = JSON.parse(readFileSync(file, 'utf8'))
  return (key) => {
    const word = key.split('.').reduce((part, name) => part?.[name], words)
    if (typeof word !== 'string') throw new Error(`${file} has no word ${key}.`)
    const pieces = word.split(/\{\w+\}|\{\w+, plural,|[{}]/).map((piece) => piece.trim())
    return pieces.reduce((longest, piece) => (piece.length > longest.length ? piece : longest))
  }
}

/**
 * Screens that are captured in both themes and at every width. Tests check these screens with axe
 * and search for untranslated sentences.
 * @type {Record<string, Screen>}
 */
export const screens = {
  ladder: { route: `${session}/ladder`, ready: 'canvas' },
  compare: { route: `${session}/compare/02_coalesced/03_shared_tile`, ready: '.cm-line' },
  matrix: { route: `${session}/matrix`, ready: '[role="gridcell"]' },
  charts: { route: `${session}/charts`, ready: 'canvas' },
  export: { route: `${session}/export`, ready: heading },
  machine: {
    route: `${deep}/compare/08_warp_tile/09_register_prefetch`,
    ready: '.compare .headline',
    act: machineCode,
  },
  memory: {
    route: `${deep}/compare/02_coalesced/03_shared_tile`,
    ready: '.compare .headline',
    act: memoryMap,
  },
  sessions: { route: '/sessions', ready: 'tr[data-session]' },
  history: { route: '/sessions/history', ready: 'main h1' },
  folders: { route: '/run/folders', ready: 'main h1' },
  tunings: { route: '/run/tunings', ready: 'main h1' },
  run: { route: '/run', ready: 'main select' },
  checks: { route: '/run/checks', ready: heading },
  occupancy: { route: '/occupancy', ready: heading },
  labs: { route: '/labs', ready: 'main li a' },
  lab: { route: lab, ready: 'main article h1' },
  editor: { route: `${session}/edit/05_thread_tile_2d`, ready: '.cm-content' },
  doctor: { route: '/doctor', ready: 'main h2' },
  missing: { route: '/nowhere', ready: 'main h2' },
}

/**
 * Popups and panels on screens of recordings. These states are captured in both themes at 1280 px
 * and checked with axe.
 * @type {Record<string, Screen>}
 */
export const states = {
  'ladder-details': {
    route: `${session}/ladder`,
    ready: 'canvas',
    act: (page) => page.locator('tr[data-rung="06_float4"] .expand').click(),
  },
  'ladder-error-column': {
    route: '/session/recorded:gemm-3xtf32-h200-4096/ladder',
    ready: 'tr[data-rung]',
    act: (page) => page.locator('tr[data-rung="62_tf32x3_wgmma"] .expand').click(),
  },
  'ladder-picked': {
    route: `${session}/ladder`,
    ready: 'canvas',
    act: async (page) => {
      await page.locator('tr[data-rung="03_shared_tile"] td.plot').click()
      await page.locator('tr[data-rung="06_float4"] td.plot').click()
    },
  },
  'ladder-seed': { route: '/session/recorded:seed-rtx3090-h200-1024/ladder', ready: 'canvas' },
  'ladder-unreadable': {
    route: '/session/recorded:nothing-of-the-kind/ladder',
    ready: 'main [role="alert"]',
  },
  'compare-sass': { route: deepPair, ready: '.cm-line', act: sassBeside },
  'compare-machine': { route: deepPair, ready: '.cm-line', act: machineCode },
  'compare-memory': { route: deepPair, ready: '.cm-line', act: memoryMap },
  'compare-float4-chain': {
    route: `${deep}/compare/05_thread_tile_2d/06_float4`,
    ready: '.cm-line',
    act: chain,
  },
  'compare-sessions': {
    route: `${session}/compare/06_float4/06_float4?with=recorded:gemm-fp32-h200-1024`,
    ready: heading,
  },
  'compare-refused': {
    route: `${session}/compare/06_float4/00_cublas?with=recorded:gemm-tensor-h200-4096`,
    ready: heading,
  },
  'charts-roofline': { route: `${deep}/charts/roofline`, ready: 'main figure' },
  'charts-mix-tensor': {
    route: '/session/recorded:gemm-tensor-h200-4096/charts/mix',
    ready: 'main figure',
  },
  'charts-stalls': { route: `${deep}/charts/stalls`, ready: 'main figure' },
  'charts-traffic': { route: `${deep}/charts/traffic`, ready: 'main figure' },
  'charts-occupancy': { route: `${deep}/charts/occupancy`, ready: 'main figure' },
  'charts-waves': { route: `${deep}/charts/waves`, ready: 'main figure' },
  'charts-sweep-deep': { route: `${deep}/charts/sweep`, ready: 'main figure' },
  'charts-study': {
    route: '/session/recorded:seed-rtx3090-h200-1024/charts/study',
    ready: 'main figure',
  },
  'tunings-parallel': {
    route: '/run/tunings',
    ready: 'main .winner',
    act: tuningsView('parallel'),
  },
  'tunings-by-value': {
    route: '/run/tunings',
    ready: 'main .winner',
    act: tuningsView('byValue'),
  },
  'lab-code': {
    route: lab,
    ready: 'main article h1',
    act: async (page) => {
      await labStep(page, 'code')
      await page.locator('.cm-content').waitFor()
    },
  },
  'sessions-search-nothing': {
    route: '/sessions',
    ready: 'tr[data-session]',
    act: (page) => page.getByRole('searchbox').fill('no such session'),
  },
  'export-program': {
    route: '/session/recorded:feed-forward-h200/export',
    ready: 'aside input[type="checkbox"]',
  },
  'export-comparison': {
    route: '/session/recorded:gemm-fp32-h200-4096-deep/export',
    ready: heading,
    act: (page) => page.locator('aside select').last().selectOption('recorded:gemm-fp32-h200-4096'),
  },
}

/**
 * Additional states, captured in both themes at 1280 px. These states include screens with more
 * sessions, and elements that can open over any screen. Some states need a hanging core, failing
 * tools, a run, or a report.
 * @type {Record<string, Screen>}
 */
export const staged = {
  'ladder-negative': { route: '/session/recorded:seed-cutlass-h200/ladder', ready: 'canvas' },
  'ladder-3xtf32': { route: '/session/recorded:gemm-3xtf32-h200-4096/ladder', ready: 'canvas' },
  'ladder-softmax': { route: '/session/recorded:softmax-h200/ladder', ready: 'canvas' },
  'ladder-tensor': { route: '/session/recorded:gemm-tensor-h200-8192/ladder', ready: 'canvas' },
  'ladder-long-names': { route: '/session/long-names/ladder', ready: 'tr[data-rung]' },
  'ladder-all-failed': { route: '/session/all-failed/ladder', ready: 'tr[data-rung]' },
  'ladder-empty': { route: '/session/no-rungs/ladder', ready: heading },
  'ladder-loading': {
    route: `${session}/ladder`,
    ready: 'main',
    calls: { 'sessions.get': 'hang' },
  },
  'compare-chain': {
    route: `${session}/compare/05_thread_tile_2d/06_float4`,
    ready: '.cm-line',
    act: chain,
  },
  'compare-deep': { route: deepPair, ready: '.cm-line' },
  'compare-deep-chain': { route: deepPair, ready: '.cm-line', act: chain },
  'compare-long-names': { route: '/session/long-names/compare', ready: heading },
  'compare-empty': { route: '/session/no-rungs/compare', ready: heading },
  'matrix-long-names': { route: '/session/long-names/matrix', ready: '[role="gridcell"]' },
  'matrix-empty': { route: '/session/no-rungs/matrix', ready: heading },
  'charts-mix': { route: `${deep}/charts/mix`, ready: 'main figure' },
  'charts-sweep': { route: `${session}/charts/sweep`, ready: 'main figure' },
  'charts-long-names': { route: '/session/long-names/charts', ready: 'main figure' },
  'charts-empty': { route: '/session/no-rungs/charts', ready: heading },
  'sessions-loading': { route: '/sessions', ready: 'main', calls: { 'sessions.list': 'hang' } },
  'sessions-failed': { route: '/sessions', ready: 'main', calls: { 'sessions.list': 'fail' } },
  'run-replay': {
    route: '/run',
    ready: 'select',
    act: async (page, words) => {
      await page.getByLabel(words('run.target')).selectOption('recorded:gemm-fp32-h200-4096')
      await press(page, words('run.start'))
      await complete(page, words)
    },
  },
  'run-under-way': {
    route: '/run',
    ready: 'select',
    faults: '04_thread_tile_1d=hang,03_shared_tile=compile-error',
    act: async (page, words) => {
      await local(page, words, '1024³')
      await press(page, words('run.start'))
      await page.getByText('GFLOP/s').first().waitFor()
    },
  },
  'run-failed-rung': {
    route: '/run',
    ready: 'select',
    faults: '03_shared_tile=compile-error,05_thread_tile_2d=wrong',
    act: async (page, words) => {
      await local(page, words, '1024³')
      await press(page, words('run.start'))
      await complete(page, words)
    },
  },
  'checks-findings': {
    route: '/run/checks',
    ready: heading,
    faults: '02_coalesced=out-of-bounds,03_shared_tile=race',
    act: async (page, words) => {
      await press(page, words('sanitize.start'))
      await page.getByRole('heading', { name: words('sanitize.foundSome') }).waitFor()
    },
  },
  'checks-under-way': {
    route: '/run/checks?ladder=gemm-fp32&rung=01_naive',
    ready: heading,
    faults: '01_naive=sanitizer-hang',
    act: async (page, words) => {
      await press(page, words('sanitize.start'))
      await page.getByText(`${words('sanitize.stage.check')} 0/4`).waitFor()
    },
  },
  'lab-theory-end': {
    route: lab,
    ready: 'main article h1',
    act: (page) =>
      page.locator('main article').evaluate((text) => text.scrollTo(0, text.scrollHeight)),
  },
  'lab-recorded': {
    route: lab,
    ready: heading,
    act: async (page, words) => {
      await labStep(page, 'code')
      await press(page, words('labs.target.recorded'))
      await press(page, words('labs.recorded.starter'))
      await page.getByText(words('labs.result.starter')).first().waitFor()
    },
  },
  'lab-build-error': {
    route: lab,
    ready: heading,
    faults: '',
    act: async (page, words) => {
      await labStep(page, 'code')
      await writeFirst(page, 'int broken = undeclared;')
      await press(page, words('labs.buildIt'))
      await page.getByText(words('labs.build.failed')).first().waitFor()
    },
  },
  'lab-result': {
    route: lab,
    ready: heading,
    faults: '',
    act: async (page, words) => {
      const predictions = page.getByRole('group')
      await predictions.first().getByLabel(words('labs.direction.down')).check()
      await labStep(page, 'code')
      await writeFirst(page, '// like: 02_coalesced')
      await press(page, words('labs.check'))
      await labChecked(page, words)
    },
  },
  'lab-attempts': {
    route: lab,
    ready: heading,
    faults: '',
    act: async (page, words) => {
      await labStep(page, 'code')
      await writeFirst(page, '// like: 02_coalesced')
      await press(page, words('labs.check'))
      await labChecked(page, words)
      await labStep(page, 'attempts')
    },
  },
  'lab-missing': { route: '/labs/nothing', ready: 'main h2' },
  'editor-error': {
    route: `/session/recorded:gemm-fp32-h200-1024/edit/05_thread_tile_2d`,
    ready: '.cm-content',
    faults: '',
    act: async (page, words) => {
      await writeLast(page, 'int broken = undeclared;')
      await press(page, words('edit.build'))
      await page.getByText(words('edit.notBuilt')).waitFor()
    },
  },
  'editor-built': {
    route: `/session/recorded:gemm-fp32-h200-1024/edit/05_thread_tile_2d`,
    ready: '.cm-content',
    faults: '',
    act: async (page, words) => {
      await writeLast(page, '// like: 06_float4')
      await press(page, words('edit.build'))
      await page.getByText(words('edit.built')).waitFor()
    },
  },
  'doctor-fakes': { route: '/doctor', ready: 'main h2', faults: '' },
  summary: { report: ['recorded:gemm-fp32-h200-4096'], route: '', ready: 'main h1' },
  'summary-comparison': {
    report: ['recorded:gemm-fp32-h200-4096', '--compare', 'recorded:gemm-fp32-h200-4096-deep'],
    route: '',
    ready: 'main h1',
  },
  palette: {
    route: `${session}/ladder`,
    ready: 'canvas',
    act: (page) => page.keyboard.press('Control+k'),
  },
  'palette-nothing': {
    route: '/doctor',
    ready: 'main h2',
    act: async (page) => {
      await page.keyboard.press('Control+k')
      await page.keyboard.type('zzz')
    },
  },
  help: { route: '/doctor', ready: 'main h2', act: (page) => page.keyboard.press('?') },
  preferences: {
    route: `${session}/ladder`,
    ready: 'canvas',
    act: (page, words) => page.getByRole('button', { name: words('preferences.label') }).click(),
  },
  'session-picker': {
    route: `${session}/ladder`,
    ready: 'canvas',
    act: (page) => page.locator('header .trigger').first().click(),
  },
}
