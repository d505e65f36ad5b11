/**
 * The report of `regress`: one row per rung, with the verdict and the measurements on which the
 * verdict is based. Pure.
 */
import { z } from 'zod'
import { Identifier } from '../ladder/rung'
import { Statement } from '../messages/message'
import { CacheState } from '../session/session'
import { Problem } from '../task/problem'
import { exitCodeOf, measuredVerdicts, regressVerdicts, type RegressVerdict } from './verdict'

const Ratio = z.object({ ratio: z.number(), low: z.number(), high: z.number() })

export const RegressRung = z.object({
  id: Identifier,
  title: z.string(),
  verdict: z.enum(regressVerdicts),
  /**
   * Verdict based only on the times, even if the two builds are identical. Null for an untimed
   * rung.
   */
  byTimes: z.enum(measuredVerdicts).nullable(),
  /**
   * New time divided by old time, with the 99 % interval. Null if the rung was not timed against
   * the old code.
   */
  ratio: z.number().nullable(),
  interval: z.object({ low: z.number(), high: z.number() }).nullable(),
  /**
   * Time of a copy of the old build divided by the old build's time. The ratio's distance from 1
   * shows how much the times of identical code vary.
   */
  sameCode: Ratio.nullable(),
  /**
   * Threshold in percent. A rung is slower or faster only if the whole interval exceeds this
   * threshold.
   */
  thresholdPercent: z.number(),
  /**
   * New SM cycles divided by old SM cycles. Cycles do not depend on the clock rate. Null if
   * unknown.
   */
  cycles: Ratio.nullable(),
  oldMs: z.number().nullable(),
  newMs: z.number().nullable(),
  rounds: z.number().int(),
  /** Whether the compiler input of the old and the new code is identical. */
  sameBuild: z.boolean(),
  /** First measurement of a rung that seemed slower and was therefore measured again. */
  first: Ratio.nullable(),
  /** Reason for a missing verdict, or for a verdict that is not based on times. */
  reason: Statement.nullable(),
})
export type RegressRung = z.infer<typeof RegressRung>

export const OldCode = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('session'), name: z.string(), createdAt: z.iso.datetime() }),
  z.object({ kind: z.literal('revision'), name: z.string(), commit: z.string() }),
])
export type OldCode = z.infer<typeof OldCode>

/** Variation in the times of identical code on this machine, as the median over rungs. */
export const SameCode = z.object({
  percent: z.number(),
  rungs: z.number().int(),
  rounds: z.number().int(),
  measuredAt: z.iso.datetime(),
})
export type SameCode = z.infer<typeof SameCode>

export const regressShape = {
  ladder: Identifier,
  problem: Problem,
  against: OldCode,
  gpu: z.object({
    name: z.string(),
    computeCapability: z.string(),
    driver: z.string().nullable(),
  }),
  /** L2 state when the two builds were timed. */
  cacheState: CacheState,
  /** 0: no rung became slower. 1: a rung became slower or failed. 2: no rung has a verdict. */
  exitCode: z.union([z.literal(0), z.literal(1), z.literal(2)]),
  headline: z.string(),
  /**
   * The requested threshold or this machine's variation for identical code, whichever is larger. A
   * rung's own threshold may be higher than this common threshold.
   */
  thresholdPercent: z.number(),
  askedPercent: z.number(),
  sameCode: SameCode.nullable(),
  confidence: z.number(),
  /** Notes for readers, in addition to the verdicts. */
  notes: z.array(Statement),
  rungs: z.array(RegressRung),
}
export type RegressReport = z.infer<z.ZodObject<typeof regressShape>>

export const roundPercent = (percent: number): string => String(Number(percent.toFixed(2)))

const plural = (count: number): string => (count === 1 ? 'rung' : 'rungs')

/** Returns a one-line summary of all verdicts. */
export function headlineOf(all: readonly RegressVerdict[], thresholdPercent: number): string {
  const count = (...wanted: RegressVerdict[]): number =>
    all.filter((verdict) => wanted.includes(verdict)).length
  const [slower, broken, unresolved] = [count('slower'), count('broken'), count('unresolved')]
  const open = unresolved > 0 ? `; ${unresolved} of ${all.length} could not be decided` : ''
  const by = `by more than ${roundPercent(thresholdPercent)} %`
  switch (exitCodeOf(all)) {
    case 1: {
      const parts = [
        ...(slower > 0
          ? [`${slower} of ${all.length} ${plural(all.length)} got slower ${by}`]
          : []),
        ...(broken > 0 ? [`${broken} of ${all.length} ${plural(all.length)} broke`] : []),
      ]
      return `${parts.join(', ')}${open}`
    }
    case 0:
      return `no rung got slower ${by}${open}`
    case 2:
      return `cannot tell whether any rung got slower ${by}: none could be decided`
  }
}
