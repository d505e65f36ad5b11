/** Selects an evenly spread sample of a grid's blocks. */

const goldenRatio = (Math.sqrt(5) - 1) / 2

/**
 * Returns `count` distinct numbers below `total`. The numbers are spread evenly, and so is every
 * prefix of the list. The numbers are based on multiples of the golden ratio, so they do not align
 * with a grid's rows. In a 64 × 16 grid, for example, equal steps would select blocks in only one
 * column.
 */
export function spreadOver(total: number, count: number): number[] {
  if (count >= total) return Array.from({ length: total }, (_, number) => number)
  const numbers = new Set<number>()
  for (let step = 1; numbers.size < count; step++)
    numbers.add(Math.floor(((step * goldenRatio) % 1) * total))
  return [...numbers]
}
