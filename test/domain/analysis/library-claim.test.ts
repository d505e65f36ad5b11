/**
 * Tests that "faster than the library" is claimed only if single, burst, and sustained launches
 * agree.
 */
import { describe, expect, it } from 'vitest'
import { claimWords, libraryClaim } from '../../../src-main/domain/analysis/library-claim'
import { summarize } from '../../../src-main/domain/report/summary'
import { inEnglish } from '../../../src-main/domain/text/english'
import { beside } from '../../renderer/samples'

type Ratios = Parameters<typeof beside>[0]
const claimOf = (ratios: Ratios) => {
  const made = beside(ratios)
  return libraryClaim(made, made.rungs[1]!)?.claim
}

describe('a rung', () => {
  it.each<[string, Ratios]>([
    ['faster', { single: 1.02, burst: 1.01, sustained: 1.04 }],
    ['slower', { single: 0.98, burst: 0.99, sustained: 0.97 }],
    ['mixed', { single: 1.02, burst: 1.01, sustained: 0.99 }],
    ['mixed', { single: 0.99, burst: 1.01, sustained: 1.04 }],
    ['mixed', { single: 1.02, burst: 1, sustained: 1.04 }],
    ['incomplete', { single: 1.13 }],
    ['incomplete', { single: 1.13, burst: 1.1 }],
    ['incomplete', { single: 1.13, sustained: 1.1 }],
    ['incomplete', { single: 0.5 }],
  ])('is %s with the ratios %j', (claim, ratios) => {
    expect(claimOf(ratios)).toBe(claim)
  })

  it('is not judged if the run has no reference, or if the rung is the reference or is wrong', () => {
    expect(claimOf({})).toBeUndefined()
    const made = beside({ single: 2, burst: 2, sustained: 2 })
    expect(libraryClaim(made, made.rungs[0]!)).toBeNull()
    made.rungs[1]!.status = 'wrong'
    expect(libraryClaim(made, made.rungs[1]!)).toBeNull()
    expect(claimWords(made)).toBeNull()
  })

  it('is not judged against a reference with different data types', () => {
    const made = beside({ single: 2, burst: 2, sustained: 2 })
    const { ladder } = made
    const [reference, own] = ladder.rungs
    made.ladder = {
      ...ladder,
      rungs: [reference!, { ...own!, id: made.rungs[1]!.id, options: { dtype: 'f16' } }],
    }
    expect(libraryClaim(made, made.rungs[1]!)).toBeNull()
  })
})

describe('the claims about a session', () => {
  const words = (ratios: Ratios) => inEnglish(claimWords(beside(ratios))!)

  it('have a ratio for every kind of timing', () => {
    expect(words({ single: 1.02, burst: 1.01, sustained: 1.04 })).toBe(
      '01_own is faster than 00_library in all three timing modes: single launches 1.02×, bursts 1.01×, sustained 1.04×.',
    )
    expect(words({ single: 1.02, burst: 1.01, sustained: 0.99 })).toBe(
      'The timing modes disagree on whether 01_own is faster than 00_library: single launches 1.02×, bursts 1.01×, sustained 0.990×.',
    )
  })

  it('suggest the missing run if a kind of timing is missing', () => {
    expect(words({ single: 1.13 })).toBe(
      '01_own against 00_library: single launches 1.13×. To tell whether it is faster, run with --timing all.',
    )
  })

  it('suggest no further run if one kind of timing proves that the rung is not faster', () => {
    expect(words({ single: 0.79 })).toBe('01_own against 00_library: single launches 0.790×.')
    expect(words({ single: 1.1, burst: 0.9 })).toBe(
      '01_own against 00_library: single launches 1.10×, bursts 0.900×.',
    )
  })

  it('are the only sentences in a summary that claim which kernel is faster', () => {
    const summary = (ratios: Ratios) => {
      const { best, claim } = summarize(beside(ratios), [])
      return [inEnglish(best), claim && inEnglish(claim)]
    }
    const [alone, incomplete] = summary({ single: 1.5 })
    expect(alone).toMatch(/it reaches 1\.50× .* of the throughput of the reference 00_library\.$/)
    expect([alone, incomplete].join(' ')).not.toMatch(/is faster than|ahead|beats|past/)
    const [, faster] = summary({ single: 1.5, burst: 1.4, sustained: 1.4 })
    expect(faster).toMatch(/^01_own is faster than 00_library in all three timing modes/)
  })
})
