/** Budgets of the benchmarks: a figure is set beside what is allowed, and one that is over ends the run with 1. */
import { describe, expect, it } from 'vitest'
import { budget, budgetTally } from '../../scripts/bench/budgets.mjs'

describe('a figure', () => {
  it('at its budget is met, and above it is over', () => {
    const { judge, summary } = budgetTally()
    const { most } = budget('interactive')
    expect(judge('interactive', most)).toBe('met, of 1000 ms')
    expect(judge('interactive', most + 1)).toBe('over, of 1000 ms')
    expect(summary().over).toBe(1)
  })

  it('that is none has met nothing', () => {
    const { judge, summary } = budgetTally()
    judge('slowFrames', Number.NaN, 'ladder')
    expect(summary().over).toBe(1)
  })
})

it('the summary has a line for each figure, with the place it was taken at', () => {
  const { judge, summary } = budgetTally()
  judge('slowFrames', 0, 'ladder')
  judge('slowFrames', 3, 'matrix')
  judge('htmlSize', 1.166)
  expect(summary().lines).toEqual([
    'met   Frames over 32 ms, ladder: 0 of 0 frames',
    'over  Frames over 32 ms, matrix: 3 of 0 frames',
    'met   HTML report of 14 deep rungs: 1.17 of 2 MB',
  ])
})
