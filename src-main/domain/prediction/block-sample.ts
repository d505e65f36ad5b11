/** Samples the blocks of a launch, to learn whether they do the same amount of work and how much it is. */
import { spreadOver } from '../emulator/spread'

/** Relative difference of instruction counts up to which blocks count as alike. */
const alike = 0.02
/** Clusters compared first, at least and at most, within a limit of warp instructions. */
const [fewestFirst, mostFirst, firstInstructions] = [2, 12, 1e6]
/** Clusters compared if those differ, at least and at most, within a limit of warp instructions. */
const [fewest, most, comparedInstructions] = [4, 24, 6e6]

export interface BlockWork {
  readonly differ: boolean
  /** Warp instructions per cluster: mean and maximum of the sample. */
  readonly mean: number
  readonly longest: number
  /** Standard error of the mean, as a fraction of it. */
  readonly error: number
}

/**
 * Compares clusters across the grid with each other and with one that executed `known` instructions. `instructionsOf`
 * runs a cluster.
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
  // A sample of all clusters has no error.
  const error =
    counts.length === clusters ? 0 : Math.sqrt(variance / counts.length) / Math.max(1, mean)
  return { differ, mean, longest: Math.max(...counts), error }
}
