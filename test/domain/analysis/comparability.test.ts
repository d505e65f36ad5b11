/** Rungs that compute more than the product, beside rungs that do not. */
import { describe, expect, it } from 'vitest'
import { readSession } from '../../../src-main/adapters/sessions/session-store'
import {
  comparability,
  ratioWarning,
  ratioWarnings,
  rungWarnings,
} from '../../../src-main/domain/analysis/comparability'
import { inEnglish } from '../../../src-main/domain/text/wording'
import { rungOf, type RungResult } from '../../../src-main/domain/session/session'

const session = await readSession('resources/recordings/gemm-fp32-h200-1024')
const { task } = session.ladder
const plain = rungOf(session, '01_naive')!
const fused: RungResult = { ...rungOf(session, '02_coalesced')!, flags: ['bias', 'relu'] }
const withFused = {
  ...session,
  rungs: session.rungs.map((rung) => (rung.id === fused.id ? fused : rung)),
}

describe('what two rungs compute', () => {
  it('is not mentioned where it is the same', () => {
    expect(rungWarnings(task, plain, plain)).toEqual([])
    expect(rungWarnings(task, fused, fused)).toEqual([])
  })

  it('is said of both where it differs', () => {
    expect(rungWarnings(task, plain, fused).map(inEnglish)).toEqual([
      '01_naive computes the product only, and 02_coalesced computes the product, a bias and ReLU; that accounts for part of the difference in time.',
    ])
    const biased: RungResult = { ...fused, id: 'biased', flags: ['bias'] }
    const activated: RungResult = { ...fused, id: 'activated', flags: ['relu'] }
    expect(rungWarnings(task, biased, activated).map(inEnglish)).toEqual([
      'biased computes the product and a bias, and activated computes the product and ReLU; that accounts for part of the difference in time.',
    ])
  })

  it('is warned of where a rung of one name computes another thing in another session', () => {
    expect(comparability(session, withFused).warnings.map(inEnglish)).toEqual([
      'In one session 02_coalesced computes the product only, in the other the product, a bias and ReLU.',
    ])
    expect(comparability(withFused, withFused).warnings).toEqual([])
  })

  it('is not what the reference computes, to which the ratio is', () => {
    expect(ratioWarning(session, plain)).toBeNull()
    expect(inEnglish(ratioWarning(session, fused)!)).toBe(
      '02_coalesced computes the product, a bias and ReLU; 00_cublas, which its ratio is relative to, computes the product only.',
    )
    expect(ratioWarnings(withFused).length).toBe(1)
    const without = { ...withFused, ladder: { ...session.ladder, reference: null } }
    expect(ratioWarnings(without)).toEqual([])
  })
})
