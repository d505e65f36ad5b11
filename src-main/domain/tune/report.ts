/**
 * The report of `tune`: one row per configuration, the finalists that were timed again, and the
 * effect of each parameter value. Pure.
 */
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
  /** Median of the samples; null unless the status is `ok`. */
  medianMs: z.number().nullable(),
  /** Interquartile range divided by the median. */
  spread: z.number().nullable(),
  samples: z.number().int(),
  /** Index of the GPU that measured the configuration; null if it was not measured. */
  gpu: z.number().int().nullable(),
  /**
   * Duration of the nvcc build in seconds. A cached build has the duration of its original build.
   */
  buildSeconds: z.number().nullable(),
  /** Reason for a missing time. */
  reason: Statement.nullable(),
})
export type TuneRow = z.infer<typeof TuneRow>

const Ratio = z.object({ ratio: z.number(), low: z.number(), high: z.number() })

/**
 * A finalist: one of the best configurations, timed again in fresh processes. The launches of all
 * finalists alternate.
 */
export const Finalist = z.object({
  params: Parameters,
  medianMs: z.number().nullable(),
  /**
   * Time divided by the time with the rung's own parameter values, with the 99 % interval. Null if
   * the ratio was not measured.
   */
  ratio: Ratio.nullable(),
  rounds: z.number().int(),
  reason: Statement.nullable(),
})
export type Finalist = z.infer<typeof Finalist>

const ValueEffect = z.object({
  value: z.number(),
  /**
   * Best and median time over all configurations with this value; null if no configuration has a
   * time.
   */
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
      /** Number of configurations that this GPU measured in the sweep. */
      measured: z.number().int(),
      /** Time in seconds that the GPU spent on verification and timing. */
      busySeconds: z.number(),
    }),
  ),
  /** L2 state when configurations were timed. Older stored sweeps have `unknown`. */
  cacheState: CacheState.default('unknown'),
  strategy: z.enum(strategyNames),
  seed: z.number().int(),
  budget: z.object({ points: z.number().int().nullable(), seconds: z.number().nullable() }),
  space: z.object({
    axes: z.array(z.object({ name: z.string(), values: z.array(z.number()) })),
    /** Conditions that a configuration had to satisfy. */
    rules: z.array(z.string()),
    combinations: z.number(),
    /** Number of configurations that satisfy all rules; null if there are too many to count. */
    allowed: z.number().nullable(),
  }),
  /** `cancelled`: the user stopped the sweep. The same command resumes the sweep. */
  completion: z.enum(['complete', 'cancelled']),
  /**
   * Number of results reused from an earlier, unfinished sweep with the same sources, problem and
   * GPU.
   */
  resumed: z.number().int(),
  /**
   * Wall time in seconds for choosing, building and measuring configurations, excluding the final
   * rounds.
   */
  sweepSeconds: z.number(),
  elapsedSeconds: z.number(),
  /** The result for the rung's own parameter values. */
  baseline: Finalist.nullable(),
  /** Finalists, best first. */
  finalists: z.array(Finalist),
  /** The recommended parameter values; null if no configuration has a time. */
  winner: Parameters.nullable(),
  /** All configurations, best first. Configurations without a time are last. */
  rows: z.array(TuneRow),
  byParameter: z.record(z.string(), z.array(ValueEffect)),
  notes: z.array(Statement),
}
export type TuneReport = z.infer<z.ZodObject<typeof tuneShape>>

/** Returns the rows sorted by time, fastest first. Rows without a time are last. */
export const ranked = <Row extends Pick<TuneRow, 'medianMs'>>(rows: readonly Row[]): Row[] =>
  [...rows].sort((a, b) => (a.medianMs ?? Infinity) - (b.medianMs ?? Infinity))

/**
 * Returns the best and median time for each value of each parameter, over all configurations with
 * that value.
 */
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
