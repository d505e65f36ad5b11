/**
 * Estimates the work of a launch's blocks from a sample. Determines whether all blocks do the same
 * amount of work.
 */
import { spreadOver } from '../emulator/spread'

/** Maximum relative difference between instruction counts that are considered equal. */
const alike = 0.02
/**
 * Minimum and maximum number of clusters in the first comparison, and the limit on their warp
 * instructions.
 */
const [fewestFirst, mostFirst, firstInstructions] = [2, 12, 1e6]
/**
 * Minimum and maximum number of clusters to compare if the first clusters differ, and the limit on
 * their warp instructions.
 */
const [fewest, most, comparedInstructions] = [4, 24, 6e6]

export interface BlockWork {
  readonly differ: boolean
  /** Mean and maximum number of warp instructions per cluster in the sample. */
  readonly mean: number
  readonly longest: number
  /** Standard error of the mean, divided by the mean. */
  readonly error: number
}

/**
 * Compares a sample of clusters, spread across the grid, with a cluster that executed `known`
 * instructions. `instructionsOf` runs a cluster and returns its instruction count.
 */
export function compareClusters(
  clusters: number,
  known: number,
  instructionsOf: (cluster: number) => number,
): BlockWork {
  const first = Math.min(mostFirst, Math.max(fewestFirst, Math.floor(firstInstructions / known)))
  const sample = spreadOver(clusters, most)
  const counts: number[] = []
  let compared = 0
  const take = (cluster: number): void => {
    const count = instructionsOf(cluster)
    counts.push(count)
    compared += count
  }
  sample.slice(0, first).forEach(take)
  const differ = counts.some((count) => Math.abs(count / known - 1) > alike)
  if (!differ) return { differ, mean: known, longest: known, error: 0 }
  for (const cluster of sample.slice(first))
    if (counts.length < fewest || compared < comparedInstructions) take(cluster)
  const mean = compared / counts.length
  const variance =
    counts.reduce((sum, count) => sum + (count - mean) ** 2, 0) / Math.max(1, counts.length - 1)
  // If the sample includes all clusters, the mean has no error.
  const error =
    counts.length === clusters ? 0 : Math.sqrt(variance / counts.length) / Math.max(1, mean)
  return { differ, mean, longest: Math.max(...counts), error }
}
