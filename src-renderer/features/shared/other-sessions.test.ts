import { describe, expect, it } from 'vitest'
import type { SessionSummary } from '../../../src-main/contract/index'
import { gemmProblem } from '../../../test/support'
import { deeperSession } from './deeper-session'

const item = (ref: string, own: Partial<SessionSummary> = {}): SessionSummary => ({
  ref,
  kind: 'recorded',
  name: ref,
  title: null,
  createdAt: '2026-01-01T00:00:00Z',
  ladder: { id: 'gemm-fp32', title: 'GEMM' },
  problem: gemmProblem(4096),
  deviceName: 'H200',
  profile: 'standard',
  rungCount: 3,
  ...own,
})

describe('a session at a higher profiling level', () => {
  const own = item('own')
  const deep = item('deep', { profile: 'deep' })

  it('has the same ladder, problem, and GPU as the open session', () => {
    expect(deeperSession([own, deep], 'own')?.ref).toBe('deep')
    const others = [
      item('ladder', { profile: 'deep', ladder: { id: 'other', title: 'Other' } }),
      item('problem', { profile: 'deep', problem: gemmProblem(1024) }),
      item('gpu', { profile: 'deep', deviceName: 'H100' }),
      item('file', { profile: 'deep', kind: 'imported' }),
    ]
    expect(deeperSession([own, ...others], 'own')).toBeUndefined()
  })

  it('has at least the requested level and a higher level than the open session', () => {
    const card = item('card', { profile: 'card' })
    expect(deeperSession([own, deep], 'deep')).toBeUndefined()
    expect(deeperSession([card, own], 'card', 'deep')).toBeUndefined()
    expect(deeperSession([card, own], 'card', 'standard')?.ref).toBe('own')
    expect(deeperSession([card, own, deep], 'card', 'standard')?.ref).toBe('deep')
  })

  it('is the newest session if several sessions match', () => {
    const newer = item('newer', { profile: 'deep', createdAt: '2026-02-01T00:00:00Z' })
    expect(deeperSession([own, deep, newer], 'own')?.ref).toBe('newer')
  })
})
