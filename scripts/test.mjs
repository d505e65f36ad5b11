// @ts-check
/**
 * `npm test` runs the checks for a change in two parallel lanes. One lane runs the tests of the
 * built programs, which mostly wait for other processes. The other lane runs all other checks one
 * at a time on the remaining cores. If a check fails, checks that depend on it do not run. The last
 * line counts the tests: "N passed, N failed". A failed check counts as one test.
 *
 * `npm run test:all` also runs the recipes and the tests tagged `thorough`.
 */
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { ensureBuilt } from './lib/build.mjs'
import { runChild } from './lib/child.mjs'
import { ensureInstalled } from './lib/install.mjs'
import { roomyHeap, toolEnv, PlainError, root, runScript, say } from './lib/project.mjs'
import { closingLine, countTests, thoroughTests } from './lib/test-report.mjs'
import { missingServers, obtainServers } from './lib/servers.mjs'
import { obtainChromium } from './lib/chromium.mjs'

/** @typedef {import('./lib/test-report.mjs').Counts} Counts */

const runsAll = process.argv.includes('--all')

/** @type {Counts} */
const nothing = { passed: 0, failed: 0, skipped: 0 }
/** @type {Counts} */
const oneFailure = { ...nothing, failed: 1 }

/** @type {NodeJS.ProcessEnv} */
const extra = {}

/** @type {string[]} */
const summary = []

/**
 * With the default heap size, the checkers spend a fifth of their time on garbage collection.
 * Checkers written in Go run on one thread, because several threads would each compute the same
 * types.
 */
const frugal = {
  ...{ GOMAXPROCS: '1', GOGC: 'off', GOMEMLIMIT: '2GiB' },
  NODE_OPTIONS: '--max-semi-space-size=64',
}

/**
 * Returns a function that runs a script in package.json. A failure counts as one failed test.
 * @param {string} script
 */
const checks = (script) => async () => {
  const commands = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts[script]
  const { code, output } = await runChild(commands, [], {
    env: toolEnv({ ...extra, ...frugal }),
    shell: true,
    output: 'kept',
    yields: true,
  })
  if (code !== 0) console.log(output)
  return code === 0 ? nothing : oneFailure
}

/**
 * @param {{ yields: boolean }} row of the tests; if it yields, its output is shown when it ends
 * @param {string[]} projects
 */
const tests =
  ({ yields }, ...projects) =>
  async () => {
    const file = join(root, `.cache/test-report-${projects[0]}.json`)
    rmSync(file, { force: true })
    const { code, output } = await runChild(
      process.execPath,
      [
        ...roomyHeap,
        'node_modules/vitest/vitest.mjs',
        'run',
        ...projects.map((project) => `--project=${project}`),
        ...(runsAll ? [] : ['--tagsFilter=!thorough']),
        '--reporter=default',
        '--reporter=json',
        `--outputFile.json=${file}`,
      ],
      { env: toolEnv(extra), output: yields ? 'kept' : 'shown', yields },
    )
    if (yields) console.log(output)
    let report
    try {
      report = JSON.parse(readFileSync(file, 'utf8'))
    } catch {
      // Vitest exited without a report, so its exit code determines the result.
    }
    const counts = countTests(report, code)
    const left = runsAll ? 0 : thoroughTests(report)
    if (left > 0) summary.push(`${left} thorough tests left to npm run test:all`)
    return { ...counts, skipped: counts.skipped - left }
  }

/**
 * All checks. Each check starts when all checks in `needs` have passed and the check in `after` has
 * ended.
 * @type {Record<string, { needs?: string[], after?: string, run: () => Promise<Counts> }>}
 */
const all = {
  dependencies: {
    async run() {
      await ensureInstalled()
      return nothing
    },
  },
  programs: {
    async run() {
      extra['KERNEL_LADDER_CHROMIUM'] = await obtainChromium(missingServers())
      await obtainServers()
      return nothing
    },
  },
  format: { needs: ['dependencies'], run: checks('format:check') },
  lint: { needs: ['dependencies'], after: 'format', run: checks('lint') },
  typecheck: { needs: ['dependencies'], after: 'lint', run: checks('typecheck') },
  'unit tests': {
    needs: ['dependencies'],
    after: 'typecheck',
    run: tests({ yields: true }, 'unit', 'apart'),
  },
  build: {
    needs: ['dependencies'],
    async run() {
      await ensureBuilt(['electron', 'cli', 'package'])
      return nothing
    },
  },
  'tests of the built programs': {
    needs: ['programs', 'build'],
    run: tests({ yields: false }, 'built'),
  },
  ...(runsAll && {
    recipes: { needs: ['dependencies'], after: 'unit tests', run: checks('recipes') },
  }),
}

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

/** @type {Map<string, Promise<Counts | null>>} */
const started = new Map()

/**
 * Runs a check, but only once, and returns its counts. Returns null if a check in `needs` did not
 * pass.
 * @param {string} name
 * @returns {Promise<Counts | null>}
 */
function counted(name) {
  const known = started.get(name)
  if (known) return known
  const { needs = [], after, run } = /** @type {typeof all[string]} */ (all[name])
  const result = Promise.all([
    Promise.all(needs.map(counted)),
    after === undefined ? null : counted(after),
  ]).then(([before]) => (before.every((counts) => counts?.failed === 0) ? timed(name, run) : null))
  started.set(name, result)
  return result
}

await runScript(async () => {
  const counts = await Promise.all(Object.keys(all).map(counted))
  const closing = closingLine(counts.filter((one) => one !== null))
  console.log(`\n${summary.join('\n')}\n${closing}`)
  return closing.includes(' 0 failed') ? 0 : 1
})
