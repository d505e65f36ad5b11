/** Helpers for tests in all layers: cleanup, matrix-product problems, and messages as text. */
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

/** Cleanup functions that run when a test ends, in reverse order. */
const waiting: (() => unknown)[] = []

export const afterTest = (cleanup: () => unknown): void => {
  waiting.push(cleanup)
}

export async function cleanUp(): Promise<void> {
  for (let next = waiting.pop(); next; next = waiting.pop()) await next()
}

// The built-in matrix-product task, and functions that create problems for it.

const file = join(import.meta.dirname, '..', 'cuda-kernels', 'gemm', 'task.yaml')

export const gemm: Task = parseTask(readFileSync(file, 'utf8'), 'gemm/task.yaml')

export const gemmProblem = (
  m: number,
  n = m,
  k = n,
  { alpha = 1, beta = 0, dtype = 'f32' } = {},
): Problem => ({ sizes: { m, n, k }, scalars: { alpha, beta }, options: { dtype } })

// Functions that convert all statements in a value to English text.

/** The given type with each statement replaced by text. */
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

/** Matches a statement whose English text contains the string or matches the pattern. */
export const saying = (wanted: string | RegExp): unknown => ({
  asymmetricMatch: (value: unknown) => {
    const text = value === undefined ? undefined : inEnglish(value as Statement)
    return typeof wanted === 'string' ? text?.includes(wanted) : wanted.test(text ?? '')
  },
  toString: () => `saying ${wanted}`,
})

// Functions for recordings and captures, which contain only the metrics that their runs requested.
// A metric that was added to the registry after the run does not count as missing.

/**
 * Returns the metrics of a level that can be computed from the metrics requested in the ncu call.
 */
export function metricsAsked(level: ProfileLevel, argv: readonly string[]): MetricDefinition[] {
  const names = metricsIn(argv)
  const isAsked = ({ ncu, derived }: MetricDefinition): boolean =>
    derived
      ? derived.from.every((id) => isAsked(metricDefinition(id)!))
      : ncu.some((name) => names.has(name))
  return metricsAtLevel(level).filter(isAsked)
}

/**
 * Returns the device without its ECC and MIG modes if the saved session lacks them. Older versions
 * did not record these modes.
 */
function withModesOf(device: Session['device'], saved: Session['device']): Session['device'] {
  if (device === null || saved === null || saved.ecc !== undefined) return device
  const { ecc: _ecc, mig: _mig, ...rest } = device
  return rest
}

/**
 * Returns whether a figure is missing because it was added to the registry after the session was
 * saved. The run did not request the metric, or did not compute it from instructions.
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
