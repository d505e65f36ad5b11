// @ts-check
/**
 * All checks that a change must pass, quick ones first; stops where one has failed. Those of one step run at
 * the same time, since none of them uses more than one core. The last line counts the tests: "N passed, N
 * failed". A failed check counts as one test.
 */
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { ensureBuilt } from './lib/build.mjs'
import { runChild } from './lib/child.mjs'
import { obtainChromium } from './lib/chromium.mjs'
import { ensureInstalled } from './lib/install.mjs'
import { nodePath, toolEnv } from './lib/node.mjs'
import { PlainError, root, runScript, say } from './lib/project.mjs'
import { closingLine, countTests } from './lib/test-report.mjs'

/** @typedef {import('./lib/test-report.mjs').Counts} Counts */

/** @type {Counts} */
const nothing = { passed: 0, failed: 0, skipped: 0 }
/** @type {Counts} */
const oneFailure = { ...nothing, failed: 1 }

/** @type {NodeJS.ProcessEnv} */
const extra = {}

/** The checkers spend a fifth of their time on collecting garbage in a heap of the usual size. */
const roomyHeaps = { GOGC: '400', NODE_OPTIONS: '--max-semi-space-size=64' }

/**
 * A script of package.json, on the Node in node_modules.
 * @param {string} script
 */
const checks = (script) => async () => {
  const commands = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts[script]
  const { code, output } = await runChild(commands, [], {
    env: toolEnv({ ...extra, ...roomyHeaps }),
    shell: true,
    output: 'kept',
  })
  if (code !== 0) console.log(output)
  return code === 0 ? nothing : oneFailure
}

/** @param {string[]} projects */
const tests =
  (...projects) =>
  async () => {
    const file = join(root, `.cache/test-report-${projects[0]}.json`)
    rmSync(file, { force: true })
    const { code } = await runChild(
      nodePath(),
      [
        'node_modules/vitest/vitest.mjs',
        'run',
        ...projects.map((project) => `--project=${project}`),
        '--reporter=default',
        '--reporter=json',
        `--outputFile.json=${file}`,
      ],
      { env: toolEnv(extra) },
    )
    let report
    try {
      report = JSON.parse(readFileSync(file, 'utf8'))
    } catch {
      // It exited without a report: its exit code decides.
    }
    return countTests(report, code)
  }

/** @type {Record<string, () => Promise<Counts>>[]} */
const steps = [
  {
    async dependencies() {
      await ensureInstalled()
      return nothing
    },
  },
  {
    async browser() {
      extra['KERNEL_LADDER_CHROMIUM'] = await obtainChromium()
      return nothing
    },
    typecheck: checks('typecheck'),
    lint: checks('lint'),
    format: checks('format:check'),
  },
  { 'unit tests': tests('unit', 'apart') },
  {
    async build() {
      await ensureBuilt(['electron', 'cli'])
      return nothing
    },
  },
  { 'tests of the built programs': tests('built') },
]

/** @type {string[]} */
const summary = []

/** @param {string} name @param {() => Promise<Counts>} run */
async function timed(name, run) {
  const startedAt = Date.now()
  /** @type {Counts} */
  let counts
  try {
    counts = await run()
  } catch (error) {
    if (!(error instanceof PlainError)) throw error
    say(error.message)
    counts = oneFailure
  }
  const seconds = Math.round((Date.now() - startedAt) / 1000)
  const verdict = counts.failed === 0 ? 'ok' : 'FAILED'
  summary.push(`${name} ${verdict} ${seconds} s`)
  say(summary.at(-1) ?? '')
  return counts
}

await runScript(async () => {
  /** @type {Counts[]} */
  const counted = []
  for (const step of steps) {
    const counts = await Promise.all(Object.entries(step).map(([name, run]) => timed(name, run)))
    counted.push(...counts)
    if (counts.some(({ failed }) => failed > 0)) break
  }
  console.log(`\n${summary.join('\n')}\n${closingLine(counted)}`)
  return closingLine(counted).includes(' 0 failed') ? 0 : 1
})
