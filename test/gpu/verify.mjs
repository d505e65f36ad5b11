#!/usr/bin/env node
// @ts-check
/**
 * Verifies every rung of every ladder on a GPU at twelve shapes, some of them ragged. Each rung
 * runs with each input type in its header. Uses alpha 1.5 with beta 0.5, and alpha 1 with beta 0 (C
 * poisoned). Also runs compute-sanitizer's four tools at two small shapes. A variant that several
 * ladders share is verified once. Run this script manually. Prints one line per rung and type, and
 * exits with 1 if a rung fails.
 *
 *     node verify.mjs path/to/kernel-ladder.mjs [ladder | ladder:rung,rung …]
 *
 * Builds into a new cache, or into $KERNEL_LADDER_CACHE if set. Requires nvcc, and
 * compute-sanitizer for the second part. verified-<gpu>.txt next to this file contains the last
 * output.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { told } from '../../scripts/lib/statements.mjs'

const shapes = [
  [1, 1, 1],
  [1, 129, 7],
  [129, 1, 7],
  [7, 5, 1],
  [31, 33, 65],
  [127, 129, 131],
  [256, 512, 192],
  [333, 777, 1111],
  [520, 776, 336],
  [1023, 1023, 1023],
  [1025, 1024, 1025],
  // On 132 SMs, this shape has so many blocks that 14_shape_dispatch selects its kernel for many
  // waves.
  [5000, 7000, 33],
]
const scalars = [
  [1.5, 0.5],
  [1, 0],
]
const [program, ...words] = process.argv.slice(2)
/** The requested rungs by ladder, in the format of `--rungs`. Undefined means all rungs. */
const wanted = new Map(
  words.map((word) => {
    const [ladder = '', rungs] = word.split(':')
    return [ladder, rungs]
  }),
)
if (!program) {
  console.error('Usage: node verify.mjs path/to/kernel-ladder.mjs [ladder | ladder:rung,rung …]')
  process.exit(2)
}
const scratch = mkdtempSync(join(tmpdir(), 'kernel-ladder-verify-'))
const cache = process.env.KERNEL_LADDER_CACHE || join(scratch, 'cache')
const env = { ...process.env, KERNEL_LADDER_CACHE: cache, LC_ALL: 'C' }

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
 * Builds a ladder with the program and finds the builds in the session's raw output.
 * @param {{ id: string }} ladder
 */
function build(ladder) {
  const out = join(scratch, ladder.id)
  const size = ['--m', '64', '--n', '64', '--k', '64']
  const only = wanted.get(ladder.id)
  const what = ['--ladder', ladder.id, ...(only ? ['--rungs', only] : [])]
  const ran = run(process.execPath, [
    /** @type {string} */ (program),
    ...['run', ...what, ...size, '--profile', 'none', '--out', out, '--json'],
  ])
  if (!ran.stdout) throw new Error(ran.stderr)
  const session = JSON.parse(ran.stdout)
  const { argv } = readFileSync(join(out, 'raw.jsonl'), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((row) => JSON.parse(row))
    .find(({ key }) => key === 'runner/measure-1')
  /** @type {string[]} */
  const real = argv.map((/** @type {string} */ word) => word.replace('<cache>', cache))
  /** Splits `id=value`. @param {string} word @returns {[string, string]} */
  const split = (word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]
  const pairs = (/** @type {string} */ option) =>
    new Map(real.filter((_word, index) => real[index - 1] === option).map(split))
  const [artifacts, cases] = [pairs('--rung'), pairs('--rung-case')]
  const reference = real[real.indexOf('--reference-library') + 1]
  return { runner: real[0], reference, artifacts, cases, rungs: session.rungs }
}

/** @typedef {{ id: string, artifact: string, flags: string }} Rung */

/**
 * Returns a matrix-product case as arguments for the runner. KlGemm and KlReference are in
 * test/captures/task.
 * @param {string} name @param {string} reference @param {string} flags `bias+relu`
 * @param {number[]} shape @param {number[]} scalar @param {string} dtype
 */
function caseArgs(name, reference, flags, [m, n, k], [alpha, beta], dtype) {
  const [bias, relu] = [flags.includes('bias'), flags.includes('relu')]
  const number = ['f32', 'f16', 'bf16'].indexOf(dtype)
  const common = [`0:i64:${m}`, `8:i64:${n}`, `16:i64:${k}`, `24:f32:${alpha}`, `28:f32:${beta}`]
  const fields = [
    ...common,
    ...['32:buffer:a', '40:buffer:b', '48:buffer:c', `56:i32:${number}`],
    ...['64:workspace', '72:workspace-bytes'],
    ...(bias ? ['80:buffer:bias'] : []),
    ...(relu ? ['88:i32:1'] : []),
  ]
  const expected = [
    ...common,
    ...[`32:i32:${number}`, '40:in:a', '48:in:b', '56:in:c', '64:out:c', '72:scale:c'],
    ...(relu ? ['36:i32:1'] : []),
    ...(bias ? ['80:in:bias'] : []),
    ...['88:progress', '96:sm-count'],
  ]
  const fill = 'uniform,-1,1'
  const buffers = [
    `a:${dtype}:in:${m}x${k}:${fill}`,
    `b:${dtype}:in:${k}x${n}:${fill}`,
    beta === 0 ? `c:f32:out:${m}x${n}` : `c:f32:inout:${m}x${n}:${fill}`,
    ...(bias ? [`bias:f32:in:${n}:${fill}`] : []),
  ]
  /** @param {string} option @param {string[]} words */
  const each = (option, words) => words.flatMap((word) => [option, word])
  return [
    ...['--case', name, '--struct', '96', ...each('--field', fields)],
    ...each('--buffer', buffers),
    ...['--reference-library', reference, '--reference-struct', '104'],
    ...each('--reference-field', expected),
    ...['--check', `c:bound,${4 * Math.sqrt(Number(k)) * 2 ** -24}`],
  ]
}

/**
 * @param {Rung[]} rungs @param {string} reference
 * @param {number[]} shape @param {number[]} scalar @param {string} dtype
 */
function problem(rungs, reference, shape, scalar, dtype) {
  const all = [...new Set(rungs.map(({ flags }) => flags))]
  return [
    ...['--seed', '7'],
    ...all.flatMap((flags) => caseArgs(flags || 'plain', reference, flags, shape, scalar, dtype)),
    ...rungs.flatMap(({ id, artifact, flags }) => [
      ...['--rung', `${id}=${artifact}`, '--rung-case', `${id}=${flags || 'plain'}`],
    ]),
  ]
}

/**
 * Returns the verdicts for rungs at one problem, by id. A verdict is null if the rung is correct,
 * otherwise the reason. Runs all rungs in one process. If the process did not finish, runs each
 * rung in its own process.
 * @param {string} runner
 * @param {Rung[]} rungs
 * @param {(rungs: Rung[]) => string[]} argsOf
 * @returns {Map<string, { worst: number, why: string | null }>}
 */
function verdicts(runner, rungs, argsOf) {
  const ran = run(
    runner,
    [
      'measure',
      ...argsOf(rungs),
      ...['--max-samples', '3', '--min-samples', '1', '--max-seconds', '0.01'],
    ],
    20 + 10 * rungs.length,
  )
  const said = events(ran.stdout ?? '')
  const finished = said.some(({ event }) => event === 'done')
  if (!finished && rungs.length > 1)
    return new Map(rungs.flatMap((rung) => [...verdicts(runner, [rung], argsOf)]))
  return new Map(
    rungs.map(({ id }) => {
      const own = said.filter(({ rung }) => rung === id)
      const verdict = own.find(({ event }) => event === 'verify')
      if (verdict?.passed) return [id, { worst: verdict.worstRelativeError, why: null }]
      const why =
        own.find(({ reason }) => reason)?.reason ??
        (verdict
          ? `${verdict.mismatches} mismatches`
          : `the runner ended with ${ran.signal ?? ran.status}`)
      return [id, { worst: 0, why }]
    }),
  )
}

/**
 * Returns the findings of compute-sanitizer's tools by id and tool. Each entry is a count, or the
 * reason why there is no count.
 * @param {string} ladder
 * @param {string[]} ids
 * @param {string} dtype
 * @param {string[]} size
 * @returns {Map<string, { tool: string, found: number | string }[]>}
 */
function sanitize(ladder, ids, dtype, size) {
  if (ids.length === 0) return new Map()
  const what = ['--ladder', ladder, '--rungs', ids.join(','), '--dtype', dtype]
  const args = ['sanitize', ...what, ...size, '--json']
  const ran = run(process.execPath, [/** @type {string} */ (program), ...args], 3600)
  if (!ran.stdout) {
    const found = ran.stderr.trim().split('\n').at(-2) ?? 'no answer'
    return new Map(ids.map((id) => [id, [{ tool: 'compute-sanitizer', found }]]))
  }
  return new Map(
    JSON.parse(ran.stdout).rungs.map((/** @type {any} */ { id, checks }) => [
      id,
      checks.map((/** @type {any} */ { tool, status, total, reason }) => ({
        tool,
        found: ['clean', 'found'].includes(status)
          ? (total ?? status)
          : status === 'unsupported'
            ? status
            : told(reason ?? status),
      })),
    ]),
  )
}

try {
  const listed = JSON.parse(run(process.execPath, [program, 'ladders', '--json']).stdout)
  const driver = run('nvidia-smi', ['--query-gpu=name,driver_version', '--format=csv,noheader'])
  console.log(`${(driver.stdout ?? '').trim()}, ${new Date().toISOString().slice(0, 10)}`)
  console.log(
    `${shapes.length} shapes × ${scalars.length}: ${shapes.map((shape) => shape.join('×')).join(', ')}`,
  )
  let bad = 0
  // The keys of verified rungs: artifact and input type. Several ladders may contain the same rung,
  // sometimes with different types.
  const done = new Set()
  for (const ladder of listed.ladders) {
    if (wanted.size > 0 && !wanted.has(ladder.id)) continue
    const { runner, reference, artifacts, cases, rungs } = build(ladder)
    /** The rungs to verify, by input type. @type {Map<string, Rung[]>} */
    const ready = new Map()
    for (const { id, status, reason } of rungs) {
      const artifact = artifacts.get(id)
      if (!artifact || status === 'unsupported') {
        console.log(`${ladder.id} ${id}: ${status}. ${told(reason ?? '')}`)
        if (status !== 'unsupported') bad += 1
        continue
      }
      // If the ladder sets a rung's type, the rung has only that type in the ladder.
      const listedRung = ladder.rungs.find((/** @type {any} */ rung) => rung.id === id)
      const own = listedRung.options.dtype !== ladder.options.dtype
      for (const dtype of own ? [listedRung.options.dtype] : listedRung.takes.dtype) {
        const key = `${artifact} ${dtype}`
        if (done.has(key)) continue
        done.add(key)
        ready.set(dtype, [
          ...(ready.get(dtype) ?? []),
          { id, artifact, flags: (cases.get(id) ?? '').split('+').slice(1).join('+') },
        ])
      }
    }
    for (const [dtype, own] of ready) {
      const results = shapes.flatMap((shape) =>
        scalars.map((scalar) => ({
          where: `${shape.join('×')} alpha ${scalar[0]} beta ${scalar[1]}`,
          by: verdicts(runner, own, (some) => problem(some, reference, shape, scalar, dtype)),
        })),
      )
      // Do not check cuBLAS itself.
      const ids = own.map(({ id }) => id).filter((id) => !id.includes('cublas'))
      // Check the usual small shape and a shape with unaligned rows. Rungs with wide accesses use
      // another code path for unaligned rows.
      const findings = [[], ['--m', '131', '--n', '141', '--k', '45']].map((size) =>
        sanitize(ladder.id, ids, dtype, size),
      )
      for (const { id } of own) {
        const failures = results.filter(({ by }) => by.get(id)?.why)
        const worst = Math.max(...results.map(({ by }) => by.get(id)?.worst ?? 0))
        const checks = findings.flatMap((by) => by.get(id) ?? [])
        if (
          failures.length > 0 ||
          checks.some(({ found }) => found !== 0 && found !== 'unsupported')
        )
          bad += 1
        console.log(
          `${ladder.id} ${id} ${dtype}: ${results.length - failures.length}/${results.length} right, worst relative error ${worst.toExponential(1)}${checks.map(({ tool, found }) => `, ${tool} ${found}`).join('')}`,
        )
        for (const { where, by } of failures) console.log(`    ${where}: ${by.get(id)?.why}`)
      }
    }
  }
  console.log(bad === 0 ? 'All right.' : `${bad} are not right.`)
  process.exitCode = bad === 0 ? 0 : 1
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
