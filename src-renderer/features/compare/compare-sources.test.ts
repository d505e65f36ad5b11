/**
 * Tests the sources that Compare shows. Headers are removed, but lines keep the file's line
 * numbers.
 */
import { cppLanguage } from '@codemirror/lang-cpp'
import { Chunk } from '@codemirror/merge'
import { Text } from '@codemirror/state'
import { describe, expect, it } from 'vitest'
import { guardOf, withoutVerdicts } from '../shared/comparison-guard'
import { compareSessions } from '../../../src-main/domain/programs/compare-sessions'
import { inEnglish } from '../../../src-main/domain/text/english'
import { compareRungs } from '../../../src-main/domain/analysis/compare'
import { headerLines } from '../../../src-main/domain/ladder/rung'
import { codeOnly, tellingLines, whole, withoutHeader } from './source-text'
import { diffConfig, looseDiffConfig, sourceHunks } from './source-hunks'
import { rung, session } from '../../../test/renderer/samples'
import { gemmProblem } from '../../../test/support'
import { cachedSyntaxOf } from '../../ui/code-syntax'
import { folds } from './unchanged-folds'
import { pairAcross, pairedStep } from './paired-rungs'

const rungSource = (id: string, body: string) => `// @rung    ${id}\n// @idea    an idea\n\n${body}`

describe('a rung’s header', () => {
  it('is removed without changing the line numbers', () => {
    const text = rungSource('01_naive', 'int a;\nint b;')
    expect(headerLines(text)).toBe(2)
    expect(withoutHeader(text, 'x.cu')).toEqual({
      text: '\nint a;\nint b;',
      file: 'x.cu',
      lines: [3, 4, 5],
    })
    expect(headerLines('# @rung 00_torch\n# @idea one call\nimport torch\n')).toBe(2)
  })

  it('is distinguished from an ordinary comment at the start of a source', () => {
    const text = '// Copyright\nint a;'
    expect(withoutHeader(text, 'x.cu')).toEqual(whole(text, 'x.cu'))
  })
})

describe('code without comments', () => {
  it('has no comments or blank lines, and keeps the file’s line numbers', () => {
    const text =
      'int a; // first\n\n/* two\n   lines */ int b;\n// all\nchar c[] = "// no /* comment";'
    expect(codeOnly(text, 'x.cu')).toEqual({
      text: 'int a;\n int b;\nchar c[] = "// no /* comment";',
      file: 'x.cu',
      lines: [1, 4, 6],
    })
  })

  it('keeps Python text that is not a comment', () => {
    const text =
      "# why\nblock = n // 32  # rounded down\ns = \"# not one\"\nt = '''# nor\nthis'''\n"
    expect(codeOnly(text, 'x.py').text).toBe(
      "block = n // 32\ns = \"# not one\"\nt = '''# nor\nthis'''",
    )
  })

  it('does not count includes as code', () => {
    expect([...tellingLines('// why\n#include <cmath>\n#define N 4\nint a;', 'x.cu')]).toEqual([
      3, 4,
    ])
  })

  it('has changes only if more than white space and comments changed', () => {
    const a = 'int a;  // one\nfor (;;) {\n  work(a);\n}\nend();\nlast();'
    const b = '// new\nint a;\nfor (;;)   {\n    work( a );\n}\n\nend(1);'
    const hunks = sourceHunks(codeOnly(a, 'a.cu'), codeOnly(b, 'b.cu'), looseDiffConfig)
    expect(hunks).toEqual([{ a: { from: 5, to: 6 }, b: { from: 7, to: 7 } }])
    expect(sourceHunks(whole(a, 'a.cu'), whole(b, 'b.cu')).length).toBeGreaterThan(1)
  })

  it('is unchanged if only a comment changed', () => {
    const hunks = (config: typeof diffConfig) =>
      sourceHunks(codeOnly('int a; // x', 'a'), codeOnly('int  a; // y', 'b'), config)
    expect(hunks(looseDiffConfig)).toEqual([])
    expect(hunks(diffConfig)).toHaveLength(1)
  })
})

describe('source changes', () => {
  const hunks = (a: string, b: string) =>
    sourceHunks(
      withoutHeader(rungSource('a', a), 'a.cu'),
      withoutHeader(rungSource('b', b), 'b.cu'),
    )

  it('have line numbers that include the header', () => {
    expect(hunks('one\ntwo\nthree', 'one\n2\nthree')).toEqual([
      { a: { from: 5, to: 5 }, b: { from: 5, to: 5 } },
    ])
  })

  it('that only add lines have an empty range on the other side', () => {
    const [added] = hunks('one\nthree', 'one\ntwo\nthree')
    expect(added!.b).toEqual({ from: 5, to: 5 })
    expect(added!.a.to).toBeLessThan(added!.a.from)
  })

  it('ignore the headers', () => {
    expect(hunks('one', 'one')).toEqual([])
  })
})

describe('two sessions', () => {
  const a = session([rung('01', 4), rung('02', 2)])
  const b = session([rung('02', 1), rung('03', 1), rung('01', 3)])

  it('open with a rung that was timed in both sessions', () => {
    const open = (other: typeof b) => pairAcross(a, other, compareSessions(a, other))
    expect(open(b)).toEqual(['02', '02'])
    expect(open(session([rung('09', 1)]))).toEqual(['02', '09'])
    expect(open(session([]))).toBeNull()
  })

  it('step only through rungs that both sessions contain', () => {
    const compared = compareSessions(a, b)
    expect(pairedStep(a, compared, '02', -1)).toEqual({ a: '01', b: '01' })
    expect(pairedStep(a, compared, '02', 1)).toBeUndefined()
  })

  it('cannot be compared if the problems differ, and cause a warning if the ladders differ', () => {
    expect(guardOf(a, { ...b, problem: gemmProblem(7) }).refusals).toHaveLength(1)
    const other = { ...b, ladder: { ...b.ladder, id: 'gemm-other' } }
    expect(guardOf(a, other).refusals).toEqual([])
    expect(inEnglish(guardOf(a, other).warnings[0]!)).toContain('gemm-other')
  })

  it('keep their values but get no verdict if they cannot be compared', () => {
    const found = compareRungs({ session: a, rung: a.rungs[0]! }, { session: b, rung: b.rungs[0]! })
    expect(found.time.verdict).toBe('better')
    const bare = withoutVerdicts(found)
    expect(bare.time).toMatchObject({ aMs: 4, bMs: 1, speedup: null, verdict: 'unknown' })
  })
})

describe('folded lines', () => {
  const foldsOf = (a: string[], b: string[]) => {
    const [left, right] = [Text.of(a), Text.of(b)]
    return folds(Chunk.build(left, right, diffConfig), left, right)
  }
  const lines = (count: number, changed: Record<number, string> = {}) =>
    Array.from({ length: count }, (_, index) => changed[index + 1] ?? `line ${index + 1}`)

  it('are more than three lines from a change, on both sides', () => {
    expect(foldsOf(lines(20), lines(20, { 10: 'other' }))).toEqual([
      { a: { from: 1, to: 6 }, b: { from: 1, to: 6 } },
      { a: { from: 14, to: 20 }, b: { from: 14, to: 20 } },
    ])
  })

  it('include every line if nothing changed, unless the source has only a few lines', () => {
    expect(foldsOf(lines(9), lines(9))).toEqual([{ a: { from: 1, to: 9 }, b: { from: 1, to: 9 } }])
    expect(foldsOf(lines(3), lines(3))).toEqual([])
  })
})

describe('long sources', () => {
  const lines = Array.from({ length: 1500 }, (_, at) => `  value[${at}] = first(${at * 7});`)
  const whitespace = lines.map((line, at) => (at % 9 === 0 ? line.replace('(', '( ') : line))

  it('have separate hunks for all changes', () => {
    const changed = lines.map((line, at) => (at % 9 === 4 ? `  another(line, ${at});` : line))
    const repeated = [...changed.slice(0, 700), '}', ...changed.slice(700)]
    const hunks = sourceHunks(whole(lines.join('\n'), 'a.cu'), whole(repeated.join('\n'), 'b.cu'))
    expect(hunks.length).toBe(168)
    expect(hunks[0]).toEqual({ a: { from: 5, to: 5 }, b: { from: 5, to: 5 } })
    expect(hunks[78]).toEqual({ a: { from: 701, to: 700 }, b: { from: 701, to: 701 } })
    expect(hunks.at(-1)).toEqual({ a: { from: 1499, to: 1499 }, b: { from: 1500, to: 1500 } })
  })

  it('are equal if white space is ignored and nothing else differs', () => {
    const [a, b] = [whole(lines.join('\n'), 'a.cu'), whole(whitespace.join('\n'), 'b.cu')]
    expect(sourceHunks(a, b, looseDiffConfig)).toEqual([])
    expect(sourceHunks(a, b)).toHaveLength(167)
  })
})

describe('a source’s syntax', () => {
  const { parser } = cachedSyntaxOf('x.cu').language
  const source = `__global__ void kernel(float* a) {\n${'  a[0] += 1.0f;\n'.repeat(50)}}\n`

  function* namesOf(tree: typeof plain) {
    const cursor = tree.cursor()
    do yield `${cursor.name} ${cursor.from} ${cursor.to}`
    while (cursor.next())
  }
  const plain = cppLanguage.parser.parse(source)

  it('is cached after the first parse', () => {
    const tree = parser.parse(source)
    expect(tree.length).toBe(source.length)
    expect([...namesOf(tree)]).toEqual([...namesOf(plain)])
    expect(parser.parse(source)).toBe(tree)
    expect(parser.parse(`${source} `)).not.toBe(tree)
  })

  it('depends on the file name', () => {
    const text = 'block = n // 32  # rounded down'
    const tree = cachedSyntaxOf('x.py').language.parser.parse(text)
    expect([...namesOf(tree)]).toContain(`Comment ${text.indexOf('#')} ${text.length}`)
    expect([...namesOf(tree)].filter((name) => name.startsWith('Comment'))).toHaveLength(1)
  })

  it('is not cached if only a part was parsed', () => {
    const text = `${source}// another`
    const parse = parser.startParse(text)
    parse.stopAt(40)
    let part = parse.advance()
    while (!part) part = parse.advance()
    expect(part.length).toBeLessThan(text.length)
    expect(parser.parse(text).length).toBe(text.length)
  })
})
