/**
 * Tests that version 3 records the L2 contents for every time, and that version 2 files are read
 * correctly.
 */
import { describe, expect, it } from 'vitest'
import { frozenReportFrom2, sessionFrom2 } from '../../../src-main/domain/session/upgrade/from-2'

const settings = { seed: 1, profile: 'card' }
const burst = { launches: 8, medianMs: 1.9 }

const version2 = (flushL2: unknown, rungs: unknown = [{ id: '01', timing: { medianMs: 2 } }]) => ({
  schema: 2,
  settings: { ...settings, flushL2 },
  rungs,
})

interface Upgraded {
  schema: number
  settings: Record<string, unknown>
  rungs: { timing: { cacheState?: string; burst?: { cacheState?: string } } | null }[]
}
const upgrade = (session: unknown) => sessionFrom2(session) as Upgraded

describe('a version 2 session', () => {
  it('that did not flush L2 has times with a warm L2', () => {
    const { schema, settings: now, rungs } = upgrade(version2(false))
    expect(schema).toBe(3)
    expect(now).toEqual({ ...settings, cacheState: 'warm' })
    expect(rungs[0]!.timing).toEqual({ medianMs: 2, cacheState: 'warm' })
  })

  it('that flushed L2 by overwriting has times with dirty lines in L2', () => {
    const { settings: now, rungs } = upgrade(version2(true))
    expect(now).toEqual({ ...settings, cacheState: 'cold-dirty' })
    expect(rungs[0]!.timing).toEqual({ medianMs: 2, cacheState: 'cold-dirty' })
  })

  it('has bursts with a warm L2, or with an unknown state after a flush', () => {
    const rungs = [{ id: '01', timing: { medianMs: 2, burst } }]
    const stateOf = (flushL2: boolean) => upgrade(version2(flushL2, rungs)).rungs[0]!.timing!.burst
    expect(stateOf(false)).toEqual({ ...burst, cacheState: 'warm' })
    expect(stateOf(true)).toEqual({ ...burst, cacheState: 'unknown' })
  })

  it('with programs has unknown L2 contents, and no cache state in its settings', () => {
    const rungs = [{ id: '01', program: { command: ['./a.out'] }, timing: { medianMs: 2 } }]
    const { settings: now, rungs: after } = upgrade(version2(false, rungs))
    expect(now).toEqual(settings)
    expect(after[0]!.timing).toEqual({ medianMs: 2, cacheState: 'unknown' })
  })

  it('without a time has no cache state', () => {
    const { settings: now, rungs } = upgrade(version2(false, [{ id: '01', timing: null }]))
    expect(now).toEqual(settings)
    expect(rungs).toEqual([{ id: '01', timing: null }])
  })

  it('is not modified in place, whatever its content', () => {
    const given = version2(true, [{ id: '01', timing: { medianMs: 2, burst } }])
    const before = JSON.stringify(given)
    sessionFrom2(given)
    expect(JSON.stringify(given)).toBe(before)
  })

  it('that is damaged is passed through and then rejected by the schema', () => {
    for (const value of [null, 7, 'x', [], {}, { settings: 'none' }])
      expect(sessionFrom2(value)).toEqual(value)
    const rungs = [null, 7, { timing: 'fast' }, { timing: { burst: 7 } }]
    expect(upgrade(version2(false, rungs)).rungs).toEqual([
      ...[null, 7, { timing: 'fast' }],
      { timing: { burst: 7, cacheState: 'warm' } },
    ])
    expect(upgrade(version2(false, 'none')).rungs).toBe('none')
  })
})

describe('a version 2 HTML report', () => {
  it('has version 3 sessions after it is read', () => {
    const report = { report: 2, sessions: [{ session: version2(false), sources: {} }] }
    expect(frozenReportFrom2(report)).toEqual({
      report: 3,
      sessions: [{ session: sessionFrom2(version2(false)), sources: {} }],
    })
  })
})
