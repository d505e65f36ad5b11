import { describe, expect, it } from 'vitest'
import {
  meanInterval,
  pBeyond,
  rejected,
  studentCritical,
  studentTail,
} from '../../../src-main/domain/regress/statistics'

describe('Student’s t', () => {
  // From the printed tables.
  it.each([
    [1, 0.005, 63.657],
    [2, 0.005, 9.925],
    [5, 0.025, 2.571],
    [19, 0.005, 2.861],
    [30, 0.005, 2.75],
    [120, 0.005, 2.617],
  ])('with %i degrees leaves %f above its critical value', (degrees, tail, critical) => {
    expect(studentCritical(tail, degrees)).toBeCloseTo(critical, 3)
    expect(studentTail(critical, degrees)).toBeCloseTo(tail, 4)
    expect(studentTail(-critical, degrees)).toBeCloseTo(1 - tail, 4)
  })

  it('has an interval around the mean, and a p value that agrees with it', () => {
    const values = [1, 2, 3, 4]
    const { mean, low, high } = meanInterval(values, 0.99)
    expect(mean).toBe(2.5)
    // 2.5 ± 5.841 · sd / 2
    expect(high - mean).toBeCloseTo((5.841 * Math.sqrt(5 / 3)) / 2, 3)
    expect(mean - low).toBeCloseTo(high - mean)
    const positive = [1.2, 1.1, 1.3, 1.15]
    const interval = meanInterval(positive, 0.99)
    expect(pBeyond(positive, interval.low)).toBeCloseTo(0.01)
    expect(pBeyond([0, 0], 0.1)).toBe(1)
    expect(pBeyond([1, 1], 0.1)).toBe(0)
  })
})

describe('false discovery', () => {
  it('rejects up to the last p value below its step', () => {
    // The steps of 1 % are 0.25, 0.5, 0.75 and 1 %: the third is below its own although the second is not.
    expect(rejected([0.002, 0.006, 0.0074, 0.5], 0.01)).toEqual([true, true, true, false])
    expect(rejected([0.004, 0.6, 0.7, 0.8], 0.01)).toEqual([false, false, false, false])
    expect(rejected([0.009], 0.01)).toEqual([true])
    expect(rejected([], 0.01)).toEqual([])
  })
})
