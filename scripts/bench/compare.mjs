// @ts-check
/**
 * Measures the Compare screen with a shipped recording.
 *
 * The first part of the benchmark opens a pair's machine code view and Chain view, each on a new
 * page. The second part switches to a different pair with a key press. Each source has 1,500 lines.
 * The benchmark measures the time from the key press to the second frame after it. The benchmark
 * also measures the CPU time of the page's thread, because CPU time does not depend on other load.
 * The benchmark generates long sources by repeating the lines of the recorded sources.
 */
import { spawn } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from '../lib/project.mjs'
import { copySources, recordedSession } from '../lib/recordings.mjs'
import { describe, median } from './support.mjs'
import { openPair } from './views.mjs'
import { obtainChromium } from '../lib/chromium.mjs'

const lines = 1500
const switches = 20
const recording = 'gemm-fp32-h200-4096'

/** @param {string} text */
function lengthened(text) {
  const own = text.split('\n')
  const body = own.slice(own.findIndex((line) => !line.startsWith('//')))
  const all = [...own]
  // Add the repetition's number to some lines, so that the diff has changes throughout.
  for (let round = 1; all.length < lines; round += 1)
    all.push(...body.map((line, index) => (index % 9 === 0 ? `${line} // ${round}` : line)))
  return all.slice(0, lines).join('\n')
}

/** @param {string} data */
async function makeSession(data) {
  const folder = join(data, 'sessions', 'bench-long-sources')
  const session = recordedSession(recording)
  session.target = { kind: 'live', name: 'local' }
  copySources(recording, join(folder, 'sources'))
  await writeFile(join(folder, 'session.json'), JSON.stringify(session))
  const sources = join(folder, 'sources/gemm')
  for (const file of await readdir(sources))
    await writeFile(join(sources, file), lengthened(await readFile(join(sources, file), 'utf8')))
}

/** @param {import('playwright-core').Page} page @returns {Promise<number[]>} milliseconds of each switch */
const walk = (page) =>
  page.evaluate(async (count) => {
    const view = /** @type {any} */ (globalThis)
    const frame = () => new Promise((done) => view.requestAnimationFrame(done))
    /** @type {number[]} */
    const times = []
    for (let index = 0; index < count; index += 1) {
      const start = performance.now()
      view.dispatchEvent(new view.KeyboardEvent('keydown', { key: index % 4 < 2 ? ']' : '[' }))
      await new Promise((done) => setTimeout(done, 0))
      await frame()
      await frame()
      times.push(performance.now() - start)
      // Wait until background parsing for this switch has ended, so that it does not slow down the
      // next switch.
      await new Promise((done) => setTimeout(done, 400))
    }
    return times
  }, switches)

const openings = 7
const deep = 'recorded:gemm-fp32-h200-4096-deep'
const deepPair = ['11_warp_tile', '12_register_prefetch']
const views = [
  { name: 'Machine code', key: 'm', rows: '.sass-list .row' },
  { name: 'Chain', key: 'c', rows: '.chain tr' },
]

/**
 * Measures the time from the key press to the frame that shows the rows.
 * @param {import('playwright-core').Page} page
 * @param {{ key: string, rows: string }} view
 * @returns {Promise<number>} milliseconds
 */
const opening = (page, { key, rows }) =>
  page.evaluate(
    async ([key, rows]) => {
      const view = /** @type {any} */ (globalThis)
      const frame = () => new Promise((done) => view.requestAnimationFrame(done))
      await frame()
      const start = performance.now()
      view.dispatchEvent(new view.KeyboardEvent('keydown', { key }))
      do await frame()
      while (!view.document.querySelector(rows))
      await new Promise((done) => setTimeout(done, 0))
      return performance.now() - start
    },
    [key, rows],
  )

/**
 * @param {import('playwright-core').BrowserContext} context signed in
 * @param {string} address @param {import('./budgets.mjs').Judge} judge
 */
async function benchViews(context, address, judge) {
  for (const view of views) {
    const times = []
    for (let sample = 0; sample < openings; sample += 1) {
      const page = await context.newPage()
      await page.setViewportSize({ width: 1440, height: 900 })
      await openPair(page, address, deep, deepPair)
      // Wait until the page has prepared the view, which it does while idle.
      await page.waitForTimeout(2000)
      times.push(await opening(page, view))
      await page.close()
    }
    console.log(
      `${view.name} of a pair, opened: ${describe(times)}, ${judge('viewOpened', median(times), view.name)}`,
    )
  }
}

/** @param {import('./budgets.mjs').Judge} judge */
export async function benchCompare(judge) {
  const data = await mkdtemp(join(tmpdir(), 'kernel-ladder-bench-'))
  await makeSession(data)
  const server = spawn(process.execPath, [join(root, 'dist/cli/kernel-ladder.mjs'), 'serve'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, KERNEL_LADDER_DATA: data },
  })
  /** @type {string} */
  const address = await new Promise((done, failed) => {
    let text = ''
    server.stdout.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
      const found = /(http:\S+)\n/.exec(text)?.[1]
      if (found) done(found)
    })
    server.on('exit', () => failed(new Error('The server exited before it printed its address.')))
  })
  // Import the package here and not at the top, because it may have just been installed.
  const { chromium } = await import('playwright-core')
  const browser = await chromium.launch({
    executablePath: await obtainChromium(),
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  })
  const context = await browser.newContext()
  try {
    for (const width of [1100, 1280, 1920]) {
      const page = await context.newPage()
      await page.setViewportSize({ width, height: 900 })
      // The first page uses the one-time token. The other pages reuse the first page's cookie.
      await page.goto(width === 1100 ? address : new URL('/', address).href)
      await openPair(page, address, 'bench-long-sources', ['02_coalesced', '03_shared_tile'])
      await page.waitForTimeout(1500)
      const tools = await page.context().newCDPSession(page)
      await tools.send('Performance.enable', { timeDomain: 'threadTicks' })
      const busy = async () =>
        (await tools.send('Performance.getMetrics')).metrics.find(
          ({ name }) => name === 'TaskDuration',
        )?.value ?? 0
      const before = await busy()
      const times = await walk(page)
      const each = ((await busy()) - before) * (1000 / switches)
      console.log(
        `Compare, pair switch over ${lines} lines at ${width} px: ${describe(times)}, ${judge('pairSwitch', median(times), `at ${width} px`)}; ${Math.round(each)} ms of CPU time per switch, including parsing afterwards`,
      )
      await page.close()
    }
    await benchViews(context, address, judge)
  } finally {
    await browser.close()
    server.kill('SIGTERM')
    await rm(data, { recursive: true, force: true })
  }
}
