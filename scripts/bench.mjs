// @ts-check
/**
 * Benchmarks: what is measured is printed with its spread, and where there is a budget (bench/budgets.mjs),
 * with it; the last lines are the budgets, and the exit code is 1 when one is over. Run on a quiet machine.
 *
 * UI: from opening the address to a ladder whose rows answer a click, in a fresh browser profile each
 * time, over the real web host and the shipped recording.
 * Replay: `run --target recorded` as a process, from start to exit.
 * Compare: the pair switched over sources of 1,500 lines.
 * Grids: 200 rungs, and their metrics, scrolled; the size of the first scripts; the page's memory.
 * Reports: HTML and PDF of a deep session, HTML of 200 rungs.
 * Report, csv: files of ncu read, a table of 100 MB beside papaparse, a report of ncu, and the memory that both take.
 * GPU: what profiling costs; only where there is a GPU whose counters may be read.
 *
 *     npm run bench [-- replay ui compare grids reports report csv gpu]
 */
import { spawn } from 'node:child_process'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { budgetTally, printBudgets } from './bench/budgets.mjs'
import { benchCompare } from './bench/compare.mjs'
import { benchGpu } from './bench/gpu.mjs'
import { benchGrids } from './bench/grids.mjs'
import { benchCsv, benchReport } from './bench/imports.mjs'
import { benchReports } from './bench/reports.mjs'
import { describe, median } from './bench/support.mjs'
import { ensureBuilt } from './lib/build.mjs'
import { obtainChromium } from './lib/chromium.mjs'
import { ensureInstalled } from './lib/install.mjs'
import { nodePath } from './lib/node.mjs'
import { root, runScript, say } from './lib/project.mjs'

const samples = 15
const program = join(root, 'dist/cli/kernel-ladder.mjs')

/** @param {string[]} args */
function start(args) {
  return spawn(nodePath(), [program, ...args], { stdio: ['ignore', 'pipe', 'ignore'] })
}

/** @param {import('./bench/budgets.mjs').Judge} judge */
async function benchUi(judge) {
  const executablePath = await obtainChromium()
  // Installed only by now, so it cannot be imported at the top.
  const { chromium } = await import('playwright-core')
  const server = start(['serve'])
  const address = await new Promise((done, failed) => {
    let text = ''
    server.stdout.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
      const found = /(http:\S+)\n/.exec(text)?.[1]
      if (found) done(found)
    })
    server.on('exit', () => failed(new Error('The server ended before it said its address.')))
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
    // The first is thrown away: it warms the disk cache, not the browser's.
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
    if (code !== 0) throw new Error(`The replay ended with exit code ${code}.`)
    times.push(performance.now() - startedAt)
  }
  console.log(`Replay of gemm-fp32 at 4096 by the command line: ${describe(times)}`)
}

const parts = {
  replay: benchReplay,
  ui: benchUi,
  compare: benchCompare,
  grids: benchGrids,
  reports: benchReports,
  report: benchReport,
  csv: benchCsv,
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
  await ensureBuilt(['cli'])
  say(`On ${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}`)
  const tally = budgetTally()
  for (const part of wanted) await parts[part](tally.judge)
  return printBudgets(tally.summary())
})
