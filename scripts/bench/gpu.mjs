// @ts-check
/**
 * Measures the cost of profiling on a GPU.
 *
 * The script runs three profilers alternately on the same gemm-fp32 launches. The profilers are ncu
 * with the card level's arguments, plain ncu with the same metrics, and `ncu --set full`. The
 * script also reports the number of passes at the standard level. The script needs no other files
 * from the repository. A GPU machine needs only Node and the one-file program:
 *
 *     KERNEL_LADDER_PROGRAM=kernel-ladder.mjs node scripts/bench/gpu.mjs [--rounds=N] [SIZE…]
 */
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { PlainError, root, runScript } from '../lib/project.mjs'
import { budgetTally, printBudgets } from './budgets.mjs'
import { inScratch, median, spread } from './support.mjs'
import { told } from '../lib/statements.mjs'

const given = process.env['KERNEL_LADDER_PROGRAM']
const program = given ? resolve(given) : join(root, 'dist/cli/kernel-ladder.mjs')
const defaults = { rounds: 3, sizes: ['1024', '4096'] }
/**
 * Matrix size that the budgets apply to. At smaller sizes, starting ncu takes longer than the
 * launches.
 */
const judgedSize = '4096'

/**
 * Runs a program and returns its wall time in seconds. If the program fails, throws an error that
 * contains the end of its output.
 * @param {string} file
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} env
 */
async function timed(file, args, env) {
  const startedAt = performance.now()
  const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      said = (said + text).slice(-2000)
    })
  const code = await new Promise((done) => {
    child.on('error', () => done('not found'))
    child.on('close', done)
  })
  if (code !== 0) throw new PlainError(`${file} exited with ${code}: ${said}`)
  return (performance.now() - startedAt) / 1000
}

/**
 * Runs the profiler at one profiling level. Returns ncu's arguments, the duration in seconds, and
 * the maximum number of passes for a kernel.
 * @param {{ folder: string, size: string, env: NodeJS.ProcessEnv }} where
 * @param {'card' | 'standard'} level @param {string} name
 * @returns {Promise<{ argv: string[], seconds: number, passes: number }>}
 */
async function profile({ folder, size, env }, level, name) {
  const out = join(folder, name)
  const args = ['run', '--ladder', 'gemm-fp32', '--size', size, '--profile', level, '--out', out]
  await timed(process.execPath, [program, ...args], env)
  const { rungs } = JSON.parse(readFileSync(join(out, 'session.json'), 'utf8'))
  const passes = rungs.map((/** @type {any} */ rung) => rung.profile?.passes ?? 0)
  if (passes.includes(0)) throw new PlainError(`A rung of ${name} was not profiled; see ${out}.`)
  const calls = readFileSync(join(out, 'raw.jsonl'), 'utf8').trim().split('\n')
  const call = calls.map((row) => JSON.parse(row)).find(({ key }) => key === 'ncu/profile')
  return { ...call, passes: Math.max(...passes) }
}

/**
 * Returns the ncu command line of a profiled run, and the runner's command line within the ncu
 * command line.
 * @param {readonly string[]} argv
 * @param {string} cache
 */
function callOf(argv, cache) {
  const words = argv.map((word) => word.replace('<cache>', cache))
  const at = words.findIndex((word) => word.endsWith('/kl-runner'))
  const command = words.slice(at)
  // Remove the option that names the runner's owner process, because the runner exits with its
  // owner, which has already exited.
  const owner = command.indexOf('--owner-pid')
  const metrics = words[words.indexOf('--metrics') + 1]
  if (at < 0 || owner < 0 || metrics === undefined)
    throw new PlainError(`What the program called is not understood: ${argv.join(' ')}`)
  command.splice(owner, 2)
  return { ncu: words[0] ?? 'ncu', metrics, command }
}

/** @param {string} size @param {number} rounds @param {import('./budgets.mjs').Judge} judge */
async function compare(size, rounds, judge) {
  await inScratch(async (folder) => {
    const cache = join(folder, 'cache')
    const temporary = join(folder, 'tmp')
    mkdirSync(temporary)
    const env = {
      ...process.env,
      LC_ALL: 'C',
      TMPDIR: temporary,
      KERNEL_LADDER_CACHE: cache,
      KERNEL_LADDER_DATA: join(folder, 'data'),
    }
    const where = { folder, size, env }
    // This warm-up run builds everything and starts each program once.
    const { ncu, metrics, command } = callOf((await profile(where, 'card', 'warm')).argv, cache)
    const marked = ['--profile-from-start', 'off', '--nvtx', '--clock-control', 'none']
    const caches = ['--cache-control', 'all']
    const report = (/** @type {string} */ name) => ['--force-overwrite', '-o', join(folder, name)]

    /** @type {Record<'ours' | 'bare' | 'full', number[]>} */
    const seconds = { ours: [], bare: [], full: [] }
    let passes = 0
    for (let round = 0; round < rounds; round += 1) {
      const own = await profile(where, 'card', `ours-${round}`)
      passes = own.passes
      seconds.ours.push(own.seconds)
      const bare = [...marked, ...caches, '--metrics', metrics, ...report('bare'), ...command]
      seconds.bare.push(await timed(ncu, bare, env))
      const full = [...marked, ...caches, '--set', 'full', ...report('full'), ...command]
      seconds.full.push(await timed(ncu, full, env))
    }
    const standard = await profile(where, 'standard', 'standard')
    const { ours, bare, full } = seconds
    const overBare = median(ours) / median(bare)
    const overFull = median(ours) / median(full)
    const verdict = (
      /** @type {import('./budgets.mjs').BudgetName} */ name,
      /** @type {number} */ figure,
    ) => (size === judgedSize ? `, ${judge(name, figure)}` : '')
    console.log(`Profiling gemm-fp32 at ${size}, seconds in ncu, median (min to max) of ${rounds}:`)
    console.log(
      `  ours, card level: ${spread(ours, 2)}, passes per kernel: ${passes}${verdict('cardPasses', passes)}`,
    )
    console.log(
      `  bare ncu, the same metrics: ${spread(bare, 2)}; ours takes ${overBare.toFixed(2)} of it${verdict('cardOverBare', overBare)}`,
    )
    console.log(
      `  ncu --set full: ${spread(full, 2)}; ours takes ${overFull.toFixed(3)} of it${verdict('cardOverFull', overFull)}`,
    )
    console.log(
      `  ours, standard level, once: ${standard.seconds.toFixed(2)}, passes per kernel: ${standard.passes}${verdict('standardPasses', standard.passes)}`,
    )
  })
}

/** @param {import('./budgets.mjs').Judge} judge @param {typeof defaults} [asked] */
export async function benchGpu(judge, { rounds, sizes } = defaults) {
  const doctor = spawn(process.execPath, [program, 'doctor', '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  doctor.stdout.setEncoding('utf8').on('data', (chunk) => {
    text += chunk
  })
  await new Promise((done) => doctor.on('close', done))
  if (text === '') throw new PlainError(`${program} doctor --json printed nothing.`)
  /** @type {{ canProfile: boolean, checks: { status: string, label: string, detail: import('../lib/statements.mjs').Statement }[] }} */
  const report = JSON.parse(text)
  if (report.canProfile) {
    for (const size of sizes) await compare(size, rounds, judge)
    return
  }
  const missing = report.checks.find(({ status }) => status === 'missing')
  console.log(
    `Profiling cost on a GPU: skipped. ${missing ? `${missing.label}: ${told(missing.detail)}` : ''}`,
  )
}

/** @param {readonly string[]} words @returns {typeof defaults} */
function askedFor(words) {
  const asked = { ...defaults }
  const sizes = words.filter((word) => /^[1-9]\d*$/.test(word))
  if (sizes.length > 0) asked.sizes = sizes
  for (const word of words.filter((one) => !sizes.includes(one))) {
    const rounds = /^--rounds=([1-9]\d*)$/.exec(word)?.[1]
    if (rounds === undefined) throw new PlainError(`${word} is neither a size nor --rounds=N.`, 2)
    asked.rounds = Number(rounds)
  }
  return asked
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  await runScript(async () => {
    const tally = budgetTally()
    await benchGpu(tally.judge, askedFor(process.argv.slice(2)))
    return printBudgets(tally.summary())
  })
