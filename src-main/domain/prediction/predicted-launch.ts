/**
 * Predicts the time of one launch. It runs some of the blocks, replays them on one simulated SM,
 * and extrapolates to the other blocks.
 */
import type { Device } from '../emulator/device'
import { runLaunch } from '../emulator/launch'
import type { Launch, LaunchOptions, LaunchResult } from '../emulator/launch-types'
import type { SmLimits } from '../gpu/sm-limits'
import { atomicDependence } from './data-dependence'
import { spreadOver } from '../emulator/spread'
import { compareClusters, type BlockWork } from './block-sample'
import { blocksOfClusters, blocksOfFirstSm, planLaunch, type LaunchPlan } from './launch-plan'
import type { Ablation } from './ablation'
import type { ParameterValues } from './parameter-table'
import type {
  Limiter,
  PredictedLaunch,
  PredictionWarning,
  Refusal,
  Removal,
  StallReason,
} from './prediction'
import { removals, stallReasons } from './prediction'
import { bytesRead, sharingOf, type FoundSharing } from './sharing'
import { simulateSm, type SmResult } from './sm-simulator'
import { timedCode } from './timed-code'
import { createRecorder, type LaunchTrace } from './warp-trace'
import { hottestAtomics } from './atomics'

/**
 * Maximum number of simulated steps per launch. The blocks that fit on an SM at the same time are
 * always simulated.
 */
const simulatedSteps = 1.5e6
/** Maximum number of warp instructions for estimating which data the blocks of a wave share. */
const lookInstructions = 8e5
const [fewestOfWarp, mostOfWarp] = [120, 2000]
/**
 * Maximum relative standard error of the mean work per block. Launches with a larger error are
 * rejected.
 */
const mostUneven = 0.25
/**
 * Maximum size of the data that a wave reads, as a fraction of L2. With more data, the next wave
 * does not find the data in L2.
 */
const keptShare = 0.8

export class Refused extends Error {
  constructor(
    readonly refusal: Refusal,
    detail: string,
  ) {
    super(detail)
  }
}

export interface LaunchSetting {
  readonly values: ParameterValues
  readonly limits: SmLimits
  /** Parts of the model to disable. */
  readonly ablate: readonly Ablation[]
  readonly registers: number
  readonly staticSharedBytes: number
  /** Whether to repeat the simulation without each cause of stalls. */
  readonly removes: boolean
  /**
   * Overhead of a launch: the cycles between two events around an empty launch. The value is
   * different for a launch that follows another launch.
   */
  readonly overheadCycles: number
}

export interface LaunchPrediction {
  readonly result: LaunchResult
  readonly predicted: Omit<PredictedLaunch, 'kernel'>
  readonly warnings: readonly PredictionWarning[]
}

/** Sorts block or cluster numbers in the order in which the GPU starts them. */
const inOrder = (numbers: readonly number[]): number[] => numbers.toSorted((a, b) => a - b)

/**
 * Returns the number of simulation steps for these blocks. It counts their instructions and the
 * lines that they access.
 */
const stepsOf = ({ blocks }: LaunchTrace): number =>
  blocks.reduce(
    (sum, { instructions, warps }) =>
      warps.reduce((words, { events }) => words + events.length / 2, sum + instructions),
    1,
  )

const product = ([x, y, z]: Launch['grid']): number => x * y * z

/** The blocks of a launch that were executed for its prediction, and their traces. */
export interface LaunchSample {
  readonly plan: LaunchPlan
  readonly shared: FoundSharing
  /** Work of clusters from across the grid, or null if blocks fetch their work from a counter. */
  readonly work: BlockWork | null
  readonly trace: LaunchTrace
  /** Number of instructions of the traced blocks. */
  readonly instructions: number
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

/** Executes and traces some blocks of the launch. */
export function sampleLaunch(
  device: Device,
  launch: Launch,
  options: LaunchOptions,
  { values, limits, registers, staticSharedBytes }: LaunchSetting,
): { result: LaunchResult; sample: LaunchSample } {
  const plan = planLaunch(
    {
      blocks: product(launch.grid),
      threads: product(launch.block),
      ...{ registers, staticSharedBytes },
      dynamicSharedBytes: Math.max(0, launch.sharedBytes - staticSharedBytes),
      clusterBlocks: launch.clusterBlocks ?? 1,
    },
    limits,
    { smCount: values.smCount, l1Bytes: values.l1Bytes },
  )
  if (!plan) throw new Refused('too-long', 'no block fits an SM')
  const restore = keepState(device)
  const record = (blocks: readonly number[], mostInstructions?: number) => {
    restore()
    const recorder = createRecorder(mostInstructions)
    const result = runLaunch(device, { ...launch, blocks }, { ...options, trace: recorder.trace })
    return { result, trace: recorder.done() }
  }

  const shared = lookAtSharing(plan, (blocks, most) => record(blocks, most).trace)
  const firstCluster = record(blocksOfFirstSm(plan, 1))
  const affordable = Math.floor(simulatedSteps / stepsOf(firstCluster.trace))
  const draws = drawsWork(device, launch, options, firstCluster.result.instructions)
  if (draws && plan.resident > 1) throw new Refused('uneven', launch.kernel)
  const clusters = Math.min(plan.clustersOfSm, Math.max(plan.resident, affordable))
  const { clusterBlocks } = plan.shape
  const allClusters = plan.shape.blocks / clusterBlocks
  const work = draws
    ? null
    : compareClusters(allClusters, firstCluster.result.instructions, (cluster) => {
        const blocks = blocksOfClusters([cluster], clusterBlocks)
        return runLaunch(device, { ...launch, blocks }, options).instructions
      })
  if (work && work.error > mostUneven) throw new Refused('uneven', launch.kernel)
  // The blocks of one SM often belong to the same column of the grid. Therefore, they may all be
  // short or all be long.
  const { result, trace } = work?.differ
    ? record(blocksOfClusters(inOrder(spreadOver(allClusters, clusters)), clusterBlocks))
    : clusters === 1
      ? firstCluster
      : record(blocksOfFirstSm(plan, clusters))
  return { result, sample: { plan, shared, work, trace, instructions: result.instructions } }
}

/** Simulates the traced blocks on one SM, and extrapolates to the launch. */
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

/** Memory parameters without latency. The bandwidth of the memory does not change. */
const noLatency = { latencyL1: 0, latencyL2: 0, latencyDram: 0 }

/** Maps each cause to the stall reasons that it produces. */
const reasonsOf: Readonly<Record<Removal, readonly StallReason[]>> = {
  conflicts: ['short_scoreboard', 'mio_throttle'],
  sectors: ['long_scoreboard', 'lg_throttle'],
  latency: ['long_scoreboard'],
  barriers: ['barrier'],
}
/**
 * Minimum fraction of all warp cycles that a cause must stall. Otherwise, the simulation is not
 * repeated without that cause.
 */
const worthRemoving = 0.05

function isWorthRemoving(stalls: Partial<Record<StallReason, number>>, removal: Removal): boolean {
  const all = Object.values(stalls).reduce((sum, each) => sum + each, 1)
  return reasonsOf[removal].reduce((sum, one) => sum + (stalls[one] ?? 0), 0) > worthRemoving * all
}

function lookAtSharing(
  plan: LaunchPlan,
  record: (blocks: readonly number[], mostInstructions: number) => LaunchTrace,
): FoundSharing {
  const { shape, clustersPerWave, warpsPerBlock } = plan
  const wave = clustersPerWave * shape.clusterBlocks
  const most = Math.min(
    mostOfWarp,
    Math.max(fewestOfWarp, Math.floor(lookInstructions / (wave * warpsPerBlock))),
  )
  const blocks = (first: number) =>
    Array.from({ length: Math.min(wave, shape.blocks - first) }, (_, index) => first + index)
  if (plan.sms === 1) return { readers: 1, again: 0 }
  const firstWave = record(blocks(0), most)
  const secondWave = shape.blocks > wave ? record(blocks(wave), most) : null
  return sharingOf(plan, firstWave, secondWave)
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
 * Maximum size in bytes of an allocation that is restored before each run of a launch. Such small
 * allocations include counters and flags.
 */
const mostState = 2 ** 20

function keepState(device: Device): () => void {
  const kept = device.allocations
    .filter(({ bytes }) => bytes <= mostState)
    .map((place) => ({ place, bytes: device.bytes(place).slice() }))
  return () => {
    for (const { place, bytes } of kept) device.bytes(place).set(bytes)
  }
}

/**
 * Returns whether blocks fetch their work from a counter. If so, a block that runs after another
 * block finds no work.
 */
function drawsWork(device: Device, launch: Launch, options: LaunchOptions, alone: number): boolean {
  const blocks = product(launch.grid)
  if (blocks === 1 || !atomicDependence(launch.code).branches) return false
  const { instructions } = runLaunch(device, { ...launch, blocks: [blocks - 1] }, options)
  return instructions < 0.5 * alone
}

/**
 * Returns the ratio of the work of all clusters to the work of the simulated clusters. `simulated`
 * is the mean number of instructions per simulated cluster. If all clusters run at the same time,
 * the longest cluster determines the time. Otherwise, the mean over the clusters determines the
 * time.
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

interface Described {
  plan: LaunchPlan
  sm: SmResult
  cycles: number
  runCycles: number
  atomics: number
  /** Ratio of the SM's work to the simulated work. */
  scale: number
  setting: LaunchSetting
}

const subCores = 4

/**
 * Minimum utilization of the busiest unit for that unit to be the limiter. Below it, latency is the
 * limiter.
 */
const busyEnough = 0.6

function describe({ plan, sm, cycles, runCycles, atomics, scale, setting }: Described) {
  const { values } = setting
  const { clusterBlocks } = plan.shape
  // Factor that converts the counts of the simulated clusters to all clusters of the SM, per cycle
  // of the launch.
  const perCycle = scale / (runCycles * clusterBlocks)
  const ofPipe = (busy: number): number => (busy * perCycle) / subCores
  const { pipeBusy } = sm
  const utilization: Partial<Record<Limiter, number>> = {
    issue: (sm.issued * perCycle) / subCores,
    fma: ofPipe((pipeBusy.fma + pipeBusy.imad) / 2),
    alu: ofPipe(pipeBusy.alu),
    fp16: ofPipe(pipeBusy.fp16),
    fp64: ofPipe(pipeBusy.fp64),
    xu: ofPipe(pipeBusy.xu),
    tensor: ofPipe(pipeBusy.tensor),
    lsu: ofPipe(pipeBusy.lsu),
    l1: sm.l1Busy * perCycle,
    l2: Math.max(sm.l2Busy, sm.portBusy) * perCycle,
    dram: sm.dramBusy * perCycle,
    ...(atomics > 0 ? { atomics: Math.min(1, atomics / runCycles) } : {}),
  }
  const [busiest, most] = (Object.entries(utilization) as [Limiter, number][]).reduce((a, b) =>
    b[1] > a[1] ? b : a,
  )
  const stalls: Partial<Record<StallReason, number>> = {}
  for (const [index, reason] of stallReasons.entries()) {
    let sum = 0
    for (let at = index; at < sm.stalls.length; at += stallReasons.length) sum += sm.stalls[at]!
    if (sum > 0) stalls[reason] = sum / sm.issued
  }
  const stalled = Object.values(stalls).reduce((sum, each) => sum + each, 0)
  const limiter: Limiter =
    setting.overheadCycles > runCycles
      ? 'launch'
      : most >= busyEnough
        ? busiest
        : (stalls.barrier ?? 0) > 0.4 * stalled
          ? 'barrier'
          : 'latency'
  const clockMHz =
    values.clockMHz - (values.clockMHz - values.clockTensorMHz) * Math.min(1, utilization.tensor!)
  const traffic = (bytes: number): number => (bytes * scale * plan.sms) / clusterBlocks
  const warpCycles = sm.warpCycles * scale
  return {
    ...{ cycles, clockMHz, limiter, utilization, stalls },
    ms: cycles / clockMHz / 1000,
    achievedOccupancy: Math.min(
      1,
      warpCycles / clusterBlocks / runCycles / (setting.limits.threadsPerSm / 32),
    ),
    l1HitRate: sm.traffic.l1Sectors > 0 ? sm.traffic.l1Hits / sm.traffic.l1Sectors : null,
    l2HitRate: sm.traffic.l2Sectors > 0 ? sm.traffic.l2Hits / sm.traffic.l2Sectors : null,
    l2ReadBytes: traffic(sm.traffic.l2ReadBytes),
    l2WriteBytes: traffic(sm.traffic.l2WriteBytes),
    dramReadBytes: traffic(sm.traffic.dramReadBytes),
    dramWriteBytes: traffic(sm.traffic.dramWriteBytes),
    extrapolated: scale !== 1,
    instructions: instructionsOf(sm, scale * (plan.sms / clusterBlocks)),
  }
}

function instructionsOf({ executed, stalls, issued }: SmResult, scale: number) {
  let all = issued
  for (const each of stalls) all += each
  return Array.from(executed, (count, at) => {
    const own: Partial<Record<StallReason, number>> = {}
    let sum = count
    for (const [index, reason] of stallReasons.entries()) {
      const cycles = stalls[at * stallReasons.length + index]!
      if (cycles === 0) continue
      sum += cycles
      own[reason] = cycles / Math.max(1, count)
    }
    return { executed: count * scale, share: sum / Math.max(1, all), stalls: own }
  })
}
