/**
 * Tests that a series contains only comparable times. The rung, parameters, problem, and
 * environment must match.
 */
import { describe, expect, it } from 'vitest'
import { pointsOf, seriesOf } from '../../../src-main/domain/history/history'
import type { CacheState, Session } from '../../../src-main/domain/session/session'
import { recording } from '../../renderer/samples'

const base = recording('gemm-fp32-h200-4096')

const withState = (cacheState: CacheState | undefined): Session => {
  const { cacheState: _, ...settings } = base.settings
  return { ...base, settings: cacheState ? { ...settings, cacheState } : settings }
}

const series = (...states: (CacheState | undefined)[]) =>
  seriesOf(
    states.flatMap((state, index) => pointsOf(`run-${index}`, withState(state)) ?? []),
    1,
  ).filter(({ rung }) => rung === '01_naive')

describe("a rung's history", () => {
  it('has one series for sessions with the same L2 state', () => {
    expect(series('warm', 'warm', 'warm').map(({ points }) => points.length)).toEqual([3])
  })

  it('has one series per L2 state, and no changes between series', () => {
    const found = series('warm', 'cold', 'warm', 'cold-dirty', undefined)
    expect(found.map(({ environment, points }) => [environment.cacheState, points.length])).toEqual(
      [
        ['warm', 2],
        ['cold', 1],
        ['cold-dirty', 1],
        ['unknown', 1],
      ],
    )
    expect(found.flatMap(({ changes }) => changes)).toEqual([])
  })
})
