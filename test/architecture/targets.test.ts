/** What a kind of target is stands in domain/target; everything else asks what the kind can do. */
import { describe, expect, it } from 'vitest'
import { targetKinds } from '../../src-main/domain/target/targets'
import { linesWith, sourcesIn } from './sources'

const kinds = Object.keys(targetKinds).join('|')
const words = Object.values(targetKinds)
  .flatMap(({ syntax }) => (syntax ? [syntax.print(null)] : []))
  .join('|')

const comparisons = [
  // A kind, or the text of a target, that is compared.
  new RegExp(`[!=]==? ['"\`](${kinds}|${words})['"\`:]`),
  new RegExp(`['"\`](${kinds}|${words})['"\`] [!=]==? `),
  /\b[tT]arget(\.value)?\??\.kind [!=]==/,
  new RegExp(`\\bcase ['"\`](${kinds}|${words})['"\`]`),
  // A text that is taken apart.
  new RegExp(`(startsWith|split|includes|match|slice)\\(['"\`](${kinds}|${words})`),
  new RegExp(`\\/\\^?\\(?(${words}):`),
]

/** Other things that have a kind by one of these words. */
const others = [
  // A check of a lab that looks at the build alone.
  /\b(check|item)\.kind === 'static'/,
  /case 'static':/,
  // A space of memory.
  /space === 'local'/,
  // Where a rule of ncu says that its speedup applies.
  /speedupType === 'local'|text === 'global' \|\| text === 'local'/,
]

const places = [
  'src-main/domain/target/',
  'src-main/contract/session-summary.ts',
  // Reads the words that version 1 of a session had.
  'src-main/domain/session/upgrade/',
]

describe('the source', () => {
  it('compares no kinds of targets outside of their table', () => {
    const files = sourcesIn('src-main', 'src-renderer').filter(
      ({ path }) => !places.some((place) => path.startsWith(place)),
    )
    const found = linesWith(files, comparisons).filter(
      (line) => !others.some((other) => other.test(line)),
    )
    expect(found).toEqual([])
  })
})

describe('the rule', () => {
  it.each([
    "if (session.target.kind === 'static') return",
    "const recorded = target.kind !== 'recorded'",
    "request.target === 'local' ? a : b",
    "if (ref.startsWith('recorded:')) return",
    'const [, word] = /^static:(.+)$/.exec(text) ?? []',
    "case 'imported':",
    'if (a.target.kind === b.target.kind) return',
  ])('finds %j', (text) => {
    expect(linesWith([{ path: 'a.ts', text }], comparisons)).toEqual([`a.ts:1: ${text}`])
  })
})
