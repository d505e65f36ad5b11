/** What a rung that is being edited compiles to, and what it counts on an emulated GPU. */
import { z } from 'zod'
import { Statement } from '../domain/messages/message'
import { MetricValue } from '../domain/metrics/metrics'
import { DeepProfile } from '../domain/session/deep'
import { PredictedTime } from '../domain/session/predicted'
import { Build, Diagnostic } from '../domain/session/session'

export const RungBuild = z.object({
  built: z.boolean(),
  /** Why it was not built. */
  reason: Statement.nullable(),
  diagnostics: z.array(Diagnostic),
  build: Build.nullable(),
  /** The target architecture: `sm_90`. */
  architecture: z.string().nullable(),
})

export type RungBuild = z.infer<typeof RungBuild>

/** At a small size, so that it is a matter of seconds. */
export const RungCounters = RungBuild.extend({
  /** The emulated GPU. */
  gpu: z.string(),
  /** `256³` */
  at: z.string(),
  /** By metric id; null if it was not built or did not run to its end, as `reason` says. */
  metrics: z.record(z.string(), MetricValue).nullable(),
  /** The same of what it is edited from. */
  before: z.record(z.string(), MetricValue).nullable(),
  /** What the timing model predicts for it, and for what it is edited from; null if it can say nothing. */
  predicted: PredictedTime.nullable(),
  predictedBefore: PredictedTime.nullable(),
  /** The size of the prediction, `512³`; null without one. */
  predictedAt: z.string().nullable(),
  /** The machine code, with counters. */
  profile: DeepProfile.nullable(),
})

export type RungCounters = z.infer<typeof RungCounters>
