/** answers.yaml as a bad evening brings it: what a student wrote must not hold up who reads it. */
import { describe, expect, it } from 'vitest'
import { parseAnswers } from '../../../src-main/parsers/labs/lab-answers'
import type { Lab } from '../../../src-main/domain/labs/lab'

const lab = {
  predictions: [{ id: 'loads' }],
  questions: [{ id: 'blocks' }],
} as unknown as Pick<Lab, 'predictions' | 'questions'>
const read = (text: string) => parseAnswers(text, 'answers.yaml', lab)

describe('answers', () => {
  it('are read in either style of YAML, with comments that ask', () => {
    const wanted = {
      predictions: { loads: { direction: 'up', factor: 2 } },
      questions: { blocks: 3 },
    }
    expect(
      read(
        '# What happens? And then?\npredictions:\n  # up ? or - down?\n  loads:\n    direction: up # sure?\n    factor: 2\nquestions:\n  blocks: 3\n',
      ),
    ).toEqual(wanted)
    expect(
      read('{predictions: {loads: {direction: up, factor: 2}}, questions: {blocks: 3}}'),
    ).toEqual(wanted)
  })

  it.each([
    ['explicit keys', '? '],
    ['lists on a line', '- '],
    ['lists in flow', '['],
    ['maps in flow', '{'],
    ['both', '[{'],
    ['keys of lists', '? - '],
    ['keys as values', 'a: ? '],
    ['indentation', '    '],
    ['quoted signs of a comment', "'a #': ? "],
  ])('are refused where they nest by %s, before a parser works on them', (_, piece) => {
    expect(() => read(piece.repeat(12_000))).toThrow(/answers\.yaml:1: this is nested deeper/)
  })

  it('are refused where they nest over lines', () => {
    expect(() => read('[\n'.repeat(12_000))).toThrow(/answers\.yaml:65: this is nested deeper/)
    const steps = Array.from({ length: 100 }, (_, at) => `${' '.repeat(at)}a:`).join('\n')
    expect(() => read(steps)).toThrow(/answers\.yaml:34: this is nested deeper/)
  })
})
