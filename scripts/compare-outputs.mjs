#!/usr/bin/env node
// @ts-check
/**
 * Compares the output of two CLI versions for the same commands. The comparison covers exit codes,
 * JSON documents, and all numbers in other text.
 *
 *     node scripts/compare-outputs.mjs OLD-CLI [NEW-CLI] [--only REGEX]
 *
 * Both CLIs are one-file programs. By default, the new CLI is dist/cli/kernel-ladder.mjs. Wording
 * may differ. In JSON, sentences are ignored. In help texts, only options are compared. In the
 * output of all other commands, only the numbers and their order are compared. Dates, durations and
 * paths are ignored. The script exits with code 1 if any other part of the output differs.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  options: { only: { type: 'string', default: '' } },
  allowPositionals: true,
})
const [old, now = join(import.meta.dirname, '../dist/cli/kernel-ladder.mjs')] = positionals
if (old === undefined) {
  console.error(
    'Name the one-file program to compare with: node scripts/compare-outputs.mjs OLD-CLI',
  )
  process.exit(2)
}
const scratch = mkdtempSync(join(tmpdir(), 'kernel-ladder-outputs-'))

/** @param {string} cli @param {readonly string[]} words @returns {Promise<{ code: number, stdout: string, stderr: string }>} */
const run = (cli, words) =>
  new Promise((done) => {
    const name = resolve(cli) === resolve(now) ? 'new' : 'old'
    const env = {
      ...process.env,
      TZ: 'UTC',
      KERNEL_LADDER_DATA: join(scratch, name, 'data'),
      KERNEL_LADDER_CACHE: join(scratch, name, 'cache'),
    }
    const options = { env, cwd: scratch, maxBuffer: 2 ** 28, timeout: 300_000 }
    execFile(process.execPath, [resolve(cli), ...words], options, (error, stdout, stderr) =>
      done({ code: error ? Number(error.code ?? -1) : 0, stdout, stderr }),
    )
  })

/** JSON keys whose values differ between any two runs or are sentences. */
const volatile = /^(?:createdAt|id|seconds|\w*Seconds|session|folder|path|out|version|tool|cached)$/
const isSentence = (/** @type {string} */ text) => /\s/.test(text.trim())

/** @param {unknown} a @param {unknown} b @param {string} at @returns {string[]} */
function differences(a, b, at) {
  if (typeof a === 'string' && typeof b === 'string')
    return a === b || (isSentence(a) && isSentence(b)) ? [] : [`${at}: ${a} → ${b}`]
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null)
    return Object.is(a, b) ? [] : [`${at}: ${JSON.stringify(a)} → ${JSON.stringify(b)}`]
  const [from, to] = [Object.entries(a), Object.entries(b)]
  const keys = new Set([...from, ...to].map(([key]) => key).filter((key) => !volatile.test(key)))
  const [x, y] = [Object.fromEntries(from), Object.fromEntries(to)]
  return [...keys].flatMap((key) =>
    key in x && key in y
      ? differences(x[key], y[key], `${at}.${key}`)
      : [`${at}.${key}: only in the ${key in x ? 'old' : 'new'} one`],
  )
}

/** @param {string} text */
const numbersIn = (text) =>
  text
    .replaceAll(/\b20\d\d[-\d]*(?:T[\d:.]+Z?)?|\b\d{8}-\d{6}[-\w]*|\d+(?:\.\d+)? s\b|\S*\/\S*/g, '')
    .match(/-?\d[\d.,]*/g) ?? []

/** @param {readonly string[]} words @param {string} a @param {string} b */
function textDifferences(words, a, b) {
  if (words.includes('--json')) return differences(JSON.parse(a), JSON.parse(b), '')
  const parts = (/** @type {string} */ text) =>
    words.includes('--help') ? (text.match(/--[a-z][\w-]*/g) ?? []) : numbersIn(text)
  const [x, y] = [parts(a), parts(b)]
  const first = x.findIndex((part, index) => part !== y[index])
  if (first < 0 && x.length === y.length) return []
  const place = first < 0 ? x.length : first
  return [`${x.slice(place, place + 4).join(' ')} … → ${y.slice(place, place + 4).join(' ')} …`]
}

const index = readFileSync(join(import.meta.dirname, '../resources/recordings/index.json'), 'utf8')
const recordings = Object.keys(JSON.parse(index).recordings).map((name) => `recorded:${name}`)
const help = (/** @type {string} */ words) => [...words.split(' ').filter(Boolean), '--help']
const static_ = ['--target', 'static:h200', '--json']
const emulated = ['--target', 'emulated', '--json']
const commands = [
  ...recordings.flatMap((id) => [
    ['show', id, '--json'],
    ['show', id],
    ['report', id, '--format', 'csv'],
    ['run', '--target', id, '--json'],
  ]),
  ...recordings.slice(1).map((id, index) => ['compare', recordings[index] ?? '', id, '--json']),
  ...[
    '',
    'run',
    'show',
    'diff',
    'compare',
    'report',
    'regress',
    'history',
    'machine',
    'tune',
    'import',
  ].map(help),
  ...[
    'sanitize',
    'serve',
    'lab',
    'lab check',
    'lab grade',
    'init',
    'profile',
    'mcp',
    'ladders',
  ].map(help),
  ...[
    ['ladders', '--json'],
    ['lab', 'list', '--json'],
    ['doctor', '--json'],
  ],
  ['run', '--ladder', 'reduction', ...static_],
  ['run', '--ladder', 'reduction', '--at', 'N=100000', ...emulated],
  ['run', '--ladder', 'transpose', '--at', 'ROWS=128', '--at', 'COLS=96', ...emulated],
  ['sanitize', '--ladder', 'transpose', '--rungs', '01_naive', ...emulated],
  // Invalid commands. Both versions must reject these commands with the same exit code.
  ...[
    ['run', '--ladder', 'nope'],
    ['run', '--ladder', 'reduction', '--rungs', 'xx'],
    ['show', 'nope'],
  ],
  ...[
    ['tune', '--ladder', 'reduction'],
    ['regress', '--ladder', 'reduction', '--against', 'x'],
  ],
  ...[['import', 'nothing.ncu-rep'], ['report', 'nope'], ['run', '--at', 'N'], ['frobnicate']],
].filter((words) => new RegExp(values.only).test(words.join(' ')))

/**
 * Differences by location, in which `*` replaces each number, so that similar locations share an
 * entry.
 * @type {Map<string, { times: number, first: string }>}
 */
const kinds = new Map()
let [differing, failing, next] = [0, 0, 0]
async function compareRest() {
  for (let words = commands[next++]; words; words = commands[next++]) {
    const [before, after] = [await run(old ?? '', words), await run(now, words)]
    if (after.code !== 0) failing += 1
    const found =
      before.code === after.code
        ? textDifferences(words, before.stdout, after.stdout)
        : [`exit code ${before.code} → ${after.code}`]
    if (found.length === 0) continue
    differing += 1
    for (const one of found) {
      const kind = one.split(': ')[0]?.replaceAll(/\d+/g, '*') ?? ''
      const known = kinds.get(kind)
      if (known) known.times += 1
      else kinds.set(kind, { times: 1, first: `kernel-ladder ${words.join(' ')}: ${one}` })
    }
  }
}
await Promise.all(Array.from({ length: availableParallelism() }, compareRest))
for (const { times, first } of kinds.values())
  console.log(`${times} times, first ${first.slice(0, 240)}`)
console.log(`${commands.length} commands, ${failing} that fail now, ${differing} with differences`)
rmSync(scratch, { recursive: true, force: true })
process.exitCode = differing > 0 ? 1 : 0
