/** The build of an edited rung, and its counters on an emulated GPU. */
import { z } from 'zod'
import { Statement } from '../domain/messages/message'
import { MetricValue } from '../domain/metrics/metrics'
import { DeepProfile } from '../domain/session/deep'
import { PredictedTime } from '../domain/session/predicted'
import { Build, Diagnostic } from '../domain/session/session'

export const RungBuild = z.object({
  built: z.boolean(),
  /** Why the rung was not built. */
  reason: Statement.nullable(),
  diagnostics: z.array(Diagnostic),
  build: Build.nullable(),
  /** The target architecture, such as `sm_90`. */
  architecture: z.string().nullable(),
})

export type RungBuild = z.infer<typeof RungBuild>

/** Counters at a small size, so that counting takes seconds. */
export const RungCounters = RungBuild.extend({
  /** The emulated GPU. */
  gpu: z.string(),
  /** The size, such as `256³`. */
  at: z.string(),
  /** Metrics by id; null if the rung was not built or did not finish, as `reason` explains. */
  metrics: z.record(z.string(), MetricValue).nullable(),
  /** Metrics of the original rung. */
  before: z.record(z.string(), MetricValue).nullable(),
  /** The timing model's predictions for the edited and the original rung; null if there is none. */
  predicted: PredictedTime.nullable(),
  predictedBefore: PredictedTime.nullable(),
  /** The predicted size, such as `512³`; null without a prediction. */
  predictedAt: z.string().nullable(),
  /** The machine code, with counters. */
  profile: DeepProfile.nullable(),
})

export type RungCounters = z.infer<typeof RungCounters>
