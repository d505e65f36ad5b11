/** What `regress` found: one row per rung, and how it was decided. Pure. */
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
  /** The verdict of the times alone, which take no account of builds being the same; null if it was not timed. */
  byTimes: z.enum(measuredVerdicts).nullable(),
  /** The new time over the old, and its 99 % interval; null if it was not timed against the old code. */
  ratio: z.number().nullable(),
  interval: z.object({ low: z.number(), high: z.number() }).nullable(),
  /** A copy of the old build over the old build: how far the same code of this rung differs from itself. */
  sameCode: Ratio.nullable(),
  /** What the whole interval has to exceed for slower or faster. */
  thresholdPercent: z.number(),
  /** The new over the old of SM cycles, which do not change with the clock rate; null where they are unknown. */
  cycles: Ratio.nullable(),
  oldMs: z.number().nullable(),
  newMs: z.number().nullable(),
  rounds: z.number().int(),
  /** Old and new were compiled from the same input. */
  sameBuild: z.boolean(),
  /** What was measured at first, if it was measured again because it seemed slower. */
  first: Ratio.nullable(),
  /** Why there is no verdict, or none from times. */
  reason: Statement.nullable(),
})
export type RegressRung = z.infer<typeof RegressRung>

export const OldCode = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('session'), name: z.string(), createdAt: z.iso.datetime() }),
  z.object({ kind: z.literal('revision'), name: z.string(), commit: z.string() }),
])
export type OldCode = z.infer<typeof OldCode>

/** How far the same code differs from itself on this machine: the median over rungs. */
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
  /** What L2 held when both were timed. */
  cacheState: CacheState,
  /** 0 nothing got slower, 1 something got slower or broke, 2 nothing could be decided. */
  exitCode: z.union([z.literal(0), z.literal(1), z.literal(2)]),
  headline: z.string(),
  /** The larger of what was asked for and what the same code does on this machine; a rung's own may be larger. */
  thresholdPercent: z.number(),
  askedPercent: z.number(),
  sameCode: SameCode.nullable(),
  confidence: z.number(),
  /** What the reader should know in addition to the verdicts. */
  notes: z.array(Statement),
  rungs: z.array(RegressRung),
}
export type RegressReport = z.infer<z.ZodObject<typeof regressShape>>

export const roundPercent = (percent: number): string => String(Number(percent.toFixed(2)))

const plural = (count: number): string => (count === 1 ? 'rung' : 'rungs')

/** The fold of the rows, in words. */
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
