/** What `tune` found: one row per point, the best of them timed again in turn, and what each value does. Pure. */
import { z } from 'zod'
import { Identifier, Parameters } from '../ladder/rung'
import { Statement } from '../messages/message'
import { CacheState } from '../session/session'
import { Problem } from '../task/problem'
import { strategyNames } from './search-strategy'
import { median } from '../regress/statistics'

const tuneStatuses = ['ok', 'wrong', 'failed', 'hung', 'not-built', 'unsupported'] as const
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

const ValueEffect = z.object({
  value: z.number(),
  /** The best time of any point with this value, and the median over all of them; null if none has a time. */
  bestMs: z.number().nullable(),
  medianMs: z.number().nullable(),
  points: z.number().int(),
})
type ValueEffect = z.infer<typeof ValueEffect>

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
