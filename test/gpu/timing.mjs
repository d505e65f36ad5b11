#!/usr/bin/env node
/**
 * Times the best rung of each built-in ladder against the ladder's library kernel on a GPU.
 * Interleaved single launches are timed in three sessions with a cold L2 and in one session with a
 * warm L2. One cold session also times bursts and sustained launches. Each round covers all
 * ladders, so that the sessions of one ladder are minutes apart. Writes one line per run, with the
 * arguments, the seconds, and the printed document.
 *
 *     node test/gpu/timing.mjs --cli dist/cli/kernel-ladder.mjs --out timing-h200.jsonl [--only gemm-fp32] [--no-large] [--rounds all,cold,warm,cold]
 *
 * Exits with 1 unless all runs exit with 0.
 */
import { spawnSync } from 'node:child_process'
import { appendFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

/**
 * The ladder, its options, the rungs that may appear in its README row, and whether its problem is
 * large.
 * @type {[ladder: string, options: string[], rungs: string[], large?: 'large'][]}
 */
const ladders = [
  ['gemm-fp32', ['--size', '4096'], ['14_shape_dispatch']],
  ['gemm-3xtf32', ['--size', '4096'], ['62_tf32x3_wgmma']],
  ['gemm-tensor', ['--size', '4096'], ['58_overlapped_epilogue']],
  ['gemm-bf16', ['--size', '4096'], ['80_overlapped_epilogue_nt']],
  ['gemm-bf16', ['--size', '8192'], ['80_overlapped_epilogue_nt'], 'large'],
  ['gemm-fp8', ['--size', '4096'], ['80_overlapped_epilogue_nt']],
  ['reduction', [], ['11_flagged_sums']],
  ['scan', [], ['09_tma_ring']],
  ['transpose', [], ['06_vector_tile']],
  ['attention', [], ['07_persistent']],
  ['attention', ['--at', 'TOKENS=16384', '--at', 'causal=1'], ['07_persistent'], 'large'],
  ['softmax', [], ['08_triton']],
]

/** @type {Record<string, string[]>} */
const rounds = {
  all: ['--timing', 'all'],
  cold: [],
  warm: ['--warm'],
}

const { values } = parseArgs({
  options: {
    cli: { type: 'string', default: 'dist/cli/kernel-ladder.mjs' },
    out: { type: 'string' },
    only: { type: 'string' },
    'no-large': { type: 'boolean', default: false },
    rounds: { type: 'string', default: 'all,cold,warm,cold' },
  },
})
if (!values.out) throw new Error('Name a file for the documents with --out.')
writeFileSync(values.out, '')
const only = values.only?.split(',')
let failed = 0
for (const [number, round] of values.rounds.split(',').entries())
  for (const [ladder, options, rungs, large] of ladders) {
    if ((only && !only.includes(ladder)) || (large && values['no-large'])) continue
    const argv = [
      'run',
      '--ladder',
      ladder,
      ...options,
      '--rungs',
      rungs.join(','),
      '--profile',
      'none',
      ...rounds[round],
      '--json',
    ]
    const start = Date.now()
    const { status, stdout, stderr } = spawnSync(process.execPath, [values.cli, ...argv], {
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    })
    const seconds = (Date.now() - start) / 1000
    let document = null
    try {
      document = JSON.parse(stdout)
    } catch {
      console.log(stderr.slice(-2000))
    }
    if (status !== 0) failed += 1
    appendFileSync(
      values.out,
      `${JSON.stringify({ round: number + 1, argv, status, seconds, document })}\n`,
    )
    const row = document?.rungs?.map(({ id, timing }) => {
      const { medianMs, ratioToReference, referenceMedianMs, burst, sustained } = timing ?? {}
      return [
        id,
        medianMs,
        referenceMedianMs,
        ratioToReference,
        burst?.ratioToReference,
        sustained?.ratioToReference,
        sustained?.smClockMHz,
        sustained?.powerW,
      ]
        .map((one) => (typeof one === 'number' ? Number(one.toPrecision(5)) : (one ?? '-')))
        .join(' ')
    })
    console.log(
      `${number + 1} ${round} ${ladder} ${options.join(' ')} exit ${status} ${seconds.toFixed(1)} s: ${row?.join(' | ')}`,
    )
  }
process.exitCode = failed > 0 ? 1 : 0
