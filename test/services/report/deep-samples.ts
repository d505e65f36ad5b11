/** Deep profiles for tests of reports: what ncu printed of one kernel on an H200, under other rungs' names. */
import type { DeepProfile, Instruction, Work } from '../../../src-main/domain/session/deep'
import { parseNcuRawCsv } from '../../../src-main/parsers/ncu/ncu-csv'
import { toDeepProfiles } from '../../../src-main/parsers/ncu/ncu-deep'
import { parseRules } from '../../../src-main/parsers/ncu/ncu-details'
import { parseSourcePage } from '../../../src-main/parsers/ncu/ncu-source'
import { ncuCapture } from '../../parsers/captures'

const captured = toDeepProfiles(parseNcuRawCsv(ncuCapture('import-set-full')).launches, {
  sass: { sections: [], unreadable: 0 },
  lines: parseSourcePage(ncuCapture('source-cuda-sass')),
  rules: parseRules(ncuCapture('import-details')),
  nameOf: (path) => path.split('/').pop()!,
}).get('03_a')!

/** A copy that a test may change. */
export const deepProfile = (rung: string): DeepProfile => ({ ...structuredClone(captured), rung })

/** As large as that of a long unrolled kernel, its counts as unlike each other as those of one. */
export function largeProfile(rung: string, instructions: number): DeepProfile {
  const profile = deepProfile(rung)
  let seed = [...rung].reduce((sum, character) => sum * 31 + character.charCodeAt(0), 7)
  const random = (): number => (seed = (seed * 48271) % 2147483647) / 2147483647
  const varied = <T extends Work>(work: T): T => ({
    ...work,
    samples: Math.floor(random() * 4000),
    notIssuedSamples: Math.floor(random() * 2000),
    stalls: Object.fromEntries(
      ['long_sb', 'short_sb', 'mio', 'math', 'wait', 'selected', 'not_selected', 'dispatch']
        .filter(() => random() < 0.6)
        .map((reason) => [reason, 1 + Math.floor(random() * 900)]),
    ),
  })
  for (const kernel of profile.kernels) {
    const base = kernel.instructions
    kernel.instructions = Array.from({ length: instructions }, (_, index): Instruction => {
      const like = base[index % base.length]!
      const text = like.text.replaceAll(/\bR\d+/g, () => `R${Math.floor(random() * 250)}`)
      return varied({ ...like, index, offset: index * 16, text })
    })
    kernel.lines = kernel.lines.map(varied)
  }
  return profile
}
