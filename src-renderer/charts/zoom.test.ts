/** Tests zooming and panning of axes. */
import { describe, expect, it } from 'vitest'
import { beyondFrame, logTicks, pannedSpan, unzoomed, valueAt, wholeAxis, zoomedSpan } from './zoom'
import { withZoom } from './zoom-axes'

describe('zooming', () => {
  it('keeps the value under the pointer in place on linear and logarithmic axes', () => {
    for (const log of [false, true]) {
      const axis = { min: 1, max: 10_000, log }
      const span = zoomedSpan(wholeAxis, 4, 0.75, wholeAxis)
      // Zooming keeps the value at three quarters of the visible range in place.
      const [from, to] = span
      expect(valueAt(axis, from + 0.75 * (to - from))).toBeCloseTo(valueAt(axis, 0.75), 6)
      expect(to - from).toBeCloseTo(0.25, 9)
    }
  })

  it('stays within its limits and never shows an empty range', () => {
    expect(zoomedSpan(wholeAxis, 0.1, 0.5, wholeAxis)).toEqual([0, 1])
    const deep = zoomedSpan([0.5, 0.6], 1e9, 0.5, wholeAxis)
    expect(deep[1] - deep[0]).toBeCloseTo(1 / 50, 9)
    expect(pannedSpan([0.5, 0.75], 9, wholeAxis)).toEqual([0.75, 1])
    expect(zoomedSpan(wholeAxis, 0.5, 0, beyondFrame)).toEqual([0, 2])
  })

  it("limits an option's axes to the visible range, and rounds category axes to whole categories", () => {
    const option = {
      xAxis: { type: 'log' as const, min: 1, max: 10_000, interval: 5 },
      yAxis: { type: 'category' as const, data: ['a', 'b', 'c', 'd'] },
    }
    expect(withZoom(option, { x: [0.25, 0.5], y: [0.25, 0.75] })).toEqual({
      xAxis: [expect.objectContaining({ min: 10, max: 100, interval: undefined })],
      yAxis: [expect.objectContaining({ min: 1, max: 2 })],
    })
    expect(withZoom(option, unzoomed)).toEqual(option)
  })

  it('has ticks at 1, 2, and 5 times each power of ten, and fewer ticks over many decades', () => {
    expect(logTicks(8, 120)).toEqual([10, 20, 50, 100])
    expect(logTicks(1, 100_000)).toEqual([1, 10, 100, 1000, 10_000, 100_000])
    expect(logTicks(12, 18)).toHaveLength(3)
  })
})
