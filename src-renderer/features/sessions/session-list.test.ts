import { describe, expect, it } from 'vitest'
import type { SessionSummary } from '../../../src-main/contract'
import { pairAcross, searchSessions, sessionTitle } from './session-list'
import { rung, session } from '../../../test/renderer/samples'
import { gemmProblem } from '../../../test/support'

const item = (over: Partial<SessionSummary> = {}): SessionSummary => ({
  ref: 'gemm-fp32-20261121',
  kind: 'live',
  name: 'gemm-fp32-20261121',
  title: null,
  createdAt: '2026-11-21T02:30:00.000Z',
  ladder: { id: 'gemm-fp32', title: 'FP32 matrix multiplication' },
  problem: gemmProblem(4096),
  deviceName: 'NVIDIA H200',
  profile: 'card',
  rungCount: 7,
  ...over,
})

describe('a session’s name', () => {
  it.each([
    ['by the user’s title', item({ title: 'Before the fix' }), 'Before the fix'],
    ['by ladder and problem', item(), 'FP32 matrix multiplication, 4096³ FP32'],
    [
      'by its unusual parameters',
      item({ unusual: { beta: 1 } }),
      'FP32 matrix multiplication, 4096³ FP32, beta 1',
    ],
    [
      'by its ladder, if the problem is unknown',
      item({ problem: null }),
      'FP32 matrix multiplication',
    ],
    [
      'by its folder, if it cannot be read',
      item({ damaged: 'It is not JSON.' }),
      'gemm-fp32-20261121',
    ],
  ])('is chosen %s', (_how, summary, title) => {
    expect(sessionTitle(summary)).toBe(title)
  })
})

describe('a search', () => {
  const items = [
    item(),
    item({ ref: 'b', title: 'Tuned', deviceName: 'NVIDIA L4' }),
    item({ ref: 'c', deviceName: null, ladder: { id: 'seed-t4', title: 'A seed' } }),
  ]
  const found = (search: string) =>
    searchSessions(items, search, ({ kind }) => [kind === 'live' ? '실행' : kind]).map(
      ({ ref }) => ref,
    )

  it.each([
    ['', ['gemm-fp32-20261121', 'b', 'c']],
    ['l4 tuned', ['b']],
    ['H200 4096', ['gemm-fp32-20261121']],
    ['seed-t4', ['c']],
    ['  실행 ', ['gemm-fp32-20261121', 'b', 'c']],
    ['h200 l4', []],
  ])('for %j finds sessions that contain every word, in any position and case', (search, refs) => {
    expect(found(search)).toEqual(refs)
  })
})

describe('the default pair of rungs in a comparison of two sessions', () => {
  it('is the fastest rung that was timed in both sessions', () => {
    const a = session([rung('00_ref', 1), rung('01_naive', 9), rung('02_tile', 5)])
    const b = session([
      rung('00_ref', 1),
      rung('01_naive', 8),
      rung('02_tile', 4),
      rung('03_wide', 2),
    ])
    expect(pairAcross(a, b)).toEqual(['02_tile', '02_tile'])
  })

  it('is each session’s fastest rung if no rung is shared', () => {
    const a = session([rung('x', 9), rung('y', 5)])
    expect(pairAcross(a, session([rung('z', 3)]))).toEqual(['y', 'z'])
  })

  it('is each session’s last rung if nothing was timed', () => {
    const a = session([rung('k0', null), rung('k1', null)])
    expect(pairAcross(a, a)).toEqual(['k1', 'k1'])
  })

  it('is missing if a session has no rungs', () => {
    expect(pairAcross(session([]), session([rung('z', 3)]))).toBeNull()
  })
})
