// @ts-check
/**
 * Measures the large screens while scrolling one wheel step per frame.
 *
 * The first screen lists 300 rungs. The second screen is a table of 300 rungs and about 300
 * metrics. Further screens show the machine code of two kernels, each with 5,000 or 20,000
 * instructions. The script also measures the page's memory use after scrolling, and the page's
 * download size. A headless browser without a GPU renders on the CPU, so its frames take longer
 * than a user's. The CPU time of the page's thread is measured separately.
 */
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { initialScripts } from '../lib/initial-size.mjs'
import { root } from '../lib/project.mjs'
import { slowFrameMs } from './budgets.mjs'
import { scrollFrames, withThreadTime } from './scroll-frames.mjs'
import { megabytes, quantile } from './support.mjs'
import { grids, machineCode, openMachineCode, openView } from './views.mjs'
import { rendererBytes } from './page-memory.mjs'
import { obtainChromium } from '../lib/chromium.mjs'
import { writeLongKernels, writeSynthetic } from '../lib/synthetic-sessions.mjs'

const program = join(root, 'dist/cli/kernel-ladder.mjs')
const report = join(root, 'test/captures/ncu/2025.3.1-h200/launches-two-rungs.ncu-rep')
const rungs = 300
/** Instruction counts of the kernels to show. */
const instructions = [5000, 20_000]
const deep = 'recorded:gemm-fp32-h200-4096-deep'
const pair = /** @type {const} */ (['08_warp_tile', '09_register_prefetch'])
const frames = 300

/** @param {import('./budgets.mjs').Judge} judge */
export async function benchGrids(judge) {
  const { kb, libraries } = initialScripts(join(root, 'out/renderer'))
  console.log(
    `Initial scripts: ${kb.toFixed(0)} kB compressed, ${judge('initialScripts', kb)}; ${libraries.length} chart, editor or formula libraries among them, ${judge('initialLibraries', libraries.length)}`,
  )
  const executablePath = await obtainChromium()
  const { chromium } = await import('playwright-core')
  const data = mkdtempSync(join(tmpdir(), 'kernel-ladder-bench-'))
  const store = join(data, 'sessions')
  const env = { ...process.env, KERNEL_LADDER_DATA: data }
  execFileSync(process.execPath, [program, 'import', report], { env, stdio: 'ignore' })
  const imported = readdirSync(store).find((name) => name.startsWith('imported-')) ?? ''
  const { ncuMetrics } = JSON.parse(readFileSync(join(store, imported, 'session.json'), 'utf8'))
    .rungs[0]
  const ref = writeSynthetic(store, { rungs, ncuMetrics })
  const server = spawn(process.execPath, [program, 'serve'], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  })
  try {
    const address = await new Promise((done, failed) => {
      server.stdout.setEncoding('utf8').on('data', (chunk) => {
        const found = /(http:\S+)/.exec(chunk)?.[1]
        if (found) done(found)
      })
      server.on('exit', () => failed(new Error('The server exited before it printed its address.')))
    })
    const page = await (
      await browser.newContext({ viewport: { width: 1280, height: 800 } })
    ).newPage()
    await page.goto(address)
    // The first screen redirects to its session. Wait for the redirect before the next navigation.
    await page.locator('tr[data-rung]').first().waitFor()
    const metrics = Object.keys(ncuMetrics).length
    const [ladder, matrix] = [grids.ladder({ rungs }), grids.matrix({ rungs })]
    for (const { name, grid, step } of [
      { name: `Ladder of ${rungs} rungs, vertically`, grid: ladder, step: { y: 60 } },
      ...[{ y: 60 }, { x: 60 }].map((step) => ({
        name: `Matrix of ${rungs} rungs × ${metrics} metrics, ${'y' in step ? 'vertically' : 'horizontally'}`,
        grid: matrix,
        step,
      })),
    ]) {
      await openView(page, address, ref, grid)
      await page.waitForTimeout(1000)
      await scroll(page, judge, name, grid.scroller, step)
    }
    const profiles = await Promise.all(pair.map((rung) => deepProfile(page, rung)))
    for (const count of instructions) {
      const session = writeSynthetic(store, {
        rungs: 3 + instructions.indexOf(count),
        ncuMetrics: {},
      })
      const folder = join(store, session)
      const { rungs: own } = JSON.parse(readFileSync(join(folder, 'session.json'), 'utf8'))
      const ids = /** @type {[string, string]} */ (
        own.slice(1, 3).map((/** @type {any} */ { id }) => id)
      )
      writeLongKernels(folder, ids, profiles, count)
      await openMachineCode(page, address, session, ids)
      await page.waitForTimeout(1000)
      await scroll(page, judge, `SASS of ${count} instructions`, machineCode, { y: 60 })
    }
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('HeapProfiler.collectGarbage')
    const { usedSize } = await devtools.send('Runtime.getHeapUsage')
    const bytes = await rendererBytes(browser)
    const memory =
      bytes === null
        ? 'process not measured: there is no /proc/<pid>/smaps_rollup here'
        : `its process ${megabytes(bytes).toFixed(0)} MB (PSS), ${judge('rendererMemory', megabytes(bytes))}`
    console.log(
      `Memory of the page afterwards, after garbage collection: heap ${megabytes(usedSize).toFixed(0)} MB; ${memory}`,
    )
  } finally {
    await browser.close()
    server.kill('SIGTERM')
    rmSync(data, { recursive: true, force: true })
  }
}

/**
 * @param {import('playwright-core').Page} page
 * @param {import('./budgets.mjs').Judge} judge
 * @param {string} name
 * @param {string} scroller
 * @param {{ x?: number, y?: number }} step
 */
async function scroll(page, judge, name, scroller, step) {
  const { value: times, cpuMs } = await withThreadTime(page, () =>
    scrollFrames(page, scroller, step, frames),
  )
  const slow = times.filter((time) => time > slowFrameMs).length
  console.log(
    `${name}: frame median ${quantile(times, 0.5).toFixed(1)} ms, 95 % ${quantile(times, 0.95).toFixed(1)} ms, worst ${quantile(times, 1).toFixed(1)} ms, ${slow} of ${frames} over ${slowFrameMs} ms, ${judge('slowFrames', slow, name)}; ${(cpuMs / frames).toFixed(1)} ms of the page's thread a frame`,
  )
}

/**
 * Fetches a deep profile from the server that the page is signed in to.
 * @param {import('playwright-core').Page} page
 * @param {string} rung
 */
const deepProfile = (page, rung) =>
  page.evaluate(
    async (input) => {
      const answer = await fetch('/rpc/sessions.deep', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(input),
      })
      return /** @type {{ value: unknown }} */ (await answer.json()).value
    },
    { ref: deep, rung },
  )
