// @ts-check
/** Inserts output of the command-line program into README.md and other documents. */
import { join } from 'node:path'
import { readFileSync } from 'node:fs'
import { documentWith } from './document.mjs'
import { PlainError, root } from './project.mjs'
import { recordedSession } from './recordings.mjs'

/** @typedef {(args: string[]) => Promise<string>} Program returns the output on stdout */

/** Commands shown in docs/evidence/tables/runs.md. Each command's output has its own markers. */
const shown = [
  ['gemm-fp32', '4096'],
  ['gemm-fp32', '1024'],
  ['gemm-tensor', '4096'],
  ['gemm-tensor', '8192'],
  ['gemm-bf16', '4096'],
  ['gemm-bf16', '8192'],
  ['gemm-fp8', '4096'],
  ['gemm-fp8', '8192'],
  ['gemm-3xtf32', '4096'],
]

/** @param {Program} program @param {string} ladder @param {string} size */
async function runOutput(program, ladder, size) {
  const recording = `${ladder}-h200-${size}`
  const { profile, timing } = recordedSession(recording).settings
  const printed = await program(['show', `recorded:${recording}`])
  return [
    '```',
    `$ node kernel-ladder.mjs run --ladder ${ladder} --size ${size} --profile ${profile}${timing ? ` --timing ${timing}` : ''}`,
    printed.trimEnd(),
    '```',
  ].join('\n')
}

/** Commands for the softmax template in an empty folder, first without a GPU and then with one. */
/** @type {[string, string][]} */
const ownKernel = [
  ['--target static:h200', join(root, 'test/captures/sessions/softmax-lab-static')],
  ['--profile standard', 'recorded:softmax-lab-h200'],
]

/** @param {Program} program */
async function ownKernelOutput(program) {
  const runs = []
  for (const [options, session] of ownKernel)
    runs.push(
      `$ kernel-ladder run --ladder softmax-lab ${options}\n${await program(['show', session])}`,
    )
  return ['```', '$ kernel-ladder init softmax-lab --template softmax', ...runs, '```']
    .map((text) => text.trimEnd())
    .join('\n')
}

const printed = 'test/gpu/printed-h200.md'

/** Returns a sentence that summarizes the stored sweeps on two GPUs (test/gpu/printed-h200.md). */
function sweepSentence() {
  const text = readFileSync(join(root, printed), 'utf8')
  /** @param {RegExp} pattern */
  const found = (pattern) => {
    const match = pattern.exec(text)
    if (!match) throw new PlainError(`${printed} has no line like ${pattern}.`)
    return match.slice(1)
  }
  const [points, , both] = found(
    /^both, built: (\d+) points, (\d+) of them measured, in ([\d.]+) s/m,
  )
  const [one] = found(/^one, built: .* in ([\d.]+) s/m)
  const [times] = found(/^one GPU takes ([\d.]+) times/m)
  const [winner, own, gain] = found(/: ([\d.]+) ms against ([\d.]+) ms, ([\d.]+) times as fast/)
  return `A sweep of ${points} points of \`08_warp_tile\` at 4096³ took ${both} s on two H200s and ${one} s on one, ${times} times as long. The winner takes ${winner} ms. With default values the rung takes ${own} ms, so the winner is ${gain} times as fast ([the sweeps](../../${printed}#sweeps)).`
}

/**
 * Emulates three rungs of gemm-fp32 without a GPU. Returns the output, which includes the second
 * rung's source lines with bank conflicts.
 * @param {Program} program @param {string} folder must not exist; the session is stored there
 */
export async function emulatedOutput(program, folder) {
  const run =
    'run --ladder gemm-fp32 --rungs 05_thread_tile_2d,06_float4,07_conflict_free --target emulated --size 256 --out'
  const ladder = await program([...run.split(' '), folder])
  const rung = await program(['show', folder, '--rung', '06_float4'])
  const [lines] = /^Source lines by shared-memory wavefronts[\s\S]*?\n(?=\n)/m.exec(rung) ?? []
  if (lines === undefined)
    throw new PlainError('The emulated rung has no lines with bank conflicts.')
  const [table] = /^[\s\S]*?(?=^error column:)/m.exec(ladder) ?? []
  if (table === undefined) throw new PlainError('The emulated run printed no table.')
  return [
    '```',
    `$ kernel-ladder ${run} counts`,
    // Remove the date, because it differs in each run.
    table.replace(/, \d{4}-\d\d-\d\d$/m, '').trimEnd(),
    '$ kernel-ladder show counts --rung 06_float4',
    lines.trimEnd(),
    '```',
  ].join('\n')
}

/**
 * Returns the up-to-date documents.
 * @param {Program} program
 * @returns {Promise<Map<string, string>>} by path
 */
export async function figureDocs(program) {
  /** @type {[string, string][]} */
  const outputs = []
  for (const [ladder = '', size = ''] of shown)
    outputs.push([`run-${ladder}-${size}`, await runOutput(program, ladder, size)])
  /** @type {[path: string, blocks: [string, string][]][]} */
  const documents = [
    ['docs/guides/ladders.md', [['own-kernel', await ownKernelOutput(program)]]],
    ['docs/evidence/tables/runs.md', outputs],
    ['docs/guides/tuning.md', [['sweep', sweepSentence()]]],
  ]
  /** @type {Map<string, string>} */
  const texts = new Map()
  for (const [path, blocks] of documents) texts.set(path, await documentWith(path, blocks))
  return texts
}
