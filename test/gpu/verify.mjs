#!/usr/bin/env node
// @ts-check
/**
 * For a person with a GPU: verifies every rung of every ladder at twelve shapes, ragged ones among them,
 * with alpha 1.5 and beta 0.5 and with alpha 1 and beta 0 (C poisoned), and runs compute-sanitizer's
 * memcheck and racecheck over it at a small size. One line a rung, exit 1 when one fails.
 *
 *     node verify.mjs path/to/kernel-ladder.mjs [ladder …]
 *
 * Needs nvcc, and compute-sanitizer for the second part. verified-<gpu>.txt beside this file is what it
 * printed last.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const shapes = [
  [1, 1, 1],
  [1, 129, 7],
  [129, 1, 7],
  [7, 5, 1],
  [31, 33, 65],
  [64, 64, 64],
  [127, 129, 131],
  [256, 512, 192],
  [333, 777, 1111],
  [520, 776, 336],
  [1023, 1023, 1023],
  [1025, 1024, 1025],
]
const scalars = [
  [1.5, 0.5],
  [1, 0],
]
/** Small, because racecheck is slow, and ragged in every extent. */
const sanitizerShape = [131, 140, 45]

const [program, ...wanted] = process.argv.slice(2)
if (!program) {
  console.error('Usage: node verify.mjs path/to/kernel-ladder.mjs [ladder …]')
  process.exit(2)
}
const scratch = mkdtempSync(join(tmpdir(), 'kernel-ladder-verify-'))
const env = { ...process.env, KERNEL_LADDER_CACHE: join(scratch, 'cache'), LC_ALL: 'C' }

/** @param {string} file @param {string[]} args @param {number} [seconds] */
const run = (file, args, seconds = 600) =>
  spawnSync(file, args, {
    env,
    encoding: 'utf8',
    timeout: seconds * 1000,
    killSignal: 'SIGKILL',
    maxBuffer: 1 << 28,
  })

/** @param {string} text */
const events = (text) =>
  text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))

/**
 * Builds a ladder through the program and finds what it built in the session's raw output.
 * @param {{ id: string }} ladder
 */
function build(ladder) {
  const out = join(scratch, ladder.id)
  const size = ['--m', '64', '--n', '64', '--k', '64']
  const ran = run(process.execPath, [
    /** @type {string} */ (program),
    ...['run', '--ladder', ladder.id, ...size, '--profile', 'none', '--out', out, '--json'],
  ])
  if (!ran.stdout) throw new Error(ran.stderr)
  const session = JSON.parse(ran.stdout)
  const { argv } = JSON.parse(readFileSync(join(out, 'raw/runner/measure-1.json'), 'utf8'))
  const real = argv.map((/** @type {string} */ word) =>
    word.replace('<cache>', /** @type {string} */ (env.KERNEL_LADDER_CACHE)),
  )
  const artefacts = new Map(
    real
      .filter((_word, index) => real[index - 1] === '--rung')
      .map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]),
  )
  return { runner: real[0], artefacts, dtype: session.problem.dtype, rungs: session.rungs }
}

/** @param {number[]} shape @param {number[]} scalar @param {string} dtype */
const problem = ([m, n, k], [alpha, beta], dtype) =>
  Object.entries({ m, n, k, alpha, beta, dtype, seed: 7 }).flatMap(([name, value]) => [
    `--${name}`,
    String(value),
  ])

/** @param {string} runner @param {string} artefact @param {string} dtype */
function verify(runner, artefact, dtype) {
  let passed = 0
  let worst = 0
  const failures = []
  for (const shape of shapes)
    for (const scalar of scalars) {
      const ran = run(
        runner,
        [
          'measure',
          ...problem(shape, scalar, dtype),
          ...['--max-samples', '3', '--min-samples', '1', '--max-seconds', '0.01'],
          ...['--rung', `rung=${artefact}`],
        ],
        30,
      )
      const said = events(ran.stdout ?? '')
      const verdict = said.find(({ event }) => event === 'verify')
      if (verdict?.passed) {
        passed += 1
        worst = Math.max(worst, verdict.worstRelativeError)
      } else {
        const why = said.find(({ reason }) => reason)?.reason
        failures.push(
          `${shape.join('×')} alpha ${scalar[0]} beta ${scalar[1]}: ${why ?? (verdict ? `${verdict.mismatches} mismatches` : (ran.signal ?? `exit ${ran.status}`))}`,
        )
      }
    }
  return { passed, worst, failures }
}

/** @param {string} tool @param {string} runner @param {string} artefact @param {string} dtype */
function sanitize(tool, runner, artefact, dtype) {
  const ran = run(
    'compute-sanitizer',
    [
      ...['--tool', tool, runner, 'profile'],
      ...problem(sanitizerShape, [1, 0], dtype),
      ...['--rung', `rung=${artefact}`],
    ],
    120,
  )
  if (ran.error) return 'not there'
  const summary = /(?:ERROR SUMMARY: (\d+) error|SUMMARY: (\d+) hazard)/.exec(ran.stdout)
  return summary ? Number(summary[1] ?? summary[2]) : `exit ${ran.status}`
}

try {
  const listed = JSON.parse(run(process.execPath, [program, 'ladders', '--json']).stdout)
  const driver = run('nvidia-smi', ['--query-gpu=name,driver_version', '--format=csv,noheader'])
  console.log(`${(driver.stdout ?? '').trim()}, ${new Date().toISOString().slice(0, 10)}`)
  console.log(
    `${shapes.length} shapes × ${scalars.length}: ${shapes.map((shape) => shape.join('×')).join(', ')}`,
  )
  let bad = 0
  const done = new Set()
  for (const ladder of listed.ladders) {
    if (wanted.length > 0 && !wanted.includes(ladder.id)) continue
    const { runner, artefacts, dtype, rungs } = build(ladder)
    for (const { id, status, reason } of rungs) {
      const artefact = artefacts.get(id)
      if (done.has(artefact)) continue
      done.add(artefact)
      const name = `${ladder.id} ${id}`
      if (!artefact || status === 'unsupported') {
        console.log(`${name}: ${status}. ${reason ?? ''}`)
        if (status !== 'unsupported') bad += 1
        continue
      }
      const { passed, worst, failures } = verify(runner, artefact, dtype)
      // cuBLAS is not ours to check.
      const tools = id.includes('cublas') ? [] : ['memcheck', 'racecheck']
      const found = tools.map((tool) => `${tool} ${sanitize(tool, runner, artefact, dtype)}`)
      const all = shapes.length * scalars.length
      const clean = found.every((word) => word.endsWith(' 0'))
      if (passed < all || !clean) bad += 1
      console.log(
        `${name}: ${passed}/${all} right, worst relative error ${worst.toExponential(1)}${found.map((word) => `, ${word}`).join('')}`,
      )
      for (const failure of failures) console.log(`    ${failure}`)
    }
  }
  console.log(bad === 0 ? 'All right.' : `${bad} rungs are not right.`)
  process.exitCode = bad === 0 ? 0 : 1
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
