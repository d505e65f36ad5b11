/** Helpers for tests of every layer: cleanup, a problem of the matrix product, and messages as text. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Problem } from '../src-main/domain/task/problem'
import type { Task } from '../src-main/domain/task/task'
import { type Statement, says } from '../src-main/domain/messages/message'
import { inEnglish } from '../src-main/domain/text/english'
import { metricsIn } from '../src-main/adapters/tools/ncu'
import type { MetricDefinition, ProfileLevel } from '../src-main/domain/metrics/metric-definition'
import { metricDefinition, metricsAtLevel } from '../src-main/domain/metrics/metrics'
import { rungOf, type Session } from '../src-main/domain/session/session'
import { conflictMetrics } from '../src-main/domain/metrics/bank-conflict-metrics'
import { parseTask } from '../src-main/parsers/kernels/task-file'

/** Cleanup to run when a test ends, last one first. */
const waiting: (() => unknown)[] = []

export const afterTest = (cleanup: () => unknown): void => {
  waiting.push(cleanup)
}

export async function cleanUp(): Promise<void> {
  for (let next = waiting.pop(); next; next = waiting.pop()) await next()
}

// The shipped task, and problems of it.

const file = join(import.meta.dirname, '..', 'cuda-kernels', 'gemm', 'task.yaml')

export const gemm: Task = parseTask(readFileSync(file, 'utf8'), 'gemm/task.yaml')

export const gemmProblem = (
  m: number,
  n = m,
  k = n,
  { alpha = 1, beta = 0, dtype = 'f32' } = {},
): Problem => ({ sizes: { m, n, k }, scalars: { alpha, beta }, options: { dtype } })

// A value with every statement in English, for tests.

/** The same shape with statements replaced by texts. */
export type Said<T> = T extends string | number | boolean | null | undefined
  ? T
  : Exclude<Statement, string> extends T
    ? string
    : T extends Exclude<Statement, string>
      ? string
      : { [Key in keyof T]: Said<T[Key]> }

const isStatement = (value: object): value is Exclude<Statement, string> =>
  ('key' in value && 'values' in value) || 'sentences' in value

export function said<T>(value: T): Said<T> {
  const told = (one: unknown): unknown => {
    if (Array.isArray(one)) return one.map(told)
    if (typeof one !== 'object' || one === null) return one
    if (isStatement(one)) return inEnglish(one)
    return Object.fromEntries(Object.entries(one).map(([key, inner]) => [key, told(inner)]))
  }
  return told(value) as Said<T>
}

/** Matches a statement whose English contains the text, or matches the pattern. */
export const saying = (wanted: string | RegExp): unknown => ({
  asymmetricMatch: (value: unknown) => {
    const text = value === undefined ? undefined : inEnglish(value as Statement)
    return typeof wanted === 'string' ? text?.includes(wanted) : wanted.test(text ?? '')
  },
  toString: () => `saying ${wanted}`,
})

// Recordings and captures contain only the metrics that their runs requested. Metrics added to the registry later are
// not missing from them.

/** Returns the metrics of a level that follow from what an ncu call requested. */
export function metricsAsked(level: ProfileLevel, argv: readonly string[]): MetricDefinition[] {
  const names = metricsIn(argv)
  const isAsked = ({ ncu, derived }: MetricDefinition): boolean =>
    derived
      ? derived.from.every((id) => isAsked(metricDefinition(id)!))
      : ncu.some((name) => names.has(name))
  return metricsAtLevel(level).filter(isAsked)
}

/** Returns a device without modes that the saved session does not have, since older versions did not read them. */
function withModesOf(device: Session['device'], saved: Session['device']): Session['device'] {
  if (device === null || saved === null || saved.ecc !== undefined) return device
  const { ecc: _ecc, mig: _mig, ...rest } = device
  return rest
}

/**
 * Whether a figure is missing because it was added to the registry after the session was saved: not requested, or not
 * yet summed over instructions.
 */
const isLater = (id: string, reason: Statement | undefined): boolean =>
  says(reason, 'records.notAsked') ||
  (overInstructions.has(id) &&
    (says(reason, 'figures.noInstructions') || says(reason, 'figures.follows')))

const overInstructions = new Set(conflictMetrics.map(({ id }) => id))

/** Returns a session without the metrics that the run of `saved` did not request. */
export const withAsked = (session: Session, saved: Session): Session => ({
  ...session,
  device: withModesOf(session.device, saved.device),
  rungs: session.rungs.map((rung) => ({
    ...rung,
    metrics: Object.fromEntries(
      Object.entries(rung.metrics).filter(
        ([id]) => !isLater(id, rungOf(saved, rung.id)?.metrics[id]?.reason),
      ),
    ),
  })),
})
