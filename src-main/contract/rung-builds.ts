/** The build of an edited rung, and its counters on an emulated GPU. */
import { z } from 'zod'
import { Statement } from '../domain/messages/message'
import { MetricValue } from '../domain/metrics/metrics'
import { DeepProfile } from '../domain/session/deep'
import { PredictedTime } from '../domain/session/predicted'
import { Build, Diagnostic } from '../domain/session/session'

export const RungBuild = z.object({
  built: z.boolean(),
  /** Reason why the rung was not built. */
  reason: Statement.nullable(),
  diagnostics: z.array(Diagnostic),
  build: Build.nullable(),
  /** The target architecture, such as `sm_90`. */
  architecture: z.string().nullable(),
})

export type RungBuild = z.infer<typeof RungBuild>

/** An edited rung's counters at a small problem size that the emulator can run within seconds. */
export const RungCounters = RungBuild.extend({
  /** Name of the emulated GPU. */
  gpu: z.string(),
  /** Problem size of the emulated launch, such as `256³`. */
  at: z.string(),
  /** Metrics by id. Null if the rung was not built or did not finish; `reason` explains why. */
  metrics: z.record(z.string(), MetricValue).nullable(),
  /** Metrics of the original rung, by id. */
  before: z.record(z.string(), MetricValue).nullable(),
  /** Predicted times of the edited and the original rung; null if there is no prediction. */
  predicted: PredictedTime.nullable(),
  predictedBefore: PredictedTime.nullable(),
  /** Problem size of the prediction, such as `512³`; null if there is no prediction. */
  predictedAt: z.string().nullable(),
  /** The counters of the rung's instructions and source lines. */
  profile: DeepProfile.nullable(),
})

export type RungCounters = z.infer<typeof RungCounters>
