// @ts-check
/** The shipped recordings, for scripts that build sessions of their own from one, up to oversized ones. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from './project.mjs'

// The shipped recordings, for scripts that build sessions of their own from one.

/** @param {string} name of the file @returns {any[]} */
const rowsOf = (name) =>
  readFileSync(join(root, 'resources/recordings', name), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

/**
 * What would be the recording's session.json.
 * @param {string} recording its name
 */
export function recordedSession(recording) {
  const row = rowsOf('sessions.jsonl').find(({ session }) => session === recording)
  if (!row) throw new Error(`No recording is named ${recording}.`)
  const { session: _, ...session } = row
  return session
}

/**
 * Unpacks a recording's sources into files, like the `sources/` of a local session.
 * @param {string} recording its name @param {string} folder where the sources go
 */
export function copySources(recording, folder) {
  /** @type {({ sha256: string, text: string } | { session: string, files: Record<string, string> })[]} */
  const lines = rowsOf('sources.jsonl')
  const texts = new Map(lines.flatMap((line) => ('text' in line ? [[line.sha256, line.text]] : [])))
  const own = lines.find((line) => 'session' in line && line.session === recording)
  if (!own || !('files' in own)) throw new Error(`The sources of ${recording} are not recorded.`)
  for (const [path, hash] of Object.entries(own.files)) {
    const text = texts.get(hash)
    if (text === undefined) throw new Error(`The content ${hash} is not recorded.`)
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}

// An oversized session made from real figures: the rungs of a recording repeated, each with the metrics
// of a captured report, varied so that no two columns are alike. For benchmarks and screen tests; its
// title says that it is synthetic.

/** Pseudorandom numbers from 0 to 1; the same sequence every time. */
export function repeatable() {
  let state = 1
  return () => {
    state = (state * 48271) % 2147483647
    return state / 2147483647
  }
}

/**
 * @param {string} store
 * @param {{ rungs: number, ncuMetrics: Record<string, { value: number | string | null, unit: string }> }} size
 * @returns {string} its ref
 */
export function writeSynthetic(store, { rungs: count, ncuMetrics }) {
  const session = recordedSession('gemm-fp32-h200-4096')
  const next = repeatable()
  /** @param {number} value */
  const varied = (value) => value * (0.5 + next())
  const [reference, ...steps] = session.rungs
  const ladderSteps = session.ladder.rungs.slice(1)
  const rungs = Array.from({ length: count - 1 }, (_, index) => {
    const step = steps[index % steps.length]
    const id = `${String(index + 1).padStart(3, '0')}_${step.id.replace(/^\d+_/, '')}`
    const factor = 0.5 + next()
    return {
      ...step,
      id,
      after: null,
      title: `${step.title}, variant ${index + 1}`,
      timing: {
        ...step.timing,
        medianMs: step.timing.medianMs * factor,
        gflops: step.timing.gflops / factor,
        ratioToReference: step.timing.ratioToReference / factor,
      },
      metrics: Object.fromEntries(
        Object.entries(step.metrics).map(([name, metric]) => [
          name,
          metric.value === null ? metric : { ...metric, value: varied(metric.value) },
        ]),
      ),
      ncuMetrics: Object.fromEntries(
        Object.entries(ncuMetrics).map(([name, { value, unit }]) => [
          name,
          { value: typeof value === 'number' ? varied(value) : value, unit },
        ]),
      ),
    }
  })
  const id = `synthetic-${count}-rungs`
  const large = {
    ...session,
    id,
    target: { kind: 'live', name: 'local' },
    ladder: {
      ...session.ladder,
      title: `Synthetic, ${count} rungs`,
      rungs: [
        session.ladder.rungs[0],
        ...rungs.map((rung, index) => ({
          ...ladderSteps[index % ladderSteps.length],
          id: rung.id,
          title: rung.title,
        })),
      ],
    },
    rungs: [reference, ...rungs],
  }
  mkdirSync(join(store, id), { recursive: true })
  writeFileSync(join(store, id, 'session.json'), JSON.stringify(large))
  return id
}

/**
 * Gives two rungs of a stored session kernels of many instructions: those of real deep profiles, repeated.
 * @param {string} folder the session's
 * @param {readonly [string, string]} rungs
 * @param {readonly any[]} profiles one per rung
 * @param {number} count
 */
export function writeLongKernels(folder, rungs, profiles, count) {
  mkdirSync(join(folder, 'deep'), { recursive: true })
  for (const [place, rung] of rungs.entries()) {
    const profile = profiles[place]
    const [kernel] = profile.kernels
    const { instructions } = kernel
    const long = Array.from({ length: count }, (_, index) => ({
      ...instructions[index % instructions.length],
      index,
      offset: 16 * index,
    }))
    const kernels = [{ ...kernel, instructions: long }]
    writeFileSync(
      join(folder, 'deep', `${rung}.json`),
      JSON.stringify({ ...profile, rung, kernels }),
    )
  }
}

// Statements in the CLI's JSON documents.

/** @typedef {string | { text: string }} Statement */

/** Its English text. @param {Statement} statement */
export const told = (statement) => (typeof statement === 'string' ? statement : statement.text)
