// @ts-check
/** How long commands take from process start to exit: starting at all, listing a large store, and reports. */
import { execFileSync, spawnSync, execFile } from 'node:child_process'
import { mkdirSync, statSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { root } from '../lib/project.mjs'
import { describe, inScratch, median, bundled, megabytes, spread, worker } from './support.mjs'
import { obtainChromium } from '../lib/programs.mjs'
import { copySources, repeatable, writeSynthetic } from '../lib/recordings.mjs'

// How long the program takes to start: the npm package and the one-file program, with the files in the disk's cache. And the
// package itself: size, installation in an empty folder without a network, and the first recorded ladder after it.

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

// Report commands, from process start to exit: HTML and PDF of a session of 14 rungs at the deep level, made
// from the shipped deep recording by repeating its rungs, and HTML of 200 rungs.

const exec = promisify(execFile)
const program = join(root, 'dist/cli/kernel-ladder.mjs')
const recording = 'gemm-fp32-h200-4096-deep'
const deepRungs = 14
const rungs = 200

const random = repeatable()
const sampled = new Set(['samples', 'notIssuedSamples'])

/**
 * A deep profile with varied samples, as a second run would have: exact repeats would compress to
 * nothing.
 * @param {any} value
 * @returns {any}
 */
function varied(value, isSampled = false) {
  if (typeof value === 'number') return isSampled ? Math.round(value * (0.5 + random())) : value
  if (Array.isArray(value)) return value.map((entry) => varied(entry, isSampled))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [
      key,
      varied(entry, isSampled || sampled.has(key) || key === 'stalls'),
    ]),
  )
}

/**
 * Replays and saves the recording, with its rungs repeated until there are 14.
 * @param {string} store @param {NodeJS.ProcessEnv} env
 */
async function writeDeep(store, env) {
  const ref = `synthetic-${deepRungs}-deep-rungs`
  const folder = join(store, ref)
  await mkdir(store, { recursive: true })
  const target = ['--target', `recorded:${recording}`, '--profile', 'deep']
  await exec(
    process.execPath,
    [program, 'run', '--ladder', 'gemm-fp32', ...target, '--out', folder],
    {
      env,
    },
  )
  const path = join(folder, 'session.json')
  const session = JSON.parse(await readFile(path, 'utf8'))
  const [, ...steps] = session.rungs
  const [, ...entries] = session.ladder.rungs
  for (let index = 0; session.rungs.length < deepRungs; index += 1) {
    const place = index % steps.length
    const id = `${String(session.rungs.length).padStart(2, '0')}_${steps[place].id.replace(/^\d+_/, '')}`
    session.rungs.push({ ...steps[place], id, title: `${steps[place].title}, again` })
    session.ladder.rungs.push({ ...entries[place], id })
    const deep = JSON.parse(await readFile(join(folder, 'deep', `${steps[place].id}.json`), 'utf8'))
    await writeFile(
      join(folder, 'deep', `${id}.json`),
      JSON.stringify(varied({ ...deep, rung: id })),
    )
  }
  await writeFile(path, JSON.stringify({ ...session, id: ref }))
  return ref
}

/** @param {import('./budgets.mjs').Judge} judge */
export async function benchReports(judge) {
  await inScratch(async (scratch) => {
    const env = {
      ...process.env,
      KERNEL_LADDER_DATA: scratch,
      KERNEL_LADDER_CHROMIUM: await obtainChromium(),
    }
    const store = join(scratch, 'sessions')
    /** @param {string} ref @param {'html' | 'pdf'} format */
    const made = async (ref, format) => {
      /** @type {number[]} */
      const seconds = []
      let bytes = 0
      for (let round = 0; round < rounds; round += 1) {
        const out = join(scratch, `${ref}-${round}.${format}`)
        const startedAt = performance.now()
        await exec(process.execPath, [program, 'report', ref, '--format', format, '--out', out], {
          env,
        })
        seconds.push((performance.now() - startedAt) / 1000)
        bytes = (await stat(out)).size
      }
      return { seconds, bytes }
    }
    const deep = await writeDeep(store, env)
    const html = await made(deep, 'html')
    const size = megabytes(html.bytes)
    console.log(
      `HTML report of ${deepRungs} deep rungs: ${spread(html.seconds, 2)} s, median (least to most) of ${rounds}, ${judge('htmlTime', median(html.seconds))}; ${size.toFixed(2)} MB, ${judge('htmlSize', size)}`,
    )
    const pdf = await made(deep, 'pdf')
    console.log(
      `PDF report of them: ${spread(pdf.seconds, 2)} s, ${judge('pdfTime', median(pdf.seconds))}; ${megabytes(pdf.bytes).toFixed(2)} MB`,
    )
    const large = writeSynthetic(store, { rungs, ncuMetrics: {} })
    copySources(recording, join(store, large, 'sources'))
    const many = await made(large, 'html')
    console.log(
      `HTML report of ${rungs} rungs: ${spread(many.seconds, 2)} s, ${judge('largeHtmlTime', median(many.seconds))}; ${megabytes(many.bytes).toFixed(2)} MB`,
    )
  })
}
