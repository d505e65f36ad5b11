#!/usr/bin/env node
// @ts-check
/**
 * Grades honest and malicious submissions together. Reports forged rows, missing rows, and honest
 * rows that changed.
 *
 *     node test/grades/show.mjs [--cli dist/cli/kernel-ladder.mjs] [--count 200] [--target emulated]
 *         [--jobs 2] [--only 'hostile kinds'] [--seconds LIMIT] [--before OTHER-CLI] [--out FOLDER]
 *
 * At least four and at most half of the submissions are honest. They alternate between the solution
 * and the starter of the coalescing lab. Their names are difficult to process (spaces, newlines,
 * not UTF-8). The other submissions are the malicious kinds whose names match `--only`. `--seconds`
 * interrupts the grading, and finished rows must survive. `--before` grades two honest submissions
 * with another program, to compare the time. `--target local` requires a GPU. Exits with 1 if any
 * result is not as expected.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, openSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { forged, forgeries } from './forgeries.mjs'

const { values } = parseArgs({
  options: {
    cli: { type: 'string', default: join(import.meta.dirname, '../../dist/cli/kernel-ladder.mjs') },
    count: { type: 'string', default: '200' },
    target: { type: 'string', default: 'emulated' },
    jobs: { type: 'string', default: '2' },
    timeout: { type: 'string', default: '120' },
    before: { type: 'string' },
    only: { type: 'string', default: '' },
    seconds: { type: 'string' },
    out: { type: 'string' },
  },
})
const kernels = join(import.meta.dirname, '../../cuda-kernels')
const out = values.out ? resolve(values.out) : mkdtempSync(join(tmpdir(), 'kl-show-'))
/** @param {string[]} path */
const text = (...path) => readFileSync(join(kernels, ...path), 'utf8')
const solution = text('labs/01-coalescing/solution.cu')
const starter = text('labs/01-coalescing/starter.cu')

// Reduce the lab's sizes, so that grading is fast.
const lab = join(out, 'lab', 'small-coalescing')
mkdirSync(lab, { recursive: true })
const full = text('labs/01-coalescing/lab.md')
const small = full
  .replace('size: { m: 1024, n: 1024, k: 1024 }', 'size: { m: 64, n: 64, k: 64 }')
  .replace(/sizes:\n( +- \{.*\}\n)+/, 'sizes:\n      - { m: 33, n: 65, k: 17 }\n')
  .replace(/ {2}- id: memory\n(.*\n)+?(?= {2}- id: load)/, '')
  .replace(/ {2}- id: fast\n(.*\n)+?(?=predictions:)/, '')
  .replace('store-sectors, fast', 'store-sectors')
  .replace(/predictions:\n[^]*/, '---\n\nSwap two indices.\n')
writeFileSync(join(lab, 'lab.md'), small)
writeFileSync(join(lab, 'solution.cu'), solution)
writeFileSync(join(lab, 'starter.cu'), starter)

const env = {
  ...process.env,
  KERNEL_LADDER_CACHE: join(out, 'cache'),
  KERNEL_LADDER_DATA: join(out, 'data'),
}
/** @param {string} cli @param {string[]} words @param {number | 'inherit'} [log] @param {number} [seconds] */
function run(cli, words, log = 'inherit', seconds = 0) {
  const { status, stdout } = spawnSync(
    'timeout',
    [`${seconds}`, process.execPath, resolve(cli), ...words],
    {
      ...{ env, encoding: 'utf8', maxBuffer: 2 ** 28, stdio: ['ignore', 'pipe', log] },
    },
  )
  return { status, stdout }
}
/** @param {string} cli @param {string} folder */
function grade(cli, folder) {
  const started = performance.now()
  const options = ['--jobs', values.jobs, '--timeout', values.timeout, '--target', values.target]
  run(cli, ['lab', 'trust', lab, '--yes'])
  const words = ['lab', 'grade', folder, '--lab', lab, '--json', ...options]
  const log = openSync(join(folder, '..', 'grade.log'), 'w')
  const result = run(cli, words, log, Number(values.seconds ?? 0))
  if (!result.stdout) throw new Error(readFileSync(join(folder, '..', 'grade.log'), 'utf8'))
  const { rows, message } = JSON.parse(result.stdout)
  if (!rows) throw new Error(message)
  writeFileSync(join(folder, '..', 'rows.json'), JSON.stringify(rows, null, 1))
  return { rows, status: result.status, seconds: (performance.now() - started) / 1000 }
}

/**
 * The expected or forbidden row of each name.
 * @type {Map<string, { status: string, bytes?: Buffer }>}
 */
const expected = new Map()
const folder = join(out, 'graded', 'submissions')
mkdirSync(folder, { recursive: true })
const odd = ['two words', 'new\nline', '"quoted",name', '=1+1', 'Ünïcödé', 'x'.repeat(200)]
const count = Number(values.count)
const kinds = Object.entries(forgeries).filter(([name]) => new RegExp(values.only).test(name))
const honest = count - Math.max(Math.ceil(count / 2), Math.min(kinds.length, count - 4))
for (let index = 0; index < honest; index += 1) {
  const source = `${index % 2 === 0 ? solution : starter}// ${index}\n`
  const status = index % 2 === 0 ? 'passed' : 'failed'
  const bytes =
    index < 4
      ? Buffer.concat([Buffer.from(`honest-${index}-`), Buffer.from([0xff, 0xfe, 0x80 + index])])
      : Buffer.from(`honest-${index}${odd[index - 4] ? `-${odd[index - 4]}` : ''}`)
  writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), bytes, Buffer.from('.cu')]), source)
  expected.set(`honest-${index}`, { status })
}
for (let index = 0; index < count - honest; index += 1) {
  const [name, forgery] = kinds[index % kinds.length]
  const source = `${forged(forgery, { solution, naive: starter })}// ${index}\n`
  writeFileSync(join(folder, `hostile-${index}-${name}.cu`), source)
  expected.set(`hostile-${index}`, { status: 'not passed' })
}

const { rows, status, seconds } = grade(values.cli, folder)
const key = (/** @type {string} */ student) => /^(honest|hostile)-\d+/.exec(student)?.[0] ?? student
const byKey = new Map(rows.map((/** @type {{ student: string }} */ row) => [key(row.student), row]))
const ungraded = [...expected.keys()].filter((name) => !byKey.has(name))
// The command `timeout` exits with 124 after an interruption.
const interrupted = status === 124
const missing = interrupted ? [] : ungraded
const forgedRows = rows.filter(
  (/** @type {any} */ row) => key(row.student).startsWith('hostile') && row.status === 'passed',
)
const changed = rows.filter((/** @type {any} */ row) => {
  const wanted = expected.get(key(row.student))
  return wanted && wanted.status !== 'not passed' && wanted.status !== row.status
})
const handedIn = readdirSync(folder, { encoding: 'buffer' }).length
const statuses = Object.entries(
  rows.reduce(
    (/** @type {Record<string, number>} */ sums, /** @type {any} */ { student, status }) => {
      const name = `${key(student).replace(/-.*/, '')} ${status}`
      return { ...sums, [name]: (sums[name] ?? 0) + 1 }
    },
    {},
  ),
)
const median = (/** @type {number[]} */ all) =>
  all.sort((a, b) => a - b)[Math.floor(all.length / 2)]
const honestSeconds = rows
  .filter((/** @type {any} */ row) => key(row.student).startsWith('honest'))
  .map((/** @type {any} */ row) => row.seconds)
console.log(
  `${handedIn} submissions, ${rows.length} rows in ${seconds.toFixed(0)} s, ${values.jobs} at a time`,
)
if (interrupted) console.log(`interrupted, ${ungraded.length} not graded`)
for (const [name, number] of statuses) console.log(`  ${name}: ${number}`)
console.log(
  `forged: ${forgedRows.length} ${forgedRows.map((/** @type {any} */ row) => row.student).join(', ')}`,
)
console.log(`missing rows: ${missing.length} ${missing.join(', ')}`)
console.log(
  `honest rows that changed: ${changed.length} ${changed.map((/** @type {any} */ row) => `${row.student} ${row.status}`)}`,
)
console.log(`seconds per honest submission: ${median(honestSeconds)?.toFixed(1)} (median)`)
if (values.before) {
  const few = join(out, 'before', 'submissions')
  mkdirSync(few, { recursive: true })
  writeFileSync(join(few, 'solution.cu'), solution)
  writeFileSync(join(few, 'starter.cu'), starter)
  for (const [name, cli] of [
    ['before', values.before],
    ['now', values.cli],
  ]) {
    const known = grade(cli, few)
    console.log(
      `${name}, two honest ones alone: ${known.rows.map((/** @type {any} */ row) => `${row.status} in ${row.seconds.toFixed(1)} s`).join(', ')}`,
    )
  }
}
console.log(`The rows are in ${join(out, 'graded')}.`)
process.exitCode = forgedRows.length + missing.length + changed.length > 0 ? 1 : 0
