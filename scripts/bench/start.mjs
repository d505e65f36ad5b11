// @ts-check
/**
 * How long the program takes to start: the npm package and the one-file program, with the files in the disk's cache. And the
 * package itself: size, installation in an empty folder without a network, and the first recorded ladder after it.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, statSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { nodePath, root } from '../lib/project.mjs'
import { describe, inScratch, median, bundled, megabytes, spread, worker } from './support.mjs'

const samples = 15

const programs = {
  'npm package': join(root, 'dist/package/lib/kernel-ladder.js'),
  'one file': join(root, 'dist/cli/kernel-ladder.mjs'),
}

/** @param {string} program @param {readonly string[]} args @param {NodeJS.ProcessEnv} env */
function started(program, args, env) {
  const startedAt = performance.now()
  const { status, stderr } = spawnSync(nodePath(), [program, ...args], { env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${args.join(' ')} exited with ${status}: ${stderr}`)
  return performance.now() - startedAt
}

/** @param {string} folder */
const environment = (folder) => ({
  ...process.env,
  KERNEL_LADDER_CACHE: join(folder, 'cache'),
  KERNEL_LADDER_DATA: join(folder, 'data'),
})

/** The options of npm that keep it from asking anyone. */
const quiet = ['--offline', '--no-audit', '--no-fund', '--loglevel=error']

/** @param {import('./budgets.mjs').Judge} judge */
export async function benchStart(judge) {
  await inScratch(async (folder) => {
    const env = environment(folder)
    for (const [name, program] of Object.entries(programs))
      for (const [budget, args] of /** @type {const} */ ([
        ['startHelp', ['--help']],
        ['startHelp', ['run', '--help']],
        ['startLadders', ['ladders']],
      ])) {
        // The first one fills the cache, and is told apart.
        const first = started(program, args, env)
        const times = Array.from({ length: samples }, () => started(program, args, env))
        const what = `${args.join(' ')}, ${name}`
        console.log(
          `Start of ${what}: ${describe(times)}, the very first ${first.toFixed(0)} ms, ${judge(budget, median(times), what)}`,
        )
      }
    const [packed] = JSON.parse(
      execFileSync('npm', ['pack', join(root, 'dist/package'), '--json', ...quiet], {
        cwd: folder,
        encoding: 'utf8',
      }),
    )
    const tarball = join(folder, packed.filename)
    const empty = join(folder, 'empty')
    mkdirSync(empty)
    const installing = performance.now()
    execFileSync('npm', ['install', tarball, '--prefix', empty, ...quiet], { cwd: empty })
    const installed = performance.now() - installing
    const program = join(empty, 'node_modules/.bin/kernel-ladder')
    const run = ['run', '--ladder', 'gemm-fp32', '--target', 'recorded']
    const first = started(program, run, environment(empty))
    const size = statSync(tarball).size / 1e6
    console.log(
      `npm package: ${size.toFixed(2)} MB, ${judge('packageSize', size)}; installed in ${(installed / 1000).toFixed(1)} s; first recorded ladder ${first.toFixed(0)} ms`,
    )
  })
}

// How long the list of a large store takes once its index is there, and the memory of the process.

const count = 10_000
const rounds = 5

/** A live session of one rung, as a run leaves it. */
function sample() {
  const rows = readFileSync(join(root, 'resources/recordings/sessions.jsonl'), 'utf8')
  const row = rows.slice(0, rows.indexOf('\n'))
  const { session: _name, ...session } = JSON.parse(row)
  return { ...session, target: { kind: 'live', name: 'local' }, rungs: session.rungs.slice(0, 1) }
}

/** @param {import('./budgets.mjs').Judge} judge */
export async function benchSessions(judge) {
  await inScratch(async (folder) => {
    const session = sample()
    for (let number = 0; number < count; number += 1) {
      const createdAt = new Date(Date.UTC(2026, 0, 1) + number * 60_000).toISOString()
      const own = join(folder, 'sessions', `session-${String(number).padStart(5, '0')}`)
      mkdirSync(own, { recursive: true })
      writeFileSync(join(own, 'session.json'), JSON.stringify({ ...session, createdAt }))
    }
    const code = await bundled('src-main/services/sessions/sessions.ts', folder)
    const list = () => worker('sessions', [code, folder])
    const first = await list()
    const runs = []
    for (let round = 0; round < rounds; round += 1) runs.push(await list())
    if (runs.some((run) => run.count !== first.count || run.count < count))
      throw new Error('The list does not have every session.')
    const times = runs.map(({ seconds }) => 1000 * seconds)
    const cpu = runs.map(({ cpuSeconds }) => 1000 * cpuSeconds)
    const peaks = runs.map(({ peakBytes }) => megabytes(peakBytes))
    console.log(`List of ${count} sessions, each time by a new process, median (min to max):`)
    console.log(
      `  ${spread(times)} ms (${spread(cpu)} ms of processor time), peak ${spread(peaks)} MB; ${first.seconds.toFixed(1)} s the first time`,
    )
    judge('sessionsTime', median(times))
    judge('sessionsMemory', median(peaks))
  })
}
