#!/usr/bin/env node
// @ts-check
/**
 * Verifies every rung of every ladder on a GPU. The sizes include 1, sizes that are not a multiple
 * of any tile size, and sizes of more than 2^31 elements. Run this script manually. Prints a line
 * for each ladder and shape. Also prints a line for each rung that is wrong or does not support the
 * shape. Exits with 1 if a rung is wrong.
 *
 *     node verify.mjs path/to/kernel-ladder.mjs [LADDER …]
 *
 * Builds into a new cache, or into $KERNEL_LADDER_CACHE if set. Requires nvcc and a GPU with 80 GB
 * of memory. The files printed-<gpu>.md in this folder contain the output of the last run.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { told } from '../../scripts/lib/statements.mjs'

const products = [
  'm=1 n=1 k=1',
  'm=7 n=5 k=1',
  'm=129 n=1 k=7',
  'm=131 n=141 k=45',
  'm=1025 n=1023 k=1031',
]
const lists = ['N=1', 'N=33', 'N=1000003', 'N=2147483653', 'N=4294967296']
/** The verified shapes by task, as values of `--at`. @type {Record<string, string[]>} */
const shapes = {
  gemm: products,
  'gemm-nt': products,
  'gemm-narrow': products,
  reduction: lists,
  scan: lists,
  transpose: ['ROWS=1 COLS=1', 'ROWS=7 COLS=1', 'ROWS=4099 COLS=1031', 'ROWS=32771 COLS=65537'],
  softmax: ['ROWS=1 COLS=1', 'ROWS=5 COLS=7', 'ROWS=1031 COLS=4099', 'ROWS=70000 COLS=32768'],
  attention: [
    'TOKENS=1 HEADS=1',
    'TOKENS=33 HEADS=3',
    'TOKENS=1031 HEADS=5',
    'TOKENS=257 HEADS=65535',
  ],
}

const [program, ...wanted] = process.argv.slice(2)
if (!program) {
  console.error('Usage: node verify.mjs path/to/kernel-ladder.mjs [LADDER …]')
  process.exit(2)
}
const scratch = mkdtempSync(join(tmpdir(), 'kernel-ladder-verify-'))
const env = {
  ...process.env,
  KERNEL_LADDER_CACHE: process.env.KERNEL_LADDER_CACHE || join(scratch, 'cache'),
  KERNEL_LADDER_DATA: join(scratch, 'data'),
  LC_ALL: 'C',
}

/** @param {string} file @param {string[]} args */
const run = (file, args) => spawnSync(file, args, { env, encoding: 'utf8', maxBuffer: 1 << 28 })

/** @param {string} ladder @param {string} shape @returns {boolean} whether no rung is wrong */
function verify(ladder, shape) {
  const at = shape.split(' ').flatMap((value) => ['--at', value])
  const what = ['--ladder', ladder, ...at, '--profile', 'none', '--warm', '--timeout', '120']
  const begin = Date.now()
  const ran = run(process.execPath, [String(program), 'run', ...what, '--json'])
  const heading = `${ladder} ${shape.replaceAll(' ', ', ')}`
  /** @type {{ rungs?: any[] }} */
  const { rungs } = JSON.parse(ran.stdout || '{}')
  if (!rungs) {
    console.log(`${heading}: no session, exit code ${ran.status}. ${ran.stderr.trim()}`)
    return false
  }
  const right = rungs.filter(({ verify }) => verify?.passed)
  const others = rungs.filter(({ verify }) => !verify?.passed)
  const unsupported = others.filter(({ status }) => status === 'unsupported')
  const worst = Math.max(0, ...right.map(({ verify }) => verify.worstRelativeError))
  console.log(
    `${heading}: ${right.length} of ${rungs.length} right, worst relative error ${worst.toExponential(1)}, ${unsupported.length} unsupported, ${((Date.now() - begin) / 1000).toFixed(0)} s`,
  )
  for (const { id, status, reason } of others)
    console.log(`    ${id}: ${status}. ${told(reason ?? '')}`)
  return others.length === unsupported.length
}

try {
  const { stdout } = run(process.execPath, [program, 'ladders', '--json'])
  const gpu = run('nvidia-smi', ['--query-gpu=name,driver_version', '--format=csv,noheader'])
  console.log(`${(gpu.stdout ?? '').trim()}, ${new Date().toISOString().slice(0, 10)}`)
  const verdicts = JSON.parse(stdout)
    .ladders.filter((/** @type {any} */ { id }) => wanted.length === 0 || wanted.includes(id))
    .flatMap((/** @type {any} */ { id, task }) =>
      (shapes[task] ?? []).map((shape) => verify(id, shape)),
    )
  const wrong = verdicts.filter((/** @type {boolean} */ fine) => !fine).length
  console.log(wrong === 0 ? 'No rung is wrong.' : `Wrong at ${wrong} shapes.`)
  process.exitCode = wrong === 0 && verdicts.length > 0 ? 0 : 1
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
