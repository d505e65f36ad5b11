/**
 * T4, the result format that autotuners exchange (Kernel Tuner's results-schema.json 1.0.0).
 *
 * A T4 file has one entry per point: a configuration, its times in milliseconds, and the reason if
 * the configuration is invalid.
 */
import { z } from 'zod'
import { TuneRow, type TuneStatus } from './report'
import type { Point } from './search-space'

const t4Version = '1.0.0'

const invalidities = [
  'timeout',
  'compile',
  'runtime',
  'correctness',
  'constraints',
  'correct',
] as const

type Invalidity = (typeof invalidities)[number]

export const T4Results = z.object({
  schema_version: z.string().regex(/^\d+\.\d+\.\d+$/),
  results: z.array(
    z.looseObject({
      timestamp: z.string().optional(),
      configuration: z.record(z.string(), z.unknown()),
      times: z.looseObject({ runtimes: z.array(z.unknown()).optional() }),
      invalidity: z.enum(invalidities),
      correctness: z.number(),
      measurements: z
        .array(z.looseObject({ name: z.string(), value: z.unknown(), unit: z.string().optional() }))
        .optional(),
      objectives: z.array(z.unknown()).optional(),
    }),
  ),
})

export type T4Results = z.infer<typeof T4Results>

const invalidityOf: Record<TuneStatus, Invalidity> = {
  ok: 'correct',
  wrong: 'correctness',
  failed: 'runtime',
  hung: 'timeout',
  'not-built': 'compile',
  unsupported: 'constraints',
}

/** A row with the journal's additional fields. */
export const T4Row = TuneRow.extend({
  /** Time at which the measurement finished. */
  at: z.iso.datetime(),
  samplesMs: z.array(z.number()),
})

export type T4Row = z.infer<typeof T4Row>

export const toT4 = (rows: readonly T4Row[]): T4Results => ({
  schema_version: t4Version,
  results: rows.map(({ at, params, status, medianMs, buildSeconds, samplesMs }) => ({
    timestamp: at,
    configuration: params,
    times: {
      ...(buildSeconds === null ? {} : { compilation_time: buildSeconds * 1000 }),
      runtimes: [...samplesMs],
    },
    invalidity: invalidityOf[status],
    correctness: status === 'ok' ? 1 : 0,
    measurements: medianMs === null ? [] : [{ name: 'time', value: medianMs, unit: 'ms' }],
    objectives: ['time'],
  })),
})

const timeOf = (result: T4Results['results'][number]): number => {
  const own = result.measurements?.find(({ name }) => name === 'time')?.value
  const runtimes = (result.times.runtimes ?? []).filter((ms) => typeof ms === 'number')
  if (typeof own === 'number') return own
  return runtimes.length > 0 ? Math.min(...runtimes) : Infinity
}

/** Returns the valid configurations of a T4 file that have these parameters, fastest first. */
export const pointsOfT4 = ({ results }: T4Results, names: readonly string[]): Point[] =>
  results
    .filter(({ invalidity }) => invalidity === 'correct')
    .sort((a, b) => timeOf(a) - timeOf(b))
    .flatMap(({ configuration }) => {
      const values = names.map((name) => [name, configuration[name]] as const)
      return values.every(([, value]) => Number.isSafeInteger(value))
        ? [Object.fromEntries(values) as Point]
        : []
    })
