// @ts-check
/**
 * Measures report commands from process start to exit.
 *
 * A deep session with 14 rungs is written as HTML and PDF. A session with 200 rungs is written as
 * HTML. The deep session repeats the rungs of the shipped deep recording.
 */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { root } from '../lib/project.mjs'
import { inScratch, median, megabytes, spread } from './support.mjs'
import { copySources } from '../lib/recordings.mjs'
import { rounds } from './session-list.mjs'
import { obtainChromium } from '../lib/chromium.mjs'
import { repeatable, writeSynthetic } from '../lib/synthetic-sessions.mjs'

const exec = promisify(execFile)

const program = join(root, 'dist/cli/kernel-ladder.mjs')

const recording = 'gemm-fp32-h200-4096-deep'

const deepRungs = 14

const rungs = 200

const random = repeatable()

const sampled = new Set(['samples', 'notIssuedSamples'])

/**
 * Returns a deep profile with varied samples, as if it had been recorded in another run. Exact
 * copies of a profile would compress too well.
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
 * Replays the recording, repeats its rungs until there are 14, and saves the session.
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
