// @ts-check
/**
 * `npm run bench` runs the benchmarks, which need an otherwise idle machine. The script prints
 * every measurement with its spread and, if there is one, its budget (bench/budgets.mjs). The last
 * lines list the budgets. The exit code is 1 if a budget is exceeded.
 *
 *     npm run bench [-- start replay ui compare grids reports report csv emulation sessions gpu]
 *
 * - ui: the time from opening the URL until a ladder's rows react to a click. Each sample uses a
 *   new browser profile, the real web host and a shipped recording.
 * - start: the time of `--help` and `ladders` in the single-file program and in the npm
 *   package, and the package's size and installation time.
 * - replay: a process that runs `run --target recorded`, from start to exit.
 * - compare: switching to another pair of rungs with 1,500-line sources, then opening the
 *   machine code view and the Chain view.
 * - grids: scrolling 300 rungs, their metrics and long machine code. The `grids` part also measures
 *   the size of the initial scripts and the page's memory use.
 * - reports: writing an HTML and a PDF report of a deep session, and an HTML report of 200 rungs.
 * - report, csv: time and memory to parse an ncu report and a 100 MB ncu table. The benchmark
 * compares the table parser with papaparse.
 * - emulation: gemm-fp32 at size 512, and a lab check without a GPU. Needs nvcc.
 * - sessions: time and memory to list a store of 10,000 sessions.
 * - gpu: the cost of profiling. The `gpu` part needs a GPU with access to its performance counters.
 */
import { spawn } from 'node:child_process'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { budgetTally, printBudgets } from './bench/budgets.mjs'
import { benchCompare } from './bench/compare.mjs'
import { benchEmulation } from './bench/emulation.mjs'
import { benchGpu } from './bench/gpu.mjs'
import { benchGrids } from './bench/grids.mjs'
import { benchCsv, benchReport } from './bench/imports.mjs'
import { describe, median } from './bench/support.mjs'
import { ensureBuilt } from './lib/build.mjs'
import { ensureInstalled } from './lib/install.mjs'
import { root, runScript, say } from './lib/project.mjs'
import { benchStart } from './bench/startup.mjs'
import { benchSessions } from './bench/session-list.mjs'
import { benchReports } from './bench/reports.mjs'
import { obtainChromium } from './lib/chromium.mjs'

const samples = 15
const program = join(root, 'dist/cli/kernel-ladder.mjs')

/** @param {string[]} args */
function start(args) {
  return spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'ignore'] })
}

/** @param {import('./bench/budgets.mjs').Judge} judge */
async function benchUi(judge) {
  const executablePath = await obtainChromium()
  // Import the package here and not at the top, because it may have just been installed.
  const { chromium } = await import('playwright-core')
  const server = start(['serve'])
  const address = await new Promise((done, failed) => {
    let text = ''
    server.stdout.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
      const found = /(http:\S+)\n/.exec(text)?.[1]
      if (found) done(found)
    })
    server.on('exit', () => failed(new Error('The server exited before it printed its address.')))
  })
  const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  })
  try {
    const first = await browser.newContext()
    await (await first.newPage()).goto(address)
    const storageState = await first.storageState()
    await first.close()
    /** @type {number[]} */
    const times = []
    // Discard the first sample, because it warms the disk cache.
    for (let sample = -1; sample < samples; sample += 1) {
      const context = await browser.newContext({
        storageState,
        viewport: { width: 1280, height: 800 },
      })
      const page = await context.newPage()
      const startedAt = performance.now()
      await page.goto(new URL('/', address).href, { waitUntil: 'commit' })
      const row = page.locator('tr[data-rung]').nth(1)
      await row.click()
      await page.locator('tr[data-rung][aria-selected="true"]').first().waitFor()
      if (sample >= 0) times.push(performance.now() - startedAt)
      await context.close()
    }
    console.log(
      `UI, recorded session to interactive ladder: ${describe(times)}, ${judge('interactive', median(times))}`,
    )
  } finally {
    await browser.close()
    server.kill('SIGTERM')
  }
}

async function benchReplay() {
  /** @type {number[]} */
  const times = []
  for (let sample = 0; sample < samples; sample += 1) {
    const startedAt = performance.now()
    const child = start(['run', '--ladder', 'gemm-fp32', '--target', 'recorded', '--json'])
    child.stdout.resume()
    const code = await new Promise((done) => child.on('close', done))
    if (code !== 0) throw new Error(`The replay exited with code ${code}.`)
    times.push(performance.now() - startedAt)
  }
  console.log(`Replay of gemm-fp32 at 4096 from the command line: ${describe(times)}`)
}

const parts = {
  start: benchStart,
  replay: benchReplay,
  ui: benchUi,
  compare: benchCompare,
  grids: benchGrids,
  reports: benchReports,
  report: benchReport,
  csv: benchCsv,
  emulation: benchEmulation,
  sessions: benchSessions,
  gpu: benchGpu,
}

/** @param {string[]} words @returns {(keyof typeof parts)[]} */
function chosen(words) {
  const names = /** @type {(keyof typeof parts)[]} */ (Object.keys(parts))
  const unknown = words.find((word) => !names.some((name) => name === word))
  if (unknown !== undefined)
    throw new Error(`There is no benchmark named ${unknown}; there are ${names.join(', ')}.`)
  return words.length === 0 ? names : names.filter((name) => words.includes(name))
}

await runScript(async () => {
  const wanted = chosen(process.argv.slice(2))
  await ensureInstalled()
  await ensureBuilt(['cli', 'package'])
  say(`On ${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}`)
  const tally = budgetTally()
  for (const part of wanted) await parts[part](tally.judge)
  return printBudgets(tally.summary())
})
