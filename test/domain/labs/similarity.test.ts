import { describe, expect, it } from 'vitest'
import { findLikenesses, normalizedTokens } from '../../../src-main/domain/labs/similarity'

describe('the tokens of a source', () => {
  it('leave out comments, layout and includes, and names, numbers and texts are all one', () => {
    expect(
      normalizedTokens(
        '#include <cmath>\n  # include "x.h"\n// a\nint n /* b\n*/ = 0x1f; // c\nf<<<g, 1.5e3f>>>("a\\"b", \'\\n\');\n#define N 3\n',
      ),
    ).toEqual('int v = 0 ; v <<< v , 0 >>> ( "" , "" ) ; # v v 0'.split(' '))
  })

  it('end an open text with its line and an open comment with the file', () => {
    expect(normalizedTokens('"open\nx')).toEqual(['""', 'v'])
    expect(normalizedTokens('"open\\\nx')).toEqual(['""', 'v'])
    expect(normalizedTokens('x /* open')).toEqual(['v'])
  })

  // Hostile text makes as many tokens as it has lines: what was quadratic read each rest of it anew.
  it.each([
    ['quotes and backslashes', '"\\', 1],
    ['open comments', '/* ', 0],
    ['blanks', ' ', 0],
  ])('are found in one pass over %s', (_, piece, count) => {
    expect(normalizedTokens(piece.repeat(500_000)).length).toBe(count)
  })

  it('are alike where one was renamed, and not where both are the starter', () => {
    const body = Array.from(
      { length: 40 },
      (_, at) => `a[${at}] = b + c * ${at}; if (a) { b -= a; } while (c < ${at}) c++;`,
    ).join('\n')
    const sources = new Map([
      ['one', body],
      ['two', body.replaceAll('a', 'z').replaceAll('b', 'y')],
    ])
    expect(findLikenesses(sources, [])).toEqual([{ a: 'one', b: 'two', share: 1 }])
    expect(findLikenesses(sources, [body])).toEqual([])
  })
})
