import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readSession } from '../../../src-main/adapters/sessions/session-store'
import type { SessionSummary } from '../../../src-main/contract'
import { estimate, parseSeconds, timesFrom } from './profile-estimate'
import { freshForm, runRequest } from './run-form'
import { ladder } from '../../../test/renderer/samples'
import { gemmProblem } from '../../../test/gemm'

const session = await readSession(
  join(import.meta.dirname, '../../../resources/recordings/gemm-fp32-h200-4096'),
)
const rungs = session.rungs.map(({ id }) => id)
const summary = (ref: string, kind: SessionSummary['kind'], size: number): SessionSummary => ({
  ref,
  kind,
  name: ref,
  title: null,
  createdAt: session.createdAt,
  ladder: { id: 'gemm-fp32', title: '' },
  problem: gemmProblem(size),
  deviceName: null,
  profile: 'card',
  rungCount: 7,
})
const at4096 = { m: 4096, n: 4096, k: 4096 }

describe('what profiling will cost, before a run', () => {
  it('is taken from this machine’s newest session of the ladder and size, else from a recording', () => {
    const all = [
      summary('recorded:a', 'recorded', 4096),
      summary('small', 'live', 1024),
      { ...summary('broken', 'live', 4096), damaged: 'It cannot be read.' },
      summary('newest', 'live', 4096),
      summary('older', 'live', 4096),
    ]
    expect(timesFrom(all, 'gemm-fp32', at4096)?.ref).toBe('newest')
    expect(timesFrom(all.slice(0, 3), 'gemm-fp32', at4096)?.ref).toBe('recorded:a')
    expect(timesFrom(all, 'gemm-tensor', at4096)).toBeUndefined()
    expect(timesFrom(all, 'gemm-fp32', null)).toBeUndefined()
  })

  it('is more for a deeper level, and nothing without a profile', () => {
    const seconds = (['card', 'standard', 'deep'] as const).map(
      (level) => estimate(session, level, rungs, null)!.seconds,
    )
    expect(seconds[0]).toBeLessThan(seconds[1]!)
    expect(seconds[1]).toBeLessThan(seconds[2]!)
    expect(estimate(session, 'none', rungs, null)).toBeNull()
  })

  it('leaves out what is above the limit', () => {
    const plan = estimate(session, 'deep', rungs, 10)!
    expect(plan.rungs.filter(({ skipped }) => skipped).map(({ id }) => id)).toEqual(['01_naive'])
  })

  it.each([
    ['30', 30],
    [' 0.5 ', 0.5],
    ['2,5', 2.5],
    ['0', null],
    ['-1', null],
    ['1e9', null],
    ['soon', null],
    ['', null],
  ])('%j seconds are %s', (text, value) => {
    expect(parseSeconds(text)).toBe(value)
  })

  it('goes with the request, and only where something is profiled on this machine', () => {
    const form = { ...freshForm(ladder, 'local'), profileLimit: '12' }
    expect(runRequest(form, ladder)).toMatchObject({ profileLimitSeconds: 12 })
    expect(runRequest({ ...form, profileLimit: '' }, ladder)).not.toHaveProperty(
      'profileLimitSeconds',
    )
    expect(runRequest({ ...form, profile: 'none' }, ladder)).not.toHaveProperty(
      'profileLimitSeconds',
    )
  })
})

describe('bursts', () => {
  it('go with the request where launches are timed, and only if they were chosen', () => {
    const form = { ...freshForm(ladder, 'local'), bursts: true }
    expect(runRequest(form, ladder)).toMatchObject({ timing: 'burst' })
    expect(runRequest({ ...form, bursts: false }, ladder)).not.toHaveProperty('timing')
    for (const target of ['static:h200', 'emulated'])
      expect(runRequest({ ...form, target }, ladder)).not.toHaveProperty('timing')
  })
})
