// @ts-check
/**
 * Measures how long the program takes to start, both from the npm package and as a single file.
 *
 * The program files are already in the disk cache when a measurement starts. The script also
 * measures the package size, the offline installation into an empty folder, and the first replay of
 * a recorded ladder.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../lib/project.mjs'
import { describe, inScratch, median } from './support.mjs'

const samples = 15

const programs = {
  'npm package': join(root, 'dist/package/lib/kernel-ladder.js'),
  'one file': join(root, 'dist/cli/kernel-ladder.mjs'),
}

/** @param {string} program @param {readonly string[]} args @param {NodeJS.ProcessEnv} env */
function started(program, args, env) {
  const startedAt = performance.now()
  const { status, stderr } = spawnSync(process.execPath, [program, ...args], {
    env,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`${args.join(' ')} exited with ${status}: ${stderr}`)
  return performance.now() - startedAt
}

/** @param {string} folder */
const environment = (folder) => ({
  ...process.env,
  KERNEL_LADDER_CACHE: join(folder, 'cache'),
  KERNEL_LADDER_DATA: join(folder, 'data'),
})

/** Options that keep npm from using the network. */
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
        // The first start fills the cache, so report it separately.
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
