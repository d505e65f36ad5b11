// @ts-check
/** The figures of README.md and docs/RESULTS.md: what the command line prints of recordings. */
import { join } from 'node:path'
import { readFileSync } from 'node:fs'
import { documentWith } from './document.mjs'
import { PlainError, root } from './project.mjs'
import { recordedSession } from './recordings.mjs'

/** @typedef {(args: string[]) => Promise<string>} Program gives what it prints on stdout */

/** Shown in docs/RESULTS.md, each between markers of its own. */
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

/**
 * The ladder of a recording, as a report in Markdown has it.
 * @param {Program} program @param {string} recording
 */
async function ladderTable(program, recording) {
  const format = ['--format', 'md', '--sections', 'ladder']
  const text = await program(['report', `recorded:${recording}`, ...format, '--out', '-'])
  const [, title] = /^# (.*)/.exec(text) ?? []
  const [, table, legend] = /## Ladder\n\n((?:\|.*\n)+)\n(.*)\n/.exec(text) ?? []
  if (!table) throw new PlainError(`The report on ${recording} has no table of its ladder.`)
  return `${title}, recorded ${recordedSession(recording).createdAt.slice(0, 10)}:\n\n${table}\n${legend}`
}

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

/** The template softmax in an empty folder: first without a GPU, then with one. */
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

/** What the kept sweeps on two GPUs came to (test/gpu/printed-h200.md), as a sentence. */
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
  return `${points} points of \`08_warp_tile\` at 4096³ took ${both} s on two H200s against ${one} s on one, ${times} times as long; the winner takes ${winner} ms where the rung's own values take ${own} ms, ${gain} times as fast ([what came out](${printed}#sweeps)).`
}

/**
 * The documents as they should be.
 * @param {Program} program
 * @returns {Promise<Map<string, string>>} by path
 */
export async function figureDocs(program) {
  const table = await ladderTable(program, 'gemm-fp32-h200-4096')
  /** @type {[string, string][]} */
  const outputs = []
  for (const [ladder = '', size = ''] of shown)
    outputs.push([`run-${ladder}-${size}`, await runOutput(program, ladder, size)])
  return new Map([
    [
      'README.md',
      await documentWith('README.md', [
        ['ladder', table],
        ['own-kernel', await ownKernelOutput(program)],
        ['sweep', sweepSentence()],
      ]),
    ],
    ['docs/RESULTS.md', await documentWith('docs/RESULTS.md', outputs)],
  ])
}
