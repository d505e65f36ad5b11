/** Tests message text and message storage. */
import { describe, expect, it } from 'vitest'
import {
  englishTemplate,
  message,
  says,
  Statement,
  together,
  type AnyMessage,
} from '../../src-main/domain/messages/message'
import {
  inEnglish,
  paragraph,
  pieces,
  plain,
  withText,
  type Wording,
} from '../../src-main/domain/text/english'
import { code } from '../../src-main/domain/messages/sentence'

const differs = message('guard.gpu', { a: 'NVIDIA H200', b: message('guard.unknown') })
const upsideDown: Wording = {
  language: 'en',
  template: (key) => (key === 'guard.gpu' ? '{b} ≠ {a}' : englishTemplate(key).toUpperCase()),
  metric: (id) => `<${id}>`,
  text: (text) => [...text].reverse().join(''),
}

describe('a message', () => {
  it('becomes a sentence in English, or in another language, with the same values', () => {
    expect(inEnglish(differs)).toBe('The GPUs differ: NVIDIA H200 and unknown.')
    expect(plain(pieces(differs, upsideDown))).toBe('UNKNOWN ≠ 002H AIDIVN')
  })

  it('formats names as code, translates metric names, and never expands a placeholder inside a value', () => {
    const jump = message('summary.jump', {
      to: code('{from}'),
      factor: '2.00×',
      spread: '0.1 %',
      from: code('01_naive'),
    })
    expect(pieces(jump)).toEqual([
      { code: '{from}' },
      ' is 2.00× (± 0.1 %) as fast as ',
      { code: '01_naive' },
      '.',
    ])
    const absent = message('roofline.notCollected', { metric: { metric: 'dramBytes' } })
    expect(inEnglish(absent)).toBe('DRAM traffic was not collected.')
    const own: Wording = { ...upsideDown, template: englishTemplate }
    expect(plain(pieces(absent, own))).toBe('<dramBytes> was not collected.')
  })

  it("uses the language's plural form for its number", () => {
    const rungs = (worse: number, all: number) => message('baseline.fail', { worse, all })
    expect(inEnglish(rungs(1, 1))).toBe('1 of 1 rung regressed')
    expect(inEnglish(rungs(1, 2000))).toBe('1 of 2000 rungs regressed')
    expect(inEnglish(rungs(0, 0))).toBe('0 of 0 rungs regressed')
    const polish: Wording = {
      ...upsideDown,
      language: 'pl',
      template: () => '{all, plural, one{szczebel} few{szczeble} other{szczebli}}',
    }
    expect([1, 2, 5].map((all) => plain(pieces(rungs(1, all), polish)))).toEqual([
      'szczebel',
      'szczeble',
      'szczebli',
    ])
  })

  it("is joined with other messages into a paragraph by the language's rules", () => {
    expect(plain(paragraph([differs, 'Foreign.']))).toBe(`${inEnglish(differs)} Foreign.`)
    expect(plain(paragraph(['甲。', '乙。']))).toBe('甲。乙。')
  })
})

describe('a stored statement', () => {
  const nested = message('summary.jump', {
    to: code('02_tile'),
    factor: 2,
    spread: '0.1 %',
    from: message('figures.follows', {
      metric: { metric: 'dramBytes' },
      why: together(message('records.notReached'), 'Segmentation fault.'),
    }),
  })

  it('is read exactly as written, whether text, a message with all kinds of values, or several messages', () => {
    const faults = [message('part.spills', { bytes: 8 })]
    for (const statement of [
      'nvcc says no.',
      nested,
      message('checks.faults', { faults }),
      together('One.', nested),
    ])
      expect(Statement.parse(JSON.parse(JSON.stringify(statement)))).toEqual(statement)
  })

  it('is rejected if this version has no such message, or if the values do not match', () => {
    for (const wrong of [
      7,
      null,
      [],
      {},
      { key: 'guard.gpu' },
      { key: 'guard.gpu', values: { a: 'x' } },
      { key: 'guard.gpu', values: { a: 'x', b: 'y', c: 'z' } },
      { key: 'guard.gpu', values: { a: 'x', b: true } },
      { key: 'guard.gpu', values: { a: 'x', b: { key: 'guard.nope', values: {} } } },
      { key: 'constructor', values: {} },
      { sentences: 'x' },
    ])
      expect(Statement.safeParse(wrong).success, JSON.stringify(wrong)).toBe(false)
  })

  it('matches its message’s key, regardless of the values', () => {
    expect(says(nested, 'summary.jump')).toBe(true)
    expect(says(nested, 'summary.best')).toBe(false)
    for (const other of ['summary.jump', undefined, null, together(nested, 'More.')])
      expect(says(other, 'summary.jump')).toBe(false)
  })

  it('is joined with other statements, and missing parts are skipped', () => {
    expect(together('One.', null, undefined, '')).toBe('One.')
    expect(inEnglish(together('One.', nested.values.from as AnyMessage))).toBe(
      'One. The metric is derived from DRAM traffic, which has no value: The run ended before it reached this rung. Segmentation fault.',
    )
  })

  it('includes its English text in a document for scripts', () => {
    const document = { rungs: [{ reason: nested, note: 'as it is' }], size: 3, none: null }
    expect(withText(document)).toEqual({
      ...document,
      rungs: [{ reason: withText(nested), note: 'as it is' }],
    })
    // Nested messages are converted to text too.
    const reached = message('records.notReached')
    const one = message('records.runnerLost', { why: reached })
    expect(withText(one)).toEqual({
      key: 'records.runnerLost',
      values: {
        why: { ...reached, text: inEnglish(reached) },
      },
      text: inEnglish(one),
    })
    expect(withText(together('One.', 'Two.'))).toEqual({
      sentences: ['One.', 'Two.'],
      text: 'One. Two.',
    })
  })
})
