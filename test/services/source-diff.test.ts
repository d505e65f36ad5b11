import { describe, expect, it } from 'vitest'
import { changedLines, diffBelowHeaders, diffSources } from '../../src-main/services/source-diff'

const numbered = (word: string, count: number): string =>
  Array.from({ length: count }, (_, line) => `${word} ${line}\n`).join('')

describe('the hunks between two sources', () => {
  it('are those of the lines that changed', () => {
    const a = numbered('line', 20)
    expect(diffSources(a, a)).toEqual([])
    expect(changedLines(a, a.replace('line 7\n', 'other\nmore\n'))).toEqual([
      { a: { from: 8, to: 8 }, b: { from: 8, to: 9 } },
    ])
  })

  it('leave out the headers, and count lines from the top of the files', () => {
    const a = `// @rung 01_a\n// @title A\n${numbered('line', 9)}`
    const b = `// @rung 02_b\n${numbered('line', 9)}`
    expect(diffSources(a, b)).not.toEqual([])
    expect(diffBelowHeaders(a, b)).toEqual([])
    const [hunk] = diffBelowHeaders(a, b.replace('line 8\n', 'other\n'))
    expect(hunk).toMatchObject({ oldStart: 8, newStart: 7 })
    expect(hunk!.lines.slice(-2)).toEqual(['-line 8', '+other'])
  })

  it('are one, of everything, where thousands of lines have nothing in common', () => {
    const [a, b] = [numbered('old', 20_000), `${numbered('new', 19_999)}last`]
    const hunks = diffSources(a, b)
    expect(hunks).toHaveLength(1)
    const [{ lines, ...place }] = hunks as [(typeof hunks)[0]]
    expect(place).toEqual({ oldStart: 1, oldLines: 20_000, newStart: 1, newLines: 20_000 })
    expect(lines.filter((line) => line.startsWith('-'))).toHaveLength(20_000)
    expect(lines.slice(-2)).toEqual(['+last', '\\ No newline at end of file'])
  })
})
