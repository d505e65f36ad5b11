// @ts-check
/**
 * The large screens: 200 rungs, and 200 rungs × some 300 metrics, scrolled a wheel's step a frame; what the
 * page takes of memory after it, and of a download before it. A headless browser without a GPU draws with
 * the processor, so the frames are slower than a reader's; the thread's own time is the page's share.
 */
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { obtainChromium } from '../lib/chromium.mjs'
import { initialScripts } from '../lib/initial-size.mjs'
import { nodePath } from '../lib/node.mjs'
import { root } from '../lib/project.mjs'
import { writeSynthetic } from '../lib/synthetic-session.mjs'
import { slowFrameMs } from './budgets.mjs'
import { scrollFrames, withThreadTime } from './frames.mjs'
import { rendererBytes } from './memory.mjs'
import { megabytes, quantile } from './support.mjs'

const program = join(root, 'dist/cli/kernel-ladder.mjs')
const report = join(root, 'test/captures/ncu/2025.3.1-h200/launches-two-rungs.ncu-rep')
const rungs = 200
const frames = 300

/** @param {import('./budgets.mjs').Judge} judge */
export async function benchGrids(judge) {
  const { kb, libraries } = initialScripts(join(root, 'out/renderer'))
  console.log(
    `First scripts: ${kb.toFixed(0)} kB compressed, ${judge('initialScripts', kb)}; ${libraries.length} of charts, editor and formulas among them, ${judge('initialLibraries', libraries.length)}`,
  )
  const executablePath = await obtainChromium()
  const { chromium } = await import('playwright-core')
  const data = mkdtempSync(join(tmpdir(), 'kernel-ladder-bench-'))
  const store = join(data, 'sessions')
  const env = { ...process.env, KERNEL_LADDER_DATA: data }
  execFileSync(nodePath(), [program, 'import', report], { env, stdio: 'ignore' })
  const imported = readdirSync(store).find((name) => name.startsWith('imported-')) ?? ''
  const { ncuMetrics } = JSON.parse(readFileSync(join(store, imported, 'session.json'), 'utf8'))
    .rungs[0]
  const ref = writeSynthetic(store, { rungs, ncuMetrics })
  const server = spawn(nodePath(), [program, 'serve'], { env, stdio: ['ignore', 'pipe', 'ignore'] })
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
      server.on('exit', () => failed(new Error('The server ended before it said its address.')))
    })
    const page = await (
      await browser.newContext({ viewport: { width: 1280, height: 800 } })
    ).newPage()
    await page.goto(address)
    // The first screen sends one on to its session, which must not come after the address below.
    await page.locator('tr[data-rung]').first().waitFor()
    for (const { name, view, ready, scroller, step } of [
      {
        name: `Ladder of ${rungs} rungs, down`,
        view: 'ladder',
        ready: `[aria-rowcount="${rungs + 2}"] tr[data-rung]`,
        scroller: '.scroller',
        step: { y: 60 },
      },
      ...[{ y: 60 }, { x: 60 }].map((step) => ({
        name: `Matrix of ${rungs} rungs × ${Object.keys(ncuMetrics).length} metrics, ${'y' in step ? 'down' : 'across'}`,
        view: 'matrix?metrics=all',
        ready: `[aria-colcount="${rungs + 1}"] [role="gridcell"]`,
        scroller: '.matrix .scroller',
        step,
      })),
    ]) {
      await page.goto(new URL(`/#/session/${ref}/${view}`, address).href)
      await page.locator(ready).first().waitFor()
      await page.waitForTimeout(1000)
      const { value: times, cpuMs } = await withThreadTime(page, () =>
        scrollFrames(page, scroller, step, frames),
      )
      const slow = times.filter((time) => time > slowFrameMs).length
      console.log(
        `${name}: frame median ${quantile(times, 0.5).toFixed(1)} ms, 95 % ${quantile(times, 0.95).toFixed(1)} ms, worst ${quantile(times, 1).toFixed(1)} ms, ${slow} of ${frames} over ${slowFrameMs} ms, ${judge('slowFrames', slow, name)}; ${(cpuMs / frames).toFixed(1)} ms of the page's thread a frame`,
      )
    }
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('HeapProfiler.collectGarbage')
    const { usedSize } = await devtools.send('Runtime.getHeapUsage')
    const bytes = await rendererBytes(browser)
    const memory =
      bytes === null
        ? 'its process not measured: there is no /proc/<pid>/smaps_rollup here'
        : `its process ${megabytes(bytes).toFixed(0)} MB (PSS), ${judge('rendererMemory', megabytes(bytes))}`
    console.log(
      `Memory of the page after it, garbage collected: heap ${megabytes(usedSize).toFixed(0)} MB; ${memory}`,
    )
  } finally {
    await browser.close()
    server.kill('SIGTERM')
    rmSync(data, { recursive: true, force: true })
  }
}
