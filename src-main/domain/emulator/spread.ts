/** Chooses a sample of the blocks of a grid. */

const goldenRatio = (Math.sqrt(5) - 1) / 2

/**
 * Returns `count` different numbers below `total`, spread evenly, as is every first part of them. Steps of the golden
 * ratio are out of step with the rows of any grid: equal steps of a 64 × 16 grid would all reach the same column.
 */
export function spreadOver(total: number, count: number): number[] {
  if (count >= total) return Array.from({ length: total }, (_, number) => number)
  const numbers = new Set<number>()
  for (let step = 1; numbers.size < count; step++)
    numbers.add(Math.floor(((step * goldenRatio) % 1) * total))
  return [...numbers]
}
