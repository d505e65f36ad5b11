import { describe, expect, it } from 'vitest'
import {
  fewestSamples,
  medianInterval,
  quantile,
  ratioInterval,
} from '../../../src-main/domain/analysis/sample-interval'

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1)

/** A generator with a seed, uniform in [0, 1). */
function uniform(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

describe('the interval of a median', () => {
  it('needs six samples', () => {
    expect(fewestSamples).toBe(6)
    expect(medianInterval(upTo(5))).toBeNull()
    expect(medianInterval(upTo(6))).toEqual({ low: 1, high: 6 })
  })

  // Ranks of the 95 % interval, as tables of the sign test have them.
  it.each([
    [8, 1, 8],
    [9, 2, 8],
    [15, 4, 12],
  ])('lies between order statistics: of %i samples, %i and %i', (count, low, high) => {
    expect(medianInterval(upTo(count).toReversed())).toEqual({ low, high })
  })

  it('is never narrower than the quartiles, however many samples there are', () => {
    const samples = upTo(5000)
    const interval = medianInterval(samples)!
    expect(interval).toEqual({ low: quantile(samples, 0.25), high: quantile(samples, 0.75) })
  })

  it('holds the true median at least as often as it says, of a skewed distribution', () => {
    const next = uniform(7)
    const runs = 2000
    let held = 0
    for (let run = 0; run < runs; run += 1) {
      const { low, high } = medianInterval(
        Array.from({ length: 7 }, () => 1 - Math.log(1 - next())),
      )!
      const median = 1 + Math.LN2
      if (low <= median && median <= high) held += 1
    }
    expect(held / runs).toBeGreaterThan(0.95)
  })

  it('divides into that of a ratio', () => {
    expect(ratioInterval({ low: 2, high: 4 }, { low: 4, high: 8 })).toEqual({ low: 1, high: 4 })
  })
})
