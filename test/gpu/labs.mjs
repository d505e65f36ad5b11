#!/usr/bin/env node
/**
 * Checks each lab's starter and solution on a GPU with `lab check`. Prints a table of actual and
 * expected results. A solution must pass all checks. A starter must fail the checks in its lab's
 * `starterFails`, or at least one check if the lab has no such list. The attempts are stored as
 * recordings for the labs.
 *
 *     node test/gpu/labs.mjs --cli dist/cli/kernel-ladder.mjs --labs cuda-kernels/labs --out FOLDER
 *         [--only 01-coalescing,02-shared-tile] [--name h200] [--target local]
 *
 * Exits with 1 if a row differs from its expected result.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { told } from '../../scripts/lib/statements.mjs'

const { values } = parseArgs({
  options: {
    cli: { type: 'string', default: 'dist/cli/kernel-ladder.mjs' },
    labs: { type: 'string', default: 'cuda-kernels/labs' },
    out: { type: 'string' },
    only: { type: 'string' },
    name: { type: 'string', default: 'h200' },
    target: { type: 'string', default: 'local' },
  },
})
if (!values.out) throw new Error('Name a folder for the attempts with --out.')
const out = resolve(values.out)
mkdirSync(out, { recursive: true })

/** Time limit per check. A check takes only seconds, but a starter may hang and block the GPU. */
const limitMs = 120_000

function check(id, which, env = {}, folder = join(out, `${id}-${which}-${values.name}`)) {
  rmSync(folder, { recursive: true, force: true })
  const file = join(values.labs, id, `${which}.cu`)
  const started = performance.now()
  return new Promise((done) => {
    const child = spawn(
      process.execPath,
      [values.cli, 'lab', 'check', id, '--file', file, '--json', '--target', values.target].concat([
        '--timeout',
        '20',
        '--out',
        folder,
      ]),
      { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env }, timeout: limitMs },
    )
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', (text) => (stdout += text))
    child.stderr.on('data', (text) => (stderr += text))
    child.on('close', (code) => {
      const seconds = (performance.now() - started) / 1000
      let outcome = null
      try {
        outcome = JSON.parse(stdout)
      } catch {
        // Ignore the error, because the table reports the missing outcome.
      }
      done({ id, which, code, seconds, outcome, stderr })
    })
  })
}

/** Returns the ids in `starterFails: [a, b]`, or null. */
function starterFails(id) {
  const text = readFileSync(join(values.labs, id, 'lab.md'), 'utf8').split(/^---$/m)[1] ?? ''
  const listed = /^starterFails:\s*\[([^\]]*)\]/m.exec(text)?.[1]
  return listed === undefined ? null : listed.split(',').map((word) => word.trim())
}

function judge({ id, which, outcome }) {
  if (!outcome) return 'no outcome'
  const failed = outcome.checks.filter(({ status }) => status === 'failed').map((one) => one.id)
  const open = outcome.checks.filter(({ status }) => status === 'unavailable').map((one) => one.id)
  if (open.length > 0) return `not checked: ${open.join(', ')}`
  if (which === 'solution') return failed.length === 0 ? null : `fails ${failed.join(', ')}`
  const wanted = starterFails(id)
  if (wanted === null) return failed.length > 0 ? null : 'fails nothing'
  const [most, least] = [failed, wanted].map((ids) => [...ids].sort().join(', '))
  return most === least ? null : `fails ${most || 'nothing'}, and should fail ${least}`
}

const only = values.only?.split(',')
const ids = readdirSync(values.labs)
  .filter((name) => statSync(join(values.labs, name)).isDirectory())
  .filter((name) => !only || only.includes(name))
  .sort()
const jobs = ids.flatMap((id) => ['starter', 'solution'].map((which) => ({ id, which })))

// Compile all labs in parallel without the GPU. The checks below find these builds in the cache.
if (values.target === 'local') {
  const queue = [...jobs]
  const hidden = { CUDA_VISIBLE_DEVICES: '-1' }
  const worker = async () => {
    for (let job = queue.shift(); job; job = queue.shift())
      await check(job.id, job.which, hidden, join(out, `.build-${job.id}-${job.which}`))
  }
  const first = queue.shift()
  if (first) await check(first.id, first.which, hidden, join(out, '.build'))
  await Promise.all(Array.from({ length: Math.min(8, availableParallelism()) }, worker))
  for (const name of readdirSync(out).filter((entry) => entry.startsWith('.build')))
    rmSync(join(out, name), { recursive: true, force: true })
}

const lines = []
let wrong = 0
const say = (line) => {
  lines.push(line)
  process.stdout.write(`${line}\n`)
}
const started = performance.now()
for (const { id, which } of jobs) {
  const result = await check(id, which)
  const fault = judge(result)
  if (fault) wrong += 1
  const { outcome, code, seconds, stderr } = result
  say(
    `${fault ? '✗' : '✓'} ${id} ${which}: ${outcome?.status ?? `exit ${code}`} in ${seconds.toFixed(1)} s${fault ? ` — ${fault}` : ''}`,
  )
  if (!outcome)
    say(
      stderr
        .trim()
        .split('\n')
        .slice(-4)
        .map((line) => `      ${line}`)
        .join('\n'),
    )
  for (const one of outcome?.checks ?? [])
    say(`    ${one.status.padEnd(11)} ${one.id}: ${told(one.sentence)}`)
  for (const one of outcome?.predictions ?? [])
    say(`    measured    ${one.id}: ${[one.sentence, ...one.explanation].map(told).join(' ')}`)
}
say(
  `${jobs.length - wrong} of ${jobs.length} as they should be, ${((performance.now() - started) / 1000).toFixed(0)} s on the GPU`,
)
writeFileSync(join(out, 'table.txt'), `${lines.join('\n')}\n`)
process.exitCode = wrong === 0 ? 0 : 1
