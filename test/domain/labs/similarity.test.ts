import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  findLikenesses,
  likenessTo,
  normalizedTokens,
} from '../../../src-main/domain/labs/similarity'

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

describe('a copy of the solution', () => {
  const labs = join(import.meta.dirname, '../../../cuda-kernels/labs')
  const folders = readdirSync(labs, { withFileTypes: true }).filter((one) => one.isDirectory())
  const sources = folders.map(({ name: lab }) => {
    const text = (name: string) => readFileSync(join(labs, lab, name), 'utf8')
    return [lab, text('starter.cu'), text('solution.cu')] as const
  })
  /** Other names, other comments, all on fewer lines. */
  const renamed = (source: string): string =>
    source
      .replaceAll(/\/\/[^\n]*/g, '// my own work')
      .replaceAll(/\b(row|col|sum|tile|acc|value|lane|warp|step|i|j|k|p)\b/g, 'my_$1')

  it.each(sources)('is told in %s, as it is and with other names', (_lab, starter, solution) => {
    const own = likenessTo(solution, solution, [starter])
    // Where the solution is a line or two, everyone who solves it writes the same.
    if (own === null) return
    expect(own).toBe(1)
    expect(likenessTo(solution, renamed(solution), [starter])).toBe(1)
    expect(likenessTo(solution, starter, [starter])).toBeNull()
  })

  it('is told in every lab but the one that swaps two names', () => {
    const untold = sources.filter(
      ([, starter, solution]) => likenessTo(solution, solution, [starter]) === null,
    )
    expect(untold.map(([lab]) => lab)).toEqual(['01-coalescing'])
  })
})
