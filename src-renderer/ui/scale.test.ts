import { describe, expect, it } from 'vitest'
import { makeScale, share, ticks } from './scale'

describe('a linear scale', () => {
  const scale = makeScale('linear', [520, 50_900, 51_500])

  it('starts at zero and ends at the largest value', () => {
    expect(share(scale, 0)).toBe(0)
    expect(share(scale, 51_500)).toBe(1)
    expect(share(scale, 25_750)).toBeCloseTo(0.5)
  })

  it('has round ticks within it', () => {
    expect(ticks(scale)).toEqual([0, 20_000, 40_000])
  })
})

describe('a logarithmic scale', () => {
  const scale = makeScale('log', [520, 51_500])

  it('starts at the power of ten below the smallest value', () => {
    expect(scale.min).toBe(100)
    expect(share(scale, 520)).toBeGreaterThan(0.2)
    expect(share(scale, 51_500)).toBe(1)
  })

  it('puts values it cannot show at its start', () => {
    expect(share(scale, 0)).toBe(0)
    expect(share(scale, 3)).toBe(0)
  })

  it('has the powers of ten as ticks', () => {
    expect(ticks(scale)).toEqual([100, 1000, 10_000])
  })

  it('spans a decade if all values are equal', () => {
    expect(ticks(makeScale('log', [1000]))).toEqual([1000, 10_000])
  })
})

it('a scale without values can still be drawn', () => {
  for (const kind of ['linear', 'log'] as const)
    for (const tick of ticks(makeScale(kind, []))) expect(Number.isFinite(tick)).toBe(true)
})
