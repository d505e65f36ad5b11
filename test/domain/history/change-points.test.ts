import { describe, expect, it } from 'vitest'
import { changePoints } from '../../../src-main/domain/history/change-points'

/** Returns a seeded generator of normally distributed noise. */
function noise(seed: number): () => number {
  let state = seed
  const uniform = (): number => {
    state = (state * 48271) % 2147483647
    return state / 2147483647
  }
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform())
}

const series = (normal: () => number, levels: readonly (readonly [number, number])[]): number[] =>
  levels.flatMap(([count, level]) =>
    Array.from({ length: count }, () => Math.log(level * (1 + 0.003 * normal()))),
  )

describe('change points', () => {
  it('are rarely found if the times did not change', () => {
    const normal = noise(7)
    const wrong = Array.from({ length: 200 }, () => changePoints(series(normal, [[30, 1]]))).filter(
      (found) => found.length > 0,
    )
    expect(wrong.length).toBeLessThanOrEqual(6)
  })

  it('are found at most one session away from a 2 % step', () => {
    const normal = noise(8)
    const found = Array.from({ length: 100 }, () =>
      changePoints(
        series(normal, [
          [12, 1],
          [10, 1.02],
        ]),
      ),
    )
    const right = found.filter((at) => at.length === 1 && Math.abs(at[0]! - 12) <= 1)
    expect(right.length).toBeGreaterThanOrEqual(95)
  })

  it('are found at each of several small steps up and down', () => {
    const creeping = series(noise(9), [
      [10, 1],
      [10, 1.02],
      [10, 1.04],
      [10, 1.01],
    ])
    expect(changePoints(creeping)).toEqual([10, 20, 30])
  })

  it('are not found in a series that is constant or too short for two levels', () => {
    expect(changePoints([])).toEqual([])
    expect(changePoints([1])).toEqual([])
    expect(changePoints([1, 1, 1, 2, 2, 2, 2])).toEqual([])
    expect(changePoints(Array<number>(30).fill(1))).toEqual([])
    expect(changePoints([...Array<number>(8).fill(1), ...Array<number>(8).fill(2)])).toEqual([8])
  })

  it('are not caused by a single outlier', () => {
    const values = series(noise(10), [[24, 1]])
    values[11] = Math.log(1.4)
    expect(changePoints(values)).toEqual([])
  })
})
