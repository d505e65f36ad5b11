/**
 * Replaces the timing model with a model that returns results from a test. The emulator itself is
 * not replaced.
 */
import { EventEmitter } from 'node:events'
import type { EmulatorRequest, StartEmulator } from '../src-main/adapters/tools/emulator'
import { emulate, type EmulationJob } from '../src-main/domain/emulation/job'
import type {
  PredictedLaunch,
  PredictionAnswer,
  PredictionGpu,
} from '../src-main/domain/prediction/prediction'
import { parameterTable, type ParameterId } from '../src-main/domain/prediction/parameter-table'

type Model = (job: EmulationJob, gpu: PredictionGpu) => PredictionAnswer

export const emulatorWith =
  (model: Model): StartEmulator =>
  () => {
    const events = new EventEmitter()
    return {
      events,
      send: ({ job, predictOn }: EmulatorRequest) =>
        setImmediate(() =>
          events.emit('message', predictOn ? model(job, predictOn) : emulate(job)),
        ),
      end: () => Promise.resolve(),
      hold: () => undefined,
    }
  }

/**
 * Returns the text of a GPU parameter file. Each value is the midpoint of its plausible range
 * unless the test sets it.
 */
export const parametersText = (over: object = {}, validated = true): string =>
  JSON.stringify({
    ...{ kernel_ladder_gpu: 1, name: 'h200', gpu: 'NVIDIA H200', computeCapability: '9.0' },
    validated,
    values: Object.fromEntries(
      Object.entries({ ...someParameters(), ...over })
        .filter(([, value]) => value !== undefined)
        .map(([id, value]) => [id, { value, evidence: 'assumed', source: 'a test' }]),
    ),
  })

const someParameters = (): Record<ParameterId, number> =>
  Object.fromEntries(
    (Object.keys(parameterTable) as ParameterId[]).map((id) => {
      const [low, high] = parameterTable[id].range
      return [id, (low + high) / 2]
    }),
  ) as Record<ParameterId, number>

/** Returns a predicted launch that spends all cycles on one instruction. */
export const launchOf = (
  { kernel }: { kernel: string },
  ms: number,
  over: Partial<PredictedLaunch> = {},
): PredictedLaunch => ({
  ...{ kernel, ms, cycles: ms * 1.755e6, clockMHz: 1755, limiter: 'latency' },
  utilization: { dram: 0.25, fma: 0.5, latency: 0.1 },
  stalls: { long_scoreboard: 3, wait: 1 },
  achievedOccupancy: 0.5,
  ...{ l1HitRate: 0.25, l2HitRate: null },
  ...{ l2ReadBytes: 100, l2WriteBytes: 20, dramReadBytes: 64, dramWriteBytes: 32 },
  extrapolated: true,
  instructions: [{ executed: 32, share: 1, stalls: { long_scoreboard: 3 } }],
  ...over,
})

/** Returns a prediction whose range extends by `factor` in both directions. */
export const predictionOf = (
  launches: readonly PredictedLaunch[],
  factor = 1.1,
): PredictionAnswer => {
  const ms = launches.reduce((sum, launch) => sum + launch.ms, 0)
  return {
    prediction: {
      ...{ model: 'scoreboard 4', ms, lowMs: ms / factor, highMs: ms * factor },
      ...{ class: 'latency', limiter: 'latency', launches, widened: [] },
    },
  }
}
