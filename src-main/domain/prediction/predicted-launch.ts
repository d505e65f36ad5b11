/**
 * Predicts the time of one launch. Some of the blocks run and are replayed on one simulated SM. The
 * result is extrapolated to the remaining blocks.
 */
import type { Device } from '../emulator/device'
import type { Launch, LaunchOptions, LaunchResult } from '../emulator/launch-types'
import { hottestAtomics } from './atomics'
import type { BlockWork } from './block-sample'
import { describe } from './described-launch'
import type { LaunchPlan } from './launch-plan'
import { sampleLaunch, type LaunchSample } from './launch-sample'
import type { LaunchSetting } from './launch-setting'
import {
  removals,
  type PredictedLaunch,
  type PredictionWarning,
  type Removal,
  type StallReason,
} from './prediction'
import { bytesRead } from './sharing'
import { simulateSm, type SmResult } from './sm-simulator'
import { timedCode } from './timed-code'
import type { LaunchTrace } from './warp-trace'

/**
 * Maximum amount of data that a wave can read so that the data stays in L2, as a fraction of L2. If
 * a wave reads more than this amount, the next wave finds none of the data in L2.
 */
const keptShare = 0.8

export interface LaunchPrediction {
  readonly result: LaunchResult
  readonly predicted: Omit<PredictedLaunch, 'kernel'>
  readonly warnings: readonly PredictionWarning[]
}

export function predictLaunch(
  device: Device,
  launch: Launch,
  options: LaunchOptions,
  setting: LaunchSetting,
): LaunchPrediction {
  const { result, sample } = sampleLaunch(device, launch, options, setting)
  return { result, ...timeLaunch(launch.code, sample, setting) }
}

/** Simulates the traced blocks on one SM, and extrapolates the result to the whole launch. */
export function timeLaunch(
  code: Launch['code'],
  { plan, shared, work, trace, instructions }: LaunchSample,
  setting: LaunchSetting,
): Omit<LaunchPrediction, 'result'> {
  const { values, ablate } = setting
  const { clusterBlocks } = plan.shape
  const simulated = Math.floor(trace.blocks.length / clusterBlocks)
  const waveBytes =
    (bytesRead({ blocks: trace.blocks.slice(0, plan.resident * clusterBlocks) }) * plan.sms) /
    clusterBlocks /
    shared.readers
  const leftInL2 = waveBytes <= keptShare * values.l2Bytes ? shared.again : 0
  const timed = timedCode(code, values, !ablate.includes('control-bits'))
  const simulate = (without?: Removal): SmResult =>
    simulateSm({
      ...{ code: timed, trace, order: trace.blocks },
      readsRegisters: !ablate.includes('register-banks'),
      replays: !ablate.includes('l1-replay'),
      values: without === 'latency' ? { ...values, ...noLatency } : values,
      ...{ resident: plan.resident, clusterBlocks },
      sharing: {
        ...{ sms: plan.sms, readers: shared.readers, leftInL2 },
        l1Bytes: plan.l1Bytes,
      },
      ...(without ? { without } : {}),
    })
  const sm = simulate()

  // The remaining clusters are assumed to run at the rate of the last simulated clusters.
  const rest = Math.max(0, plan.clustersOfSm - simulated)
  // If blocks fetch work from a counter, the simulated blocks have done all the work, because no
  // other blocks ran.
  const workFactor = work
    ? workRatio(work, plan, trace, instructions / simulated)
    : clusterBlocks / plan.shape.blocks
  const startCycles = plan.shape.blocks / values.blocksPerCycle
  const atomics = hottestAtomics(
    trace,
    (workFactor * plan.shape.blocks) / trace.blocks.length,
    values,
  )
  const runCyclesOf = (result: SmResult): number => {
    const period = rest === 0 ? 0 : periodOf(result, simulated, plan)
    return Math.max((result.cycles + rest * period) * workFactor, startCycles, atomics)
  }
  const runCycles = runCyclesOf(sm)
  const cycles = setting.overheadCycles + runCycles
  const predicted = describe({
    ...{ plan, sm, cycles, runCycles, atomics, setting },
    scale: (workFactor * (simulated + rest)) / simulated,
  })
  const without = setting.removes
    ? Object.fromEntries(
        removals
          .filter((removal) => isWorthRemoving(predicted.stalls, removal))
          .map((removal) => {
            const left = setting.overheadCycles + runCyclesOf(simulate(removal))
            return [removal, Math.min(cycles, left) / predicted.clockMHz / 1000]
          }),
      )
    : undefined
  return {
    warnings: [
      ...(!work || work.differ ? (['uneven-blocks'] as const) : []),
      ...(Math.abs(waveBytes / values.l2Bytes - 1) < 0.25 ? (['near-cache-size'] as const) : []),
      ...(atomics > 0.1 * runCycles ? (['atomics'] as const) : []),
    ],
    predicted: { ...predicted, ...(without ? { without } : {}) },
  }
}

/** Parameter values that set all memory latencies to 0, without changing the memory bandwidth. */
const noLatency = { latencyL1: 0, latencyL2: 0, latencyDram: 0 }

/** Maps each cause to the stall reasons that it produces. */
const reasonsOf: Readonly<Record<Removal, readonly StallReason[]>> = {
  conflicts: ['short_scoreboard', 'mio_throttle'],
  sectors: ['long_scoreboard', 'lg_throttle'],
  latency: ['long_scoreboard'],
  barriers: ['barrier'],
}
/**
 * Minimum fraction of all warp cycles in which a cause must stall warps. The simulation is repeated
 * without the cause only above this fraction.
 */
const worthRemoving = 0.05

function isWorthRemoving(stalls: Partial<Record<StallReason, number>>, removal: Removal): boolean {
  const all = Object.values(stalls).reduce((sum, each) => sum + each, 1)
  return reasonsOf[removal].reduce((sum, one) => sum + (stalls[one] ?? 0), 0) > worthRemoving * all
}

/**
 * Returns the number of cycles between the ends of two consecutive clusters, once every slot has
 * been reused.
 */
function periodOf({ ends, cycles }: SmResult, simulated: number, { resident }: LaunchPlan): number {
  if (simulated <= resident) return cycles / simulated
  const sorted = ends.slice(0, simulated).sort((a, b) => a - b)
  const from = Math.max(0, simulated - 1 - resident * Math.floor((simulated - 1) / resident))
  return (sorted[simulated - 1]! - sorted[from]!) / Math.max(1, simulated - 1 - from)
}

/**
 * Returns the ratio of the work of all clusters to the work of the simulated clusters. `simulated`
 * is the mean number of instructions per simulated cluster. If all clusters run at the same time,
 * the longest cluster determines the time. If they run in several waves, the mean over the clusters
 * determines the time.
 */
function workRatio(
  work: BlockWork,
  { clustersOfSm, resident, shape: { clusterBlocks } }: LaunchPlan,
  { blocks }: LaunchTrace,
  simulated: number,
): number {
  if (!work.differ) return 1
  if (clustersOfSm > resident) return work.mean / simulated
  let longest = 1
  for (let first = 0; first < blocks.length; first += clusterBlocks) {
    const cluster = blocks.slice(first, first + clusterBlocks)
    longest = Math.max(
      longest,
      cluster.reduce((sum, { instructions }) => sum + instructions, 0),
    )
  }
  return Math.max(1, work.longest / longest)
}
