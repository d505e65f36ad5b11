/** Executes and traces blocks that represent all blocks of a launch. */
import type { Device } from '../emulator/device'
import { runLaunch } from '../emulator/launch'
import type { Launch, LaunchOptions, LaunchResult } from '../emulator/launch-types'
import { spreadOver } from '../emulator/spread'
import { compareClusters, type BlockWork } from './block-sample'
import { atomicDependence } from './data-dependence'
import { blocksOfClusters, blocksOfFirstSm, planLaunch, type LaunchPlan } from './launch-plan'
import type { LaunchSetting } from './launch-setting'
import type { Refusal } from './prediction'
import { sharingOf, type FoundSharing } from './sharing'
import { createRecorder, type LaunchTrace } from './warp-trace'

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
export class Refused extends Error {
  constructor(
    readonly refusal: Refusal,
    detail: string,
  ) {
    super(detail)
  }
}

/** The blocks of a launch that were executed for its prediction, and their traces. */
export interface LaunchSample {
  readonly plan: LaunchPlan
  readonly shared: FoundSharing
  /** Work of clusters from across the grid, or null if blocks fetch their work from a counter. */
  readonly work: BlockWork | null
  readonly trace: LaunchTrace
  /** Number of instructions that the traced blocks executed. */
  readonly instructions: number
}

/** Sorts block or cluster numbers in the order in which the GPU starts them. */
const inOrder = (numbers: readonly number[]): number[] => numbers.toSorted((a, b) => a - b)

/**
 * Returns the number of simulation steps for the traced blocks. Each instruction is a step, and so
 * is each access to a cache line.
 */
const stepsOf = ({ blocks }: LaunchTrace): number =>
  blocks.reduce(
    (sum, { instructions, warps }) =>
      warps.reduce((words, { events }) => words + events.length / 2, sum + instructions),
    1,
  )

const product = ([x, y, z]: Launch['grid']): number => x * y * z

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
  // If blocks differ, spread the sample across the grid. The blocks of one SM often belong to the
  // same column, and a column may have only short or only long blocks.
  const { result, trace } = work?.differ
    ? record(blocksOfClusters(inOrder(spreadOver(allClusters, clusters)), clusterBlocks))
    : clusters === 1
      ? firstCluster
      : record(blocksOfFirstSm(plan, clusters))
  return { result, sample: { plan, shared, work, trace, instructions: result.instructions } }
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
 * Maximum size in bytes of an allocation that is restored before each run of a launch. Allocations
 * up to this size can contain counters and flags that a run changes.
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
 * Returns whether blocks fetch their work from a counter. With a work counter, a block that runs
 * after another block finds no work.
 */
function drawsWork(device: Device, launch: Launch, options: LaunchOptions, alone: number): boolean {
  const blocks = product(launch.grid)
  if (blocks === 1 || !atomicDependence(launch.code).branches) return false
  const { instructions } = runLaunch(device, { ...launch, blocks: [blocks - 1] }, options)
  return instructions < 0.5 * alone
}
