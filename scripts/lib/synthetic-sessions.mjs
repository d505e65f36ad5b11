// @ts-check
/**
 * Creates a very large session from real figures, for benchmarks and screen tests.
 *
 * The session repeats the rungs of a recording. Each rung has the metrics of a captured report,
 * varied so that no two columns are equal. The session's title says that it is synthetic.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { recordedSession } from './recordings.mjs'

/**
 * Returns a generator that always yields the same sequence of pseudorandom numbers between 0 and 1.
 */
export function repeatable() {
  let state = 1
  return () => {
    state = (state * 48271) % 2147483647
    return state / 2147483647
  }
}

/**
 * @param {string} store
 * @param {{ rungs: number, ncuMetrics: Record<string, { value: number | string | null, unit: string }> }}
 * size
 * @returns {string} the session's ref
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
 * Adds long kernels to two rungs of a stored session. The kernels repeat real deep profiles.
 * @param {string} folder of the session
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
