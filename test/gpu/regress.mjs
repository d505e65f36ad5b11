#!/usr/bin/env node
// @ts-check
/**
 * Tests `regress` on a GPU, with unchanged code and with code that is known to be slower. Run this
 * script manually.
 *
 *     node regress.mjs path/to/kernel-ladder.mjs planted|same [--seconds 450] [--sampling 0.1] [--part 0/1] [--out DIR]
 *
 * `planted`: the kernels of planted/ with 0, 0.5, 1, 2, and 5 % more work. Each amount of added
 * work is compared with a session without added work. `same`: complete ladders are compared with a
 * session of the same code until time runs out. `--part 1/4` takes every fourth ladder or amount of
 * work, starting with the second. Use `--part` to distribute the test over four GPUs. With `same`,
 * both builds have the same machine code, so regress reports neither slower nor faster. Use
 * `byTimes`, the verdict based only on the times. Writes one JSON object per measurement to
 * regress.jsonl in DIR. docs/evidence/reliability.md shows the stored results.
 */
import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '450' },
    part: { type: 'string', default: '0/1' },
    sampling: { type: 'string', default: '0.1' },
    out: { type: 'string', default: '.' },
  },
})
const [program = '', what = ''] = positionals
if (!['planted', 'same'].includes(what) || program === '') {
  console.error(
    'node regress.mjs path/to/kernel-ladder.mjs planted|same [--seconds 450] [--out DIR]',
  )
  process.exit(2)
}
const scratch = mkdtempSync(join(tmpdir(), 'kl-regress-'))
const kept = join(values.out, 'regress.jsonl')
const end = Date.now() + Number(values.seconds) * 1000

/** @param {string[]} words */
function run(...words) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    timeout: Math.max(1000, end - Date.now()),
  })
  if (status === null || status > 1)
    throw new Error(`${words.join(' ')}: ${status} ${stderr.slice(-500)}`)
  return stdout
}

const keptOfRung = [
  ...['id', 'verdict', 'byTimes', 'ratio', 'interval', 'sameCode', 'thresholdPercent'],
  ...['cycles', 'newMs', 'rounds', 'sameBuild', 'first'],
]

/**
 * @param {string[]} ladder and its sizes @param {string} session @param {object} additional fields
 * of the JSON object
 */
function measure(ladder, session, more) {
  const words = ['regress', '--ladder', ...ladder, '--against', session, '--trust', '--json']
  words.push('--seconds', values.sampling)
  const { gpu, problem, headline, thresholdPercent, sameCode, rungs } = JSON.parse(run(...words))
  const rows = rungs.map((/** @type {Record<string, unknown>} */ rung) =>
    Object.fromEntries(keptOfRung.map((key) => [key, rung[key]])),
  )
  const line = {
    ...more,
    samplingSeconds: Number(values.sampling),
    gpu,
    problem,
    headline,
    thresholdPercent,
    sameCode,
    rungs: rows,
  }
  appendFileSync(kept, `${JSON.stringify(line)}\n`)
  console.log(`${ladder.join(' ')} ${JSON.stringify(more)}: ${headline}`)
}

/** @template T @param {readonly T[]} all @returns {T[]} the items that `--part` selects */
function mine(all) {
  const [part = 0, parts = 1] = values.part.split('/').map(Number)
  return all.filter((_, number) => number % parts === part)
}

function planted() {
  const folder = join(scratch, 'planted')
  cpSync(join(import.meta.dirname, 'planted'), folder, { recursive: true })
  const session = join(scratch, 'base')
  run('run', '--ladder', folder, '--trust', '--profile', 'none', '--out', session)
  for (const work of mine([1010, 1000, 1005, 1020, 1050, 1010, 1000, 1020])) {
    for (const name of readdirSync(folder).filter(
      (file) => file.endsWith('.cu') && file !== 'reference.cu',
    )) {
      const file = join(folder, name)
      writeFileSync(file, readFileSync(file, 'utf8').replace(/kWork = \d+;/, `kWork = ${work};`))
    }
    measure([folder], session, { work })
  }
}

/**
 * The ladders, shortest kernels first. The times of short kernels depend most on the position of
 * code and data in memory.
 */
const ladders = [
  ['reduction', '--at', 'N=4194304'],
  ['scan', '--at', 'N=4194304'],
  ['reduction', '--at', 'N=1048576'],
  ['scan', '--at', 'N=1048576'],
  ['gemm-fp32', '--size', '1024'],
  ['seed-t4', '--size', '1024'],
  ['reduction'],
  ['scan'],
  ['transpose'],
  ['gemm-3xtf32', '--size', '2048'],
  ['gemm-tensor', '--size', '4096'],
  ['seed-cutlass', '--size', '1024'],
  ['gemm-fp32', '--size', '2048'],
  ['seed-rtx3090', '--size', '1024'],
  ['gemm-tensor', '--size', '2048'],
  ['seed-rtx3060', '--size', '1024'],
  ['transpose', '--at', 'ROWS=2048', '--at', 'COLS=8192'],
  ['gemm-fp32', '--size', '512'],
]

function same() {
  const own = mine(ladders)
  for (let number = 0; own.length > 0; number++) {
    const ladder = own[number % own.length] ?? []
    const session = join(scratch, `base-${number % own.length}`)
    if (!existsSync(session))
      run('run', '--ladder', ...ladder, '--profile', 'none', '--out', session)
    measure(ladder, session, { ladder: ladder.join(' ') })
  }
}

try {
  if (what === 'planted') planted()
  else same()
} catch (error) {
  console.error(`Ended: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
