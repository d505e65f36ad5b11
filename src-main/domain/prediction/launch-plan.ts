/**
 * Selects the blocks of a launch to simulate. The results are extrapolated to the blocks that are
 * not simulated.
 */
import { occupancy } from '../gpu/occupancy'
import type { SmLimits } from '../gpu/sm-limits'

export interface LaunchShape {
  readonly blocks: number
  readonly threads: number
  readonly registers: number
  readonly staticSharedBytes: number
  readonly dynamicSharedBytes: number
  /** Number of blocks per cluster. */
  readonly clusterBlocks: number
}

export interface LaunchPlan {
  readonly shape: LaunchShape
  readonly warpsPerBlock: number
  /** Number of SMs that run blocks at the same time. */
  readonly sms: number
  /** Number of blocks of each cluster rank that are resident on an SM at the same time. */
  readonly resident: number
  /**
   * Number of clusters assigned to the busiest SM. Without clusters, each block counts as a cluster
   * of one block.
   */
  readonly clustersOfSm: number
  /** Number of clusters that run at the same time on the whole GPU. */
  readonly clustersPerWave: number
  /** Bytes of L1 that remain after subtracting the blocks' shared memory. */
  readonly l1Bytes: number
}

export function planLaunch(
  shape: LaunchShape,
  limits: SmLimits,
  { smCount, l1Bytes }: { smCount: number; l1Bytes: number },
): LaunchPlan | null {
  const { blocks, clusterBlocks } = shape
  const { blocksPerSm, warpsPerBlock, allocated } = occupancy(limits, shape)
  if (blocksPerSm === 0) return null
  const clusters = blocks / clusterBlocks
  // SMs are grouped so that each group has one SM per block of a cluster.
  const groups = Math.max(1, Math.floor(smCount / clusterBlocks))
  const clustersOfSm = Math.ceil(clusters / groups)
  const resident = Math.min(blocksPerSm, clustersOfSm)
  const shared = resident * allocated.sharedBytesPerBlock
  const carveOut = limits.carveOuts.find((bytes) => bytes >= shared) ?? limits.sharedPerSm
  return {
    ...{ shape, warpsPerBlock, resident, clustersOfSm },
    sms: Math.min(groups, clusters) * clusterBlocks,
    clustersPerWave: Math.min(clusters, groups * blocksPerSm),
    l1Bytes: Math.max(0, l1Bytes - carveOut),
  }
}

/**
 * Returns the blocks of the first `clusters` clusters that run on the first SM, cluster by cluster.
 */
export function blocksOfFirstSm(plan: LaunchPlan, clusters: number): number[] {
  const { sms, shape } = plan
  const { clusterBlocks } = shape
  const groups = sms / clusterBlocks
  const numbers: number[] = []
  for (let cluster = 0; cluster < clusters; cluster++)
    for (let rank = 0; rank < clusterBlocks; rank++)
      numbers.push(Math.floor(cluster * groups) * clusterBlocks + rank)
  return numbers.filter((number) => number < shape.blocks)
}

/** Returns the blocks of the given clusters, cluster by cluster. */
export const blocksOfClusters = (clusters: readonly number[], clusterBlocks: number): number[] =>
  clusters.flatMap((cluster) =>
    Array.from({ length: clusterBlocks }, (_, rank) => cluster * clusterBlocks + rank),
  )

/** Returns the SM that runs a block, assuming that all blocks of a wave start together. */
export const smOfBlock = ({ sms, shape: { clusterBlocks } }: LaunchPlan, block: number): number =>
  (Math.floor(block / clusterBlocks) % (sms / clusterBlocks)) * clusterBlocks +
  (block % clusterBlocks)
