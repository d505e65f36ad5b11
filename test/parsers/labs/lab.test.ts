/** Tests the parsers for labs and for the answers that students submit. */
import { describe, expect, it } from 'vitest'
import { faultSentence, type Lab } from '../../../src-main/domain/labs/lab'
import { gemm } from '../../support'
import {
  ladderPathIn,
  type LabReferences,
  parseLab,
  readLabText,
} from '../../../src-main/parsers/labs/lab'
import { parseAnswers } from '../../../src-main/parsers/labs/lab-answers'

describe('lab.md', () => {
  const references: LabReferences = {
    ladders: new Map([['gemm-fp32', new Set(['01_naive', '02_coalesced'])]]),
    tasks: new Map([['gemm-fp32', gemm]]),
    rungs: new Set(['01_naive', '02_coalesced', '39_coarsen']),
  }

  const good = `---
title: Coalesced access
summary: Let a warp read a row.
order: 1
ladder: gemm-fp32
before: 01_naive
target: 02_coalesced
minutes: 30
needs:
  labs: [00-start]
size: { m: 4096, n: 4096, k: 4096 }
checks:
  - id: right
    kind: correctness
    sizes: [{ m: 64, n: 65, k: 66 }]
  - id: coalesced
    kind: metric
    metric: globalLoadSectorsPerRequest
    below: { rung: 39_coarsen, factor: 0.3 }
predictions:
  - id: sectors
    metric: globalLoadSectorsPerRequest
    ask: What happens?
questions:
  - id: blocks
    ask: How many?
    answer: ceil(m / 32) / smCount
---
# Warps
![a picture](warp.svg)
`
  const faultsOf = (text: string): string[] =>
    parseLab(readLabText(text), 'x/lab.md', references).faults.map(faultSentence)
  const swap = (from: string | RegExp, to: string): string => {
    expect(good).toMatch(from)
    return good.replace(from, to)
  }

  it('accepts a plain number as an answer', () => {
    const text = swap('answer: ceil(m / 32) / smCount', 'answer: 4')
    expect(faultsOf(text)).toEqual([])
    expect(parseLab(readLabText(text), 'x/lab.md', references).lab?.questions[0]?.answer).toBe('4')
  })

  it('with excessively nested keys and lists is rejected before it is parsed', () => {
    for (const [piece, fault] of [
      ['? ', /^x\/lab\.md:2: The file exceeds the limit of 64 explicit keys/],
      ['[', /^x\/lab\.md:2: The file has lists nested deeper than the limit of 64/],
    ] as const) {
      const text = good.replace('---\n', `---\n${piece.repeat(80_000)}\n`)
      expect(faultsOf(text)).toEqual([expect.stringMatching(fault)])
      expect(ladderPathIn(readLabText(text))).toBeNull()
    }
  })

  it('consists of front matter and text', () => {
    const { lab, body, pictures, faults } = parseLab(readLabText(good), 'x/lab.md', references)
    expect(faults).toEqual([])
    expect(lab).toMatchObject({
      starter: 'starter.cu',
      options: {},
      needs: { labs: ['00-start'] },
    })
    expect(lab?.predictions[0]).toMatchObject({ factor: true, tolerance: 0.25 })
    expect(body.trim()).toMatch(/^# Warps/)
    expect(pictures).toEqual([{ path: 'warp.svg', line: 30 }])
  })

  it('may have the line endings and byte-order mark of another system', () => {
    expect(faultsOf(`\uFEFF${good.replaceAll('\n', '\r\n')}`)).toEqual([])
  })

  it.each([
    [
      'an unknown key',
      swap('minutes: 30', 'minutes: 30\nminuts: 3'),
      'x/lab.md:9: There is no key "minuts".',
    ],
    [
      'an unknown key in a check',
      swap('    sizes:', '    wurst: 1\n    sizes:'),
      'x/lab.md:15: There is no key "wurst" in checks[0].',
    ],
    ['a missing key', swap('order: 1\n', ''), 'x/lab.md:2: order: Invalid input'],
    [
      'an invalid number',
      swap('minutes: 30', 'minutes: many'),
      'x/lab.md:8: minutes: Invalid input',
    ],
    [
      'an unknown kind of check',
      swap('kind: metric', 'kind: magic'),
      'x/lab.md:17: checks[1].kind: Invalid',
    ],
    [
      'an unknown metric',
      swap(/metric: glob.*\n {4}below/, 'metric: fmaUtilisation\n    below'),
      'x/lab.md:18: There is no metric named fmaUtilisation in the registry (docs/reference/metrics.md). Did you mean fmaUtilization?',
    ],
    [
      'an unknown metric in a prediction',
      swap(/metric: glob.*\n {4}ask/, 'metric: speed\n    ask'),
      'x/lab.md:22: There is no metric named speed',
    ],
    [
      'an unknown rung',
      swap('39_coarsen', '40_none'),
      'x/lab.md:19: checks[1].below.rung names the rung 40_none',
    ],
    [
      'an unknown ladder',
      swap('ladder: gemm-fp32', 'ladder: gemm'),
      'x/lab.md:5: There is no ladder named gemm.',
    ],
    ['a check without a bound', swap(/\n {4}below.*/, ''), 'x/lab.md:16: The check has no bound'],
    ['a repeated id', swap('id: coalesced', 'id: right'), 'x/lab.md:16: The id right is repeated.'],
    [
      'a name that answers may not use',
      swap('smCount', 'process'),
      'x/lab.md:27: The answer uses process',
    ],
    [
      'an answer that is code',
      swap('ceil(m / 32)', 'require("fs")'),
      'x/lab.md:27: The answer is not a valid expression.',
    ],
    ['invalid YAML', swap('needs:', 'needs: ]'), 'x/lab.md:9:'],
    [
      'a repeated key',
      swap('order: 1', 'order: 1\norder: 2'),
      'x/lab.md:5: Map keys must be unique',
    ],
    ['an alias', swap('minutes: 30', 'minutes: &a 30\nunused: *a'), 'x/lab.md:2: Anchors'],
    ['a tag', swap('minutes: 30', 'minutes: !!js/function 30'), 'x/lab.md:8: Unresolved tag'],
    ['no front matter', '# Warps', 'x/lab.md:1: It does not begin with front matter'],
    ['no text', good.slice(0, good.indexOf('# Warps')), 'x/lab.md:29: There is no text'],
  ])('with %s is rejected with the line number', (_what, text, sentence) => {
    const { lab, faults } = parseLab(readLabText(text), 'x/lab.md', references)
    expect(lab).toBeNull()
    expect(faults.map(faultSentence)).toContainEqual(expect.stringContaining(sentence))
  })
})

describe('answers.yaml', () => {
  const lab = {
    predictions: [{ id: 'loads' }],
    questions: [{ id: 'blocks' }],
  } as unknown as Pick<Lab, 'predictions' | 'questions'>
  const read = (text: string) => parseAnswers(text, 'answers.yaml', lab)

  describe('entries', () => {
    it('are parsed in block style and in flow style, with questions as comments', () => {
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
      ['lists on one line', '- '],
      ['flow lists', '['],
      ['flow maps', '{'],
      ['both', '[{'],
      ['lists as keys', '? - '],
      ['keys as values', 'a: ? '],
      ['indentation', '    '],
      ['quoted comment signs', "'a #': ? "],
    ])('are rejected before parsing if %s are nested too deeply', (_, piece) => {
      expect(() => read(piece.repeat(12_000))).toThrow(/answers\.yaml:1: this is nested deeper/)
    })

    it('are rejected if deep nesting spans several lines', () => {
      expect(() => read('[\n'.repeat(12_000))).toThrow(/answers\.yaml:65: this is nested deeper/)
      const steps = Array.from({ length: 100 }, (_, at) => `${' '.repeat(at)}a:`).join('\n')
      expect(() => read(steps)).toThrow(/answers\.yaml:34: this is nested deeper/)
    })
  })
})
