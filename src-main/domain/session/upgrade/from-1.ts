/**
 * Upgrades JSON of version 1 to version 2: its English sentences become messages. This is the only place that
 * recognizes sentences. Damaged values are passed through, for the schema to reject. Pure.
 */
import { isRecord } from './json'
import { withTask } from './problem-1'
import { recognizeAll, recognizeLabel } from './recognize'

/** A copy in which the value at the path is mapped; `*` stands for every item or value. */
function at(
  value: unknown,
  [step, ...rest]: readonly string[],
  map: (found: unknown) => unknown,
): unknown {
  if (step === undefined) return map(value)
  if (typeof value !== 'object' || value === null) return value
  const within = (one: unknown): unknown => at(one, rest, map)
  if (Array.isArray(value)) return step === '*' ? value.map(within) : value
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      key,
      step === '*' || step === key ? within(one) : one,
    ]),
  )
}

const mapAll = (
  value: unknown,
  paths: readonly string[],
  map: (found: unknown) => unknown,
): unknown => paths.reduce((so, path) => at(so, path.split('.'), map), value)

/** A session repeats the same text for many figures, so each text is parsed once. */
function inText(read: (text: string) => unknown): (found: unknown) => unknown {
  const known = new Map<string, unknown>()
  return (found) => {
    if (typeof found !== 'string') return found
    if (!known.has(found)) known.set(found, read(found))
    return known.get(found)
  }
}

const numbered = (value: unknown, version: Record<string, number>): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? { ...value, ...version }
    : value

export const sessionFrom1 = (session: unknown): unknown =>
  numbered(
    mapAll(
      isRecord(session) ? withTask(session) : session,
      ['warnings.*', 'rungs.*.reason', 'rungs.*.alsoVerified.*.reason', 'rungs.*.metrics.*.reason'],
      inText(recognizeAll),
    ),
    { schema: 2 },
  )

export const frozenReportFrom1 = (report: unknown): unknown =>
  numbered(at(report, ['sessions', '*', 'session'], sessionFrom1), { report: 2 })

/** Packed for a report or not, its sentences are in its notes. */
export const deepFrom1 = (profile: unknown): unknown =>
  numbered(at(profile, ['notes', '*'], inText(recognizeAll)), { schema: 2 })

export const labOutcomeFrom1 = (outcome: unknown): unknown =>
  numbered(
    mapAll(
      mapAll(
        outcome,
        [
          'reason',
          'build.reason',
          'checks.*.sentence',
          'checks.*.figures.*.value.reason',
          'predictions.*.before.reason',
          'predictions.*.after.reason',
          'predictions.*.sentence',
          'predictions.*.explanation.*',
          'questions.*.sentence',
        ],
        inText(recognizeAll),
      ),
      ['checks.*.title', 'checks.*.figures.*.label', 'predictions.*.label'],
      inText(recognizeLabel),
    ),
    { schema: 2 },
  )

/** By lab check: an object with the reason why no tool ran, or the tools. */
export const sanitizerVerdictsFrom1 = (verdicts: unknown): unknown => ({
  schema: 2,
  verdicts: mapAll(verdicts, ['*.reason', '*.*.reason'], inText(recognizeAll)),
})
