#!/usr/bin/env node
// @ts-check
/**
 * `lab grade` on a machine with GPUs: forty submissions of every kind (submissions.mjs), graded over all
 * GPUs with compute-sanitizer and ncu in the sandbox. Prints one row per submission and what was left behind.
 *
 *     node test/gpu/grade.mjs [--cli dist/cli/kernel-ladder.mjs] [--timeout 28] [--jobs N] [--csv FILE]
 *
 * The lab is 01-coalescing with one of its four further shapes, in a folder of its own, so that a row
 * takes seconds. `--timeout` is `lab grade`'s: a kernel that hangs is given up after a quarter of it.
 * Exits 1 when a row is not as it should be, or when something of a submission stayed.
 */
import { spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import {
  faultOfRow,
  kindOf,
  leftProcesses,
  submissionCount,
  writeSubmissions,
} from './submissions.mjs'

const here = import.meta.dirname
const besides = join(here, 'kernel-ladder.mjs')
const { values } = parseArgs({
  options: {
    cli: {
      type: 'string',
      default: existsSync(besides) ? besides : join(here, '../../dist/cli/kernel-ladder.mjs'),
    },
    timeout: { type: 'string', default: '28' },
    jobs: { type: 'string' },
    csv: { type: 'string' },
  },
})
const cli = resolve(values.cli)
const victimText = 'not theirs\n'

/** @param {string} folder */
const namesIn = (folder) => {
  try {
    return readdirSync(folder).sort()
  } catch {
    return []
  }
}

/** MiB in use, a GPU each. */
function gpuMemory() {
  const asked = spawnSync(
    'nvidia-smi',
    ['--query-gpu=name,memory.used', '--format=csv,noheader,nounits'],
    { encoding: 'utf8' },
  )
  return (asked.stdout ?? '')
    .split('\n')
    .filter(Boolean)
    .map((line) => ({ name: line.split(',')[0] ?? '', used: Number(line.split(',')[1]) }))
}

/** @param {string} text @returns {Record<string, string>[]} */
function parseCsv(text) {
  const rows = [['']]
  let quoted = false
  for (let at = 0; at < text.length; at += 1) {
    const row = /** @type {string[]} */ (rows.at(-1))
    const letter = text[at]
    if (letter === '"' && quoted && text[at + 1] === '"') {
      row[row.length - 1] += '"'
      at += 1
    } else if (letter === '"') quoted = !quoted
    else if (letter === ',' && !quoted) row.push('')
    else if (letter === '\n' && !quoted) rows.push([''])
    else if (letter !== '\r' || quoted) row[row.length - 1] += letter
  }
  const [header = [], ...data] = rows.filter((row) => row.length > 1)
  return data.map((row) => Object.fromEntries(header.map((name, at) => [name, row[at] ?? ''])))
}

/** The labs beside the program in a checkout, or as the one-file program has unpacked them. @param {string} cache */
function labsFolder(cache) {
  for (let folder = dirname(cli); folder !== dirname(folder); folder = dirname(folder))
    if (existsSync(join(folder, 'cuda-kernels', 'labs')))
      return join(folder, 'cuda-kernels', 'labs')
  const [unpacked = ''] = namesIn(join(cache, 'assets'))
  return join(cache, 'assets', unpacked, 'cuda-kernels', 'labs')
}

const scratch = mkdtempSync(join(tmpdir(), 'grading-'))
const cache = join(scratch, 'cache')
const env = {
  ...process.env,
  KERNEL_LADDER_CACHE: cache,
  KERNEL_LADDER_DATA: join(scratch, 'data'),
}

/** @param {readonly string[]} args @returns {Promise<{ code: number | null, stdout: string, stderr: string }>} */
const run = (args) =>
  new Promise((done) => {
    const child = spawn(process.execPath, [cli, ...args], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text))
    child.on('close', (code) => done({ code, stdout, stderr }))
  })

/** 01-coalescing, trusted, with its second shape alone. @param {string} folder */
async function makeLab(folder) {
  await run(['lab', 'list'])
  cpSync(join(labsFolder(cache), '01-coalescing'), folder, { recursive: true })
  const text = readFileSync(join(folder, 'lab.md'), 'utf8')
  const sizes = /( +- \{ m: \d+, n: \d+, k: \d+ \}\n){4}/
  const second = sizes.exec(text)?.[0].split('\n')[1]
  if (!second) throw new Error('01-coalescing has no list of four shapes any more.')
  writeFileSync(join(folder, 'lab.md'), text.replace(sizes, `${second}\n`))
  const trusted = await run(['lab', 'trust', folder, '--yes'])
  if (trusted.code !== 0) throw new Error(trusted.stderr)
  return {
    starter: readFileSync(join(folder, 'starter.cu'), 'utf8'),
    solution: readFileSync(join(folder, 'solution.cu'), 'utf8'),
  }
}

/** @param {string} line */
const say = (line) => process.stdout.write(`${line}\n`)
let wrong = 0
/** @param {string} what @param {readonly string[]} found */
const expectNone = (what, found) => {
  if (found.length > 0) wrong += 1
  say(`${found.length > 0 ? '✗' : '✓'} ${what}: ${found.join('; ') || 'none'}`)
}

try {
  const labFolder = join(scratch, 'coalescing')
  const folder = join(scratch, 'handed-in')
  const victims = [join(scratch, 'victim.txt'), join(folder, 'notes.txt')]
  writeSubmissions(folder, await makeLab(labFolder), victims)
  for (const path of victims) writeFileSync(path, victimText)
  mkdirSync(join(scratch, 'data'), { recursive: true })

  const places = [...new Set([tmpdir(), '/tmp', '/dev/shm', homedir(), folder])]
  const before = { names: places.map(namesIn), gpus: gpuMemory() }
  say(`GPUs: ${before.gpus.map(({ name }) => name).join(', ') || 'none'}`)

  const started = performance.now()
  const graded = await run([
    ...['lab', 'grade', folder, '--lab', labFolder, '--csv', '--timeout', values.timeout],
    ...(values.jobs === undefined ? [] : ['--jobs', values.jobs]),
  ])
  const seconds = (performance.now() - started) / 1000
  if (values.csv) writeFileSync(values.csv, graded.stdout)
  const rows = parseCsv(graded.stdout)
  const isolated = /can write only to its folder/.test(graded.stderr)

  // What it told a teacher, without the news of each row.
  const told = graded.stderr
    .split('\n')
    .filter((line) => line !== '' && !/^\s*\[?\d+\/\d+/.test(line))
  for (const line of told) say(`  ${line.trim()}`)
  for (const row of rows) {
    const fault = faultOfRow(row)
    if (fault) wrong += 1
    const checks = Object.entries(row).flatMap(([name, value]) =>
      name.startsWith('check:') ? [value === 'passed' ? '+' : value === 'failed' ? '-' : '?'] : [],
    )
    const time = row['time_ms'] ? `${Number(row['time_ms']).toFixed(3)} ms` : ''
    say(
      [
        fault ? '✗' : '✓',
        (row['student'] ?? '').padEnd(11),
        (row['status'] ?? '').padEnd(11),
        checks.join(''),
        time.padStart(9),
        `${Number(row['grading_seconds']).toFixed(1)} s`.padStart(7),
        fault ?? (row['reason'] ?? '').slice(0, 100),
      ].join('  '),
    )
  }
  const columns = Object.keys(rows[0] ?? {}).filter((name) => name.startsWith('check:'))
  say(`  checks in this order: ${columns.map((name) => name.slice('check:'.length)).join(', ')}`)

  expectNone('rows that are missing or doubled', [
    ...(graded.code === 0 ? [] : [`lab grade ended with ${graded.code}`]),
    ...(rows.length === submissionCount ? [] : [`${rows.length} rows of ${submissionCount}`]),
    ...(new Set(rows.map(({ student }) => student)).size === rows.length
      ? []
      : ['a student twice']),
  ])
  expectNone('processes left behind', leftProcesses(scratch))
  const touched = victims.filter((path) => readFileSync(path, 'utf8') !== victimText)
  if (isolated) expectNone('files of others that were written', touched)
  else say(`? no sandbox here, as it said; files of others that were written: ${touched.length}`)
  const added = places.flatMap((place, at) =>
    namesIn(place)
      .filter((name) => !before.names[at]?.includes(name))
      .map((name) => join(place, name)),
  )
  expectNone(
    'folders of the grader left behind',
    added.filter((path) => /kernel-ladder-/.test(path)),
  )
  const other = added.filter((path) => !/kernel-ladder-/.test(path))
  say(
    `  other new names in ${places.length} places (tools may make some): ${other.join(', ') || 'none'}`,
  )
  const after = gpuMemory()
  expectNone(
    'GPU memory still held',
    after.flatMap(({ used }, at) => {
      const more = used - (before.gpus[at]?.used ?? 0)
      return more > 300 ? [`GPU ${at}: ${more} MiB`] : []
    }),
  )
  const times = rows.flatMap((row) =>
    row['student']?.startsWith('right') && row['time_ms'] ? [Number(row['time_ms'])] : [],
  )
  if (times.length > 0)
    say(
      `  the same right code, ${times.length} times: ${Math.min(...times).toFixed(4)} to ${Math.max(...times).toFixed(4)} ms`,
    )
  const good = rows.filter((row) => kindOf(row['student'] ?? '') && faultOfRow(row) === null).length
  say(`${good} of ${submissionCount} rows as they should be, ${seconds.toFixed(0)} s in all`)
  if (rows.length === 0) say(graded.stderr)
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
process.exitCode = wrong === 0 ? 0 : 1
