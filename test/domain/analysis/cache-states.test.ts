/**
 * Tests that times with different L2 contents are never ranked, in any comparison of two sessions.
 */
import { describe, expect, it } from 'vitest'
import { areTimesRanked, comparability } from '../../../src-main/domain/analysis/comparability'
import { compareRungs, speedup } from '../../../src-main/domain/analysis/compare'
import { compareSessions } from '../../../src-main/domain/programs/compare-sessions'
import type { CacheState, Session } from '../../../src-main/domain/session/session'
import { inEnglish } from '../../../src-main/domain/text/english'
import { whyOf } from '../../../src-main/domain/why/why'
import { rung, session } from '../../renderer/samples'
import { across } from '../../../src-main/domain/analysis/across-machines'

/** Returns a session whose times have the given cache state. */
function inState(cacheState: CacheState, ms = 2): Session {
  const made = session([rung('01_naive', ms)])
  made.settings.cacheState = cacheState
  made.rungs[0]!.timing!.cacheState = cacheState
  return made
}
const [warm, cold] = [inState('warm'), inState('cold', 1)]
const sides = [
  { session: warm, rung: warm.rungs[0]! },
  { session: cold, rung: cold.rungs[0]! },
] as const

describe('two sessions with different L2 contents', () => {
  it('have no time ratio and no verdict', () => {
    expect(areTimesRanked(warm, cold)).toBe(false)
    expect(speedup(sides[0].rung, sides[1].rung)).toBeNull()
    expect(compareRungs(...sides).time).toEqual({
      ...{ aMs: 2, bMs: 1, cacheState: { a: 'warm', b: 'cold' } },
      ...{ speedup: null, noise: null, verdict: 'unknown' },
    })
  })

  it('are unresolved per pair and overall, with the cache state of each side', () => {
    const { pairs, total } = compareSessions(warm, cold)
    expect(pairs[0]).toMatchObject({
      ...{ timeA: 2, timeB: 1, ratio: null, change: null, verdict: 'unresolved' },
      sideA: { cacheState: 'warm' },
      sideB: { cacheState: 'cold' },
    })
    expect(total.ratio).toBeNull()
  })

  it('have no causes of a time difference, and explain why', () => {
    const why = whyOf(...sides)
    expect(why).toMatchObject({ verdict: 'unknown', causes: [] })
    expect(inEnglish(why.reason!)).toBe(
      'L2 was warm for one timing and cold for the other, so the times are not compared.',
    )
  })

  it('have no comparable times across machines', () => {
    const { timesComparable, rungs } = across([warm, cold])
    expect(timesComparable).toBe(false)
    expect(rungs[0]!.on.map((side) => side?.cacheState)).toEqual(['warm', 'cold'])
  })

  const warning = (a: Session, b: Session) =>
    comparability(a, b)
      .warnings.filter(({ key }) => key === 'guard.cacheState')
      .map(inEnglish)

  it('suggest the command that measures the warm session again', () => {
    expect(warning(warm, cold)).toEqual([
      expect.stringMatching(
        /^The times are not ranked: L2 was warm in one session and cold in the other\. .*: kernel-ladder run .*--rungs 01_naive/,
      ),
    ])
    expect(warning(warm, cold)[0]).not.toContain('--warm')
    expect(warning(cold, warm)[0]).toContain('kernel-ladder run')
  })

  it('suggest measuring both sessions again if neither was cold and the rungs differ', () => {
    const dirty = inState('cold-dirty')
    dirty.rungs.push(rung('02_tile', 1))
    expect(warning(warm, dirty)[0]).toMatch(/--rungs 01_naive .* && .*--rungs 01_naive,02_tile/)
  })
})

describe('two sessions with the same L2 contents', () => {
  it('are compared', () => {
    const again = inState('warm', 1)
    expect(areTimesRanked(warm, again)).toBe(true)
    expect(speedup(warm.rungs[0], again.rungs[0]!)).toBe(2)
    expect(compareSessions(warm, again).pairs[0]).toMatchObject({ ratio: 0.5, verdict: 'faster' })
    expect(comparability(warm, again).warnings.map(({ key }) => key)).not.toContain(
      'guard.cacheState',
    )
  })

  it('may lack times', () => {
    const { cacheState: _, ...settings } = warm.settings
    expect(areTimesRanked({ ...warm, settings }, cold)).toBe(true)
  })
})
