/**
 * Predicts the time of a rung. The rung's launches are predicted in order by simulating some of the
 * blocks of each launch.
 */
import type { EmulationJob } from '../emulation/job'
import { deviceFor, giveBack, loadJob, unwritten } from '../emulation/job-memory'
import { OutOfDeviceMemory } from '../emulator/device'
import { runLaunch } from '../emulator/launch'
import { linkRung, staticShared, type MemoryOperation } from '../emulator/rung'
import { pollingLoops } from '../emulator/spin-loops'
import { otherBlocksShared } from '../emulator/memory-steps'
import { Halt, type HaltReason } from '../emulator/warp'
import { smLimits } from '../gpu/sm-limits'
import { ablatedValues } from './ablation'
import { dataDependence } from './data-dependence'
import { Refused } from './launch-sample'
import { predictLaunch } from './predicted-launch'
import {
  predictionModel,
  removals,
  type PredictedLaunch,
  type PredictionAnswer,
  type PredictionGpu,
  type PredictionWarning,
  type Refusal,
} from './prediction'
import { classOf, rangeOf } from './ranges'

/**
 * Returns the prediction for a rung on a GPU with the given parameters, or the reason that no
 * prediction is possible.
 */
export function predict(job: EmulationJob, gpu: PredictionGpu): PredictionAnswer {
  const { ablate = [] } = gpu
  const values = ablatedValues(gpu.values, ablate)
  const architecture = job.machineCode[0]?.architecture ?? 0
  const limits = smLimits((architecture / 10).toFixed(1))
  if (!limits) return { refused: 'halted', detail: `sm_${architecture}` }
  const launches: PredictedLaunch[] = []
  const warnings = new Set<PredictionWarning>(gpu.validated ? [] : ['not-validated'])
  const device = deviceFor(job)
  let timed = false
  try {
    const { places, workspace, reset } = loadJob(job, device)
    const kernels = new Map(
      job.machineCode.flatMap((module) => module.kernels.map((one) => [one.name, one] as const)),
    )
    const rung = linkRung({
      ...{ device, machineCode: job.machineCode, launches: job.launches, memory: job.memory },
      ...(job.prepared ? { prepared: job.prepared } : {}),
      ...{ buffers: places, symbols: job.symbols },
      ...(job.stackBytes === null ? {} : { stackBytes: job.stackBytes }),
      options: { limit: job.limit, checks: false, written: workspace ? [workspace] : [] },
      execute(on, launch, options) {
        if (!timed) return runLaunch(on, launch, options)
        const kernel = kernels.get(launch.kernel)!
        if (pollingLoops(launch.code).size > 0) throw new Refused('spins', launch.kernel)
        const dependence = dataDependence(launch.code)
        if (dependence.addresses || dependence.branches) warnings.add('data-dependent')
        const {
          result,
          predicted,
          warnings: own,
        } = predictLaunch(on, launch, options, {
          ...{ values, limits, ablate },
          registers: kernel.registers ?? 0,
          staticSharedBytes: staticShared(kernel, architecture),
          removes: gpu.removes ?? false,
          overheadCycles: launches.length === 0 ? values.launchCycles : values.launchGapCycles,
        })
        launches.push({ kernel: launch.kernel, ...predicted })
        for (const warning of own) warnings.add(warning)
        return result
      },
    })
    if (job.prepared) {
      for (const index of job.buffers.keys()) device.bytes(places.get(index + 1)!).fill(unwritten)
      rung.prepare()
    }
    reset('contents')
    timed = true
    rung.run()
  } catch (error) {
    if (error instanceof Refused) return { refused: error.refusal, detail: error.message }
    if (error instanceof Halt)
      return { refused: refusalOf(error.reason, error.message), detail: error.message }
    if (error instanceof OutOfDeviceMemory || error instanceof RangeError)
      return { refused: 'halted', detail: error.message }
    throw error
  } finally {
    giveBack(job, device)
  }
  if (launches.length === 0) return { refused: 'halted', detail: 'no launch' }
  const between = memoryMs(job.memory, gpu)
  const ms = launches.reduce((sum, launch) => sum + launch.ms, between)
  const without = Object.fromEntries(
    removals.flatMap((removal) =>
      launches.some((launch) => launch.without?.[removal] !== undefined)
        ? [
            [
              removal,
              launches.reduce(
                (sum, launch) => sum + (launch.without?.[removal] ?? launch.ms),
                between,
              ),
            ],
          ]
        : [],
    ),
  )
  const predictionClass = classOf(launches)
  const widened = [...warnings]
  const longest = launches.reduce((a, b) => (b.ms > a.ms ? b : a))
  return {
    prediction: {
      ...{ model: predictionModel, ms, class: predictionClass, launches, widened },
      ...rangeOf(ms, predictionClass, widened),
      limiter: longest.limiter,
      ...(gpu.removes ? { without } : {}),
    },
  }
}

const refusalsByHalt: Partial<Record<HaltReason, Refusal>> = { 'too-long': 'too-long' }
const refusalsByDetail: Record<string, Refusal> = { [otherBlocksShared]: 'distributed-shared' }

const refusalOf = (halt: HaltReason, detail: string): Refusal =>
  refusalsByHalt[halt] ?? refusalsByDetail[detail] ?? 'halted'

/** Returns the time that the fills and copies between launches take. */
function memoryMs(memory: readonly MemoryOperation[], { values }: PredictionGpu): number {
  return memory.reduce((sum, { bytes, from }) => {
    const moved =
      bytes / values.dramWriteBytesPerCycle + (from ? bytes / values.dramBytesPerCycle : 0)
    return sum + (values.launchGapCycles + moved) / values.clockMHz / 1000
  }, 0)
}
