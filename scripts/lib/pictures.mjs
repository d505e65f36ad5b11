// @ts-check
/**
 * Takes screenshots of the UI. Runs the real server with the shipped recordings or with fake tools.
 */
import { execFileSync, spawn } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { PlainError, root } from './project.mjs'
import { recordedSession } from './recordings.mjs'
import { putFakes } from '../../test/fakes/program.mjs'
import { obtainChromium } from './chromium.mjs'

const program = join(root, 'dist/cli/kernel-ladder.mjs')
const capture = join(root, 'test/captures/ncu/2025.3.1-h200/launches-two-rungs.ncu-rep')

/** @typedef {import('playwright-core').Browser} Browser */
/** @typedef {import('playwright-core').BrowserContextOptions} ContextOptions */

/**
 * Writes sessions for edge cases of a screen: very long names, rungs that did not run, and no
 * rungs.
 * @param {string} store
 */
function writeEdgeSessions(store) {
  const real = recordedSession('gemm-fp32-h200-4096')
  const long = 'Long name '.repeat(30)
  const failed = (/** @type {any} */ rung) => ({
    ...rung,
    status: 'failed',
    reason: {
      key: 'records.notCompiling',
      values: { what: `${rung.file}:12: identifier "j" is undefined` },
    },
    diagnostics: [
      { severity: 'error', file: rung.file, line: 12, message: 'identifier "j" is undefined' },
    ],
    build: null,
    verify: null,
    timing: null,
    profile: null,
    metrics: {},
  })
  const named = (/** @type {any} */ rung) => ({ ...rung, title: long, idea: long })
  const edges = {
    'no-rungs': { rungs: [], ladder: { ...real.ladder, rungs: [] }, completion: 'cancelled' },
    'all-failed': { rungs: real.rungs.map(failed) },
    'long-names': {
      ladder: {
        ...real.ladder,
        title: long,
        summary: long,
        rungs: real.ladder.rungs.map((/** @type {any} */ rung) => ({ ...rung, title: long })),
      },
      device: { ...real.device, name: long },
      warnings: [long],
      rungs: real.rungs.map((/** @type {any} */ rung, /** @type {number} */ index) =>
        named(index === 3 ? { ...failed(rung), reason: long } : rung),
      ),
    },
  }
  for (const [id, over] of Object.entries(edges)) {
    mkdirSync(join(store, id), { recursive: true })
    const session = { ...real, id, target: { kind: 'live', name: 'local' }, ...over }
    writeFileSync(join(store, id, 'session.json'), JSON.stringify(session))
  }
}

/** Stores a sweep on two H200 GPUs in the format of `tune`. @param {string} data */
export function putTuning(data) {
  const sweep = join(root, 'test/captures/tune-h200.json')
  const { id } = JSON.parse(readFileSync(sweep, 'utf8'))
  const folder = join(data, 'tunes')
  mkdirSync(folder, { recursive: true })
  copyFileSync(sweep, join(folder, `${id}.tuning.json`))
}

/**
 * Returns the environment for fake tools, which replay the output of real tools.
 * @param {string} data
 * @param {string} faults
 */
const overFakes = (data, faults) => ({
  PATH: [putFakes(join(data, 'fakes')), dirname(process.execPath), '/usr/bin', '/bin'].join(
    delimiter,
  ),
  KERNEL_LADDER_PATH_ONLY: '1',
  KERNEL_LADDER_CACHE: join(data, 'cache'),
  FAKE_LOG: join(data, 'calls.log'),
  FAKE_FAULTS: faults,
})

/**
 * Starts a server with a separate store, so that the user's sessions do not appear.
 * @param {{ faults?: string }} [options] faults of the fake tools; without faults the server uses
 * the machine's tools
 */
export async function startServer({ faults } = {}) {
  const data = mkdtempSync(join(tmpdir(), 'kernel-ladder-pictures-'))
  const env = {
    ...process.env,
    KERNEL_LADDER_DATA: data,
    ...(faults === undefined ? {} : overFakes(data, faults)),
  }
  if (faults === undefined) {
    execFileSync(process.execPath, [program, 'import', capture], { env, stdio: 'ignore' })
    writeEdgeSessions(join(data, 'sessions'))
    putTuning(data)
  }
  const child = spawn(process.execPath, [program, 'serve'], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  /** @type {string} */
  const address = await new Promise((done, failed) => {
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      const found = /(http:\S+)/.exec(chunk)?.[1]
      if (found) done(found)
    })
    child.on('exit', () =>
      failed(new PlainError('The server exited before it printed its address.')),
    )
  })
  return {
    address,
    async stop() {
      const gone = new Promise((done) => child.on('close', done))
      child.removeAllListeners('exit')
      child.kill('SIGTERM')
      await gone
      rmSync(data, { recursive: true, force: true })
    },
  }
}

export async function startBrowser() {
  const executablePath = await obtainChromium()
  const { chromium } = await import('playwright-core')
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  })
}

/** Writes a report and returns its file URL. @param {string[]} options @param {string} folder */
function writeReport(options, folder) {
  // Put each report in a separate folder, because reports never overwrite files.
  const file = join(mkdtempSync(join(folder, 'report-')), 'report.html')
  execFileSync(
    process.execPath,
    [program, 'report', ...options, '--format', 'html', '--out', file],
    {
      stdio: 'ignore',
    },
  )
  return pathToFileURL(file).href
}

/**
 * @param {Browser} browser
 * @param {string} address the URL printed by the server, which signs in one browser
 * @param {ContextOptions} options
 */
export async function signedIn(browser, address, options) {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options })
  const page = await context.newPage()
  await page.goto(address)
  await page.waitForURL((url) => !url.searchParams.has('token'))
  return { page, state: await context.storageState(), close: () => context.close() }
}

/**
 * @param {import('playwright-core').Page} page
 * @param {string} address
 * @param {import('./screens.mjs').Screen} screen
 * @param {string} folder for files that the screen needs
 * @param {import('./screens.mjs').Words} words in the language of the page
 */
export async function show(page, address, screen, folder, words) {
  for (const [call, how] of Object.entries(screen.calls ?? {}))
    await page.route(`**/rpc/${call}`, (route) =>
      how === 'hang' ? undefined : route.fulfill({ status: 500, body: 'no answer' }),
    )
  // Load a blank page first, because the browser would otherwise only change the hash of the open
  // page instead of loading the URL.
  await page.goto('about:blank')
  await page.goto(
    screen.report === undefined
      ? new URL(`/#${screen.route}`, address).href
      : writeReport(screen.report, folder),
  )
  await page.locator(screen.ready).first().waitFor()
  await screen.act?.(page, words)
  // Wait a moment, because charts are drawn asynchronously and emit no event when they are done.
  await page.waitForTimeout(500)
}
