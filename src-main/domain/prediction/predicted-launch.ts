/** One launch: runs some of its blocks, replays them on one SM, and takes the rest of the launch to be like them. */
import type { Device } from '../emulator/device'
import { runLaunch } from '../emulator/launch'
import type { Launch, LaunchOptions, LaunchResult } from '../emulator/launch-types'
import type { SmLimits } from '../gpu/sm-limits'
import { atomicDependence } from './data-dependence'
import { blocksOfFirstSm, planLaunch, type LaunchPlan } from './launch-plan'
import type { Ablation } from './ablation'
import type { ParameterValues } from './parameter-table'
import type {
  Limiter,
  PredictedLaunch,
  PredictionWarning,
  Refusal,
  StallReason,
} from './prediction'
import { stallReasons } from './prediction'
import { bytesRead, sharingOf, type FoundSharing } from './sharing'
import { simulateSm, type SmResult } from './sm-simulator'
import { timedCode } from './timed-code'
import { createRecorder, type LaunchTrace } from './warp-trace'
import { hottestAtomics } from './atomics'

/** Steps that are simulated of a launch, if more blocks than fit an SM at a time are to be. */
const simulatedSteps = 1.5e6
/** Warp instructions of all blocks of a wave, in a look at what they share. */
const lookInstructions = 8e5
const [fewestOfWarp, mostOfWarp] = [120, 2000]
/** Warp instructions of all blocks that are compared, if more than two of them are to be. */
const comparedInstructions = 1e6
/** Blocks whose instruction counts may differ by this share and still be alike. */
const alike = 0.02
/** How much of L2 the reads of a wave may fill for the next wave to find them there. */
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
  /** Parts of the model to leave out. */
  readonly ablate: readonly Ablation[]
  readonly registers: number
  readonly staticSharedBytes: number
  /** Cycles between events for a launch of its own, or behind another one. */
  readonly overheadCycles: number
}

export interface LaunchPrediction {
  readonly result: LaunchResult
  readonly predicted: Omit<PredictedLaunch, 'kernel'>
  readonly warnings: readonly PredictionWarning[]
}

/** What simulating blocks costs: their instructions, and the lines that they access. */
const stepsOf = ({ blocks }: LaunchTrace): number =>
  blocks.reduce(
    (sum, { instructions, warps }) =>
      warps.reduce((words, { events }) => words + events.length / 2, sum + instructions),
    1,
  )

const product = ([x, y, z]: Launch['grid']): number => x * y * z

export function predictLaunch(
  device: Device,
  launch: Launch,
  options: LaunchOptions,
  setting: LaunchSetting,
): LaunchPrediction {
  const { values, limits, ablate } = setting
  const plan = planLaunch(
    {
      blocks: product(launch.grid),
      threads: product(launch.block),
      registers: setting.registers,
      staticSharedBytes: setting.staticSharedBytes,
      dynamicSharedBytes: Math.max(0, launch.sharedBytes - setting.staticSharedBytes),
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
  const { result, trace } = clusters === 1 ? firstCluster : record(blocksOfFirstSm(plan, clusters))
  const simulated = Math.floor(trace.blocks.length / plan.shape.clusterBlocks)

  const waveBytes =
    (bytesRead({ blocks: trace.blocks.slice(0, plan.resident * plan.shape.clusterBlocks) }) *
      plan.sms) /
    plan.shape.clusterBlocks /
    shared.readers
  const leftInL2 = waveBytes <= keptShare * values.l2Bytes ? shared.again : 0
  const code = timedCode(launch.code, values, !ablate.includes('control-bits'))
  const simulate = (order: LaunchTrace['blocks'], left: number): SmResult =>
    simulateSm({
      ...{ code, values, trace, order },
      replays: !ablate.includes('l1-replay'),
      ...{ resident: plan.resident, clusterBlocks: plan.shape.clusterBlocks },
      sharing: {
        ...{ sms: plan.sms, readers: shared.readers, leftInL2: left },
        l1Bytes: plan.l1Bytes,
      },
    })
  const sm = simulate(trace.blocks, leftInL2)

  // The rest comes as fast as the last blocks did.
  const rest = Math.max(0, plan.clustersOfSm - simulated)
  const period = rest === 0 ? 0 : periodOf(sm, simulated, plan)
  // Who draws work from a counter has drawn all of it where the others do not run.
  const uneven = draws
    ? { factor: plan.shape.clusterBlocks / plan.shape.blocks, differ: true }
    : unevenness(device, launch, options, plan, result.instructions / simulated)
  const startCycles = plan.shape.blocks / values.blocksPerCycle
  const atomics = hottestAtomics(
    trace,
    (uneven.factor * plan.shape.blocks) / trace.blocks.length,
    values,
  )
  const runCycles = Math.max((sm.cycles + rest * period) * uneven.factor, startCycles, atomics)
  const cycles = setting.overheadCycles + runCycles
  return {
    result,
    warnings: [
      ...(uneven.differ ? (['uneven-blocks'] as const) : []),
      ...(Math.abs(waveBytes / values.l2Bytes - 1) < 0.25 ? (['near-cache-size'] as const) : []),
      ...(atomics > 0.1 * runCycles ? (['atomics'] as const) : []),
    ],
    predicted: describe({
      ...{ plan, sm, cycles, runCycles, atomics, setting },
      scale: (uneven.factor * (simulated + rest)) / simulated,
    }),
  }
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

/** Cycles from the end of one cluster to the end of the next, once all places have been taken again. */
function periodOf({ ends, cycles }: SmResult, simulated: number, { resident }: LaunchPlan): number {
  if (simulated <= resident) return cycles / simulated
  const sorted = ends.slice(0, simulated).sort((a, b) => a - b)
  const from = Math.max(0, simulated - 1 - resident * Math.floor((simulated - 1) / resident))
  return (sorted[simulated - 1]! - sorted[from]!) / Math.max(1, simulated - 1 - from)
}

/** Allocations up to this many bytes are put back between looks at a launch: its counters and flags. */
const mostState = 2 ** 20

function keepState(device: Device): () => void {
  const kept = device.allocations
    .filter(({ bytes }) => bytes <= mostState)
    .map((place) => ({ place, bytes: device.bytes(place).slice() }))
  return () => {
    for (const { place, bytes } of kept) device.bytes(place).set(bytes)
  }
}

/** Whether blocks draw their work from a counter: behind one that ran alone, the next finds nothing to do. */
function drawsWork(device: Device, launch: Launch, options: LaunchOptions, alone: number): boolean {
  const blocks = product(launch.grid)
  if (blocks === 1 || !atomicDependence(launch.code).branches) return false
  const { instructions } = runLaunch(device, { ...launch, blocks: [blocks - 1] }, options)
  return instructions < 0.5 * alone
}

/**
 * Compares the instruction counts of blocks from all over the grid with those that are simulated, `simulated` per
 * cluster. Where all blocks run at a time, the longest one decides; otherwise the SMs share them.
 */
function unevenness(
  device: Device,
  launch: Launch,
  options: LaunchOptions,
  { shape, clustersOfSm, resident }: LaunchPlan,
  simulated: number,
): Unevenness {
  if (shape.blocks === shape.clusterBlocks) return { factor: 1, differ: false }
  const last = shape.blocks / shape.clusterBlocks - 1
  const shares = 4 * simulated > comparedInstructions ? [0.5, 1] : [0.25, 0.5, 0.75, 1]
  const counts = shares.map((share) => {
    const block = Math.floor(share * last) * shape.clusterBlocks
    return runLaunch(device, { ...launch, blocks: [block] }, options).instructions / simulated
  })
  if (counts.every((count) => Math.abs(count - 1) <= alike)) return { factor: 1, differ: false }
  const together = clustersOfSm <= resident
  const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length
  return { factor: together ? Math.max(1, ...counts) : mean, differ: true }
}

interface Unevenness {
  /** By how much the time is to be multiplied. */
  readonly factor: number
  readonly differ: boolean
}

interface Described {
  plan: LaunchPlan
  sm: SmResult
  cycles: number
  runCycles: number
  atomics: number
  /** How many times what was simulated the SM does. */
  scale: number
  setting: LaunchSetting
}

const subCores = 4

/** Of the most used unit, below which latencies decide. */
const busyEnough = 0.6

function describe({ plan, sm, cycles, runCycles, atomics, scale, setting }: Described) {
  const { values } = setting
  const { clusterBlocks } = plan.shape
  // What was counted for the clusters that were simulated, for all of the SM's, per cycle of the launch.
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
