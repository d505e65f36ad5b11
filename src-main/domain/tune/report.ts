/** What `tune` found: one row per point, the best of them timed again in turn, and what each value does. Pure. */
import { z } from 'zod'
import { Identifier, Parameters } from '../ladder/rung'
import { Statement } from '../messages/message'
import { median } from '../regress/verdict'
import { CacheState } from '../session/session'
import { Problem } from '../task/problem'
import { strategyNames, type Point } from './sweep'

export const tuneStatuses = ['ok', 'wrong', 'failed', 'hung', 'not-built', 'unsupported'] as const
export type TuneStatus = (typeof tuneStatuses)[number]

export const TuneRow = z.object({
  params: Parameters,
  status: z.enum(tuneStatuses),
  /** The median of its samples; null unless the status is ok. */
  medianMs: z.number().nullable(),
  /** Interquartile range over the median. */
  spread: z.number().nullable(),
  samples: z.number().int(),
  /** The number of the GPU that measured it; null if none did. */
  gpu: z.number().int().nullable(),
  /** Seconds of nvcc, also if the build was cached. */
  buildSeconds: z.number().nullable(),
  /** Why it has no time. */
  reason: Statement.nullable(),
})
export type TuneRow = z.infer<typeof TuneRow>

const Ratio = z.object({ ratio: z.number(), low: z.number(), high: z.number() })

/** One of the best, timed again in turn with the others in fresh processes. */
export const Finalist = z.object({
  params: Parameters,
  medianMs: z.number().nullable(),
  /** Its time over that of the rung's own values, with the 99 % interval; null if there is no such pair. */
  ratio: Ratio.nullable(),
  rounds: z.number().int(),
  reason: Statement.nullable(),
})
export type Finalist = z.infer<typeof Finalist>

export const ValueEffect = z.object({
  value: z.number(),
  /** The best time of any point with this value, and the median over all of them; null if none has a time. */
  bestMs: z.number().nullable(),
  medianMs: z.number().nullable(),
  points: z.number().int(),
})
export type ValueEffect = z.infer<typeof ValueEffect>

export const tuneShape = {
  ladder: Identifier,
  rung: Identifier,
  problem: Problem,
  gpus: z.array(
    z.object({
      number: z.number().int(),
      name: z.string(),
      computeCapability: z.string(),
      driver: z.string().nullable(),
      /** Points that it measured in this sweep. */
      measured: z.number().int(),
      /** Seconds that it was verifying and timing. */
      busySeconds: z.number(),
    }),
  ),
  /** What L2 held when points were timed; `unknown` in sweeps that were kept before it was recorded. */
  cacheState: CacheState.default('unknown'),
  strategy: z.enum(strategyNames),
  seed: z.number().int(),
  budget: z.object({ points: z.number().int().nullable(), seconds: z.number().nullable() }),
  space: z.object({
    axes: z.array(z.object({ name: z.string(), values: z.array(z.number()) })),
    /** The conditions that points were left out for. */
    rules: z.array(z.string()),
    combinations: z.number(),
    /** Those that break no rule; null if there are too many to count. */
    allowed: z.number().nullable(),
  }),
  /** `cancelled`: stopped by the user; the same command continues it. */
  completion: z.enum(['complete', 'cancelled']),
  /** Points whose result is from an earlier, unfinished sweep with the same sources, problem and GPU. */
  resumed: z.number().int(),
  /** Wall time of proposing, building and measuring, without the last rounds. */
  sweepSeconds: z.number(),
  elapsedSeconds: z.number(),
  /** The rung's own values. */
  baseline: Finalist.nullable(),
  /** The best first. */
  finalists: z.array(Finalist),
  /** The values to use; null if no point has a time. */
  winner: Parameters.nullable(),
  /** The best first; points without a time last. */
  rows: z.array(TuneRow),
  byParameter: z.record(z.string(), z.array(ValueEffect)),
  notes: z.array(Statement),
}
export type TuneReport = z.infer<z.ZodObject<typeof tuneShape>>

/** The fastest first, those without a time last. */
export const ranked = <Row extends Pick<TuneRow, 'medianMs'>>(rows: readonly Row[]): Row[] =>
  [...rows].sort((a, b) => (a.medianMs ?? Infinity) - (b.medianMs ?? Infinity))

/** What each value of each parameter comes to, over all points that have it. */
export function effects(
  axes: readonly { name: string; values: readonly number[] }[],
  rows: readonly TuneRow[],
): Record<string, ValueEffect[]> {
  return Object.fromEntries(
    axes.map(({ name, values }) => [
      name,
      values.map((value) => {
        const times = rows.flatMap(({ params, medianMs }) =>
          params[name] === value && medianMs !== null ? [medianMs] : [],
        )
        return {
          value,
          bestMs: times.length > 0 ? Math.min(...times) : null,
          medianMs: times.length > 0 ? median(times) : null,
          points: times.length,
        }
      }),
    ]),
  )
}

// T4, the results format that autotuners exchange (Kernel Tuner's results-schema.json 1.0.0): a configuration, its
// times in milliseconds and why it is invalid, one entry per point. Pure.

export const t4Version = '1.0.0'

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

/** A row with what only the journal keeps. */
export const T4Row = TuneRow.extend({
  /** When it finished. */
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

/** The valid configurations of a T4 file with these parameters, the fastest first; others cannot be tried. */
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

// A finished sweep as it is kept, so that its ranking opens again.

export const TuningId = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,199}$/)

export const KeptTuning = z.object({
  schema: z.literal(1),
  id: TuningId,
  createdAt: z.iso.datetime(),
  /** The machine of machines.yaml that it ran on; null for this one. */
  machine: z.string().nullable(),
  /** The user's own ladder folder, here; null for a ladder that ships. */
  folder: z.string().nullable(),
  report: z.object(tuneShape),
})
export type KeptTuning = z.infer<typeof KeptTuning>

/** What a list shows of one. */
export const ListedTuning = z.object({
  id: TuningId,
  createdAt: z.string(),
  ladder: Identifier,
  rung: Identifier,
  gpu: z.string(),
  points: z.number().int(),
})
export type ListedTuning = z.infer<typeof ListedTuning>

/** Sorts by ladder, rung and time: `gemm-fp32-11_warp_tile-20261122-133107`. */
export const tuningId = ({ ladder, rung }: KeptTuning['report'], createdAt: string): string =>
  `${ladder.slice(0, 80)}-${rung.slice(0, 80)}-${createdAt.slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')}`

export const listed = ({ id, createdAt, report }: KeptTuning): ListedTuning => ({
  ...{ id, createdAt, ladder: report.ladder, rung: report.rung },
  gpu: report.gpus[0]?.name ?? '',
  points: report.rows.length,
})
