/**
 * Predicts one rung with the timing model. Estimates the rung's counters if a size is too large for
 * a complete emulation.
 */
import { message, type Statement } from '../../domain/messages/message'
import type { MetricValue } from '../../domain/metrics/metrics'
import type { EmulationAnswer } from '../../domain/emulation/job'
import type { Counts } from '../../domain/emulator/warp'
import type { PredictionAnswer, Refusal } from '../../domain/prediction/prediction'
import type { PredictedTime } from '../../domain/session/predicted'
import type { Problem } from '../../domain/task/problem'
import type { EmulationSettings, ReadyRung } from './emulate'

const refused: Readonly<Record<Refusal, (detail: string) => Statement>> = {
  spins: () => message('prediction.spins'),
  uneven: () => message('prediction.uneven'),
  'distributed-shared': () => message('prediction.distributedShared'),
  'too-long': () => message('prediction.tooLong'),
  halted: (detail) => message('prediction.halted', { detail }),
}

/**
 * Returns the predicted time, or the reason why there is none. `problem` is set if the predicted
 * problem differs from the session's problem.
 */
export function predictedTime(
  answer: PredictionAnswer,
  problem: Problem | null,
): { predicted: PredictedTime } | { notPredicted: Statement } {
  if ('refused' in answer) return { notPredicted: refused[answer.refused](answer.detail) }
  const { ms, lowMs, highMs, limiter, model, widened, launches, without, ...rest } =
    answer.prediction
  return {
    predicted: {
      ...{ evidence: 'predicted', ms, lowMs, highMs, limiter, model, class: rest.class },
      widened: [...widened],
      extrapolated: launches.some(({ extrapolated }) => extrapolated),
      ...(without && Object.keys(without).length > 0 ? { without } : {}),
      ...(problem ? { problem } : {}),
    },
  }
}

const times = (counts: Counts, factor: number): Counts =>
  Object.fromEntries(
    Object.entries(counts).map(([name, values]) => [
      name,
      (values as Float64Array).map((value) => value * factor),
    ]),
  ) as unknown as Counts

/**
 * Estimates each launch's counts from a few of its blocks. Returns null if these blocks do not
 * finish.
 */
export async function sampledCounts(
  { pool }: EmulationSettings,
  { job }: ReadyRung,
): Promise<Counts[] | null> {
  const { kernels, stop }: EmulationAnswer = await pool.run({ ...job, sample: true })
  if (stop) return null
  return kernels.map(({ counts, blocks }, index) => {
    const [x, y, z] = job.launches[index]!.grid
    return times(counts, (x * y * z) / blocks)
  })
}

/** Marks counters that were extrapolated from a few emulated blocks. */
export const extrapolated = (
  metrics: Readonly<Record<string, MetricValue>>,
): Record<string, MetricValue> =>
  Object.fromEntries(
    Object.entries(metrics).map(([id, value]) => [
      id,
      value.evidence === 'emulated'
        ? { ...value, evidence: 'predicted' as const, reason: message('prediction.sampled') }
        : value,
    ]),
  )
