/** Predicts how long a rung takes. */
import type { EmulationJob } from '../emulation/job'
import type { PredictionAnswer, PredictionGpu } from './prediction'

export function predict(_job: EmulationJob, _gpu: PredictionGpu): PredictionAnswer {
  throw new Error('The timing model is not part of this build.')
}
