#!/usr/bin/env node
// @ts-check
/**
 * Measures how much faster a sweep is on two GPUs than on one GPU, with all builds cached. Also
 * measures the winner's speedup over the rung's default values. Run this script manually.
 *
 *     node test/gpu/tune.mjs path/to/kernel-ladder.mjs [--gpus 0,1] [--seconds 0.03]
 *
 * printed-h200.md contains the output of the last run.
 */
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    gpus: { type: 'string', default: '0,1' },
    seconds: { type: 'string', default: '0.03' },
  },
})
const [program = ''] = positionals
const gpus = values.gpus.split(',')
if (program === '' || gpus.length !== 2) {
  console.error('node test/gpu/tune.mjs path/to/kernel-ladder.mjs [--gpus 0,1] [--seconds 0.03]')
  process.exit(2)
}

const space = [
  'BM=64,128,256',
  'BN=64,128,256',
  'BK=8,16,24',
  'WM=32,64,128',
  'WN=32,64,128',
  'SNAKE=0,1',
]
const sweep = [
  ...['tune', '--ladder', 'gemm-fp32', '--rung', '08_warp_tile', '--size', '4096'],
  ...space.flatMap((axis) => ['--param', axis]),
  ...['--seconds', values.seconds, '--fresh', '--json'],
]

/** @param {string} title @param {string} onGpus */
function timed(title, onGpus) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [program, ...sweep, '--gpu', onGpus],
    { encoding: 'utf8', maxBuffer: 2 ** 28 },
  )
  if (status !== 0) throw new Error(`${title}: exit ${status}\n${stderr.slice(-500)}`)
  const report = JSON.parse(stdout)
  const busy = report.gpus
    .map((/** @type {{ busySeconds: number }} */ gpu) => gpu.busySeconds / report.sweepSeconds)
    .map((/** @type {number} */ share) => `${(share * 100).toFixed(1)} %`)
  const ok = report.rows.filter(
    (/** @type {{ status: string }} */ row) => row.status === 'ok',
  ).length
  console.log(
    `${title}: ${report.rows.length} points, ${ok} of them measured, in ${report.sweepSeconds.toFixed(1)} s; busy ${busy.join(' and ')}`,
  )
  return report
}

timed('both, building', values.gpus)
const both = timed('both, built', values.gpus)
const one = timed('one, built', gpus[1] ?? '')
console.log(
  `one GPU takes ${(one.sweepSeconds / both.sweepSeconds).toFixed(2)} times as long as both`,
)
const [winner] = both.finalists
console.log(
  `winner ${JSON.stringify(winner.params)}: ${winner.medianMs.toFixed(3)} ms against ${both.baseline.medianMs.toFixed(3)} ms, ${(1 / winner.ratio.ratio).toFixed(3)} times as fast`,
)
