/** Messages: their English, and reading a stored sentence back into the message it was made from. */
import { describe, expect, it } from 'vitest'
import {
  englishTemplate,
  inEnglish,
  message,
  paragraph,
  pieces,
  placeholder,
  plain,
  type AnyMessage,
  type MessageKey,
  type MessageValue,
  type Wording,
} from '../../src-main/domain/messages/message'
import { recognize, storedKeys } from '../../src-main/domain/messages/recognize'
import { code } from '../../src-main/domain/sentence'

const differs = message('guard.gpu', { a: 'NVIDIA H200', b: message('guard.unknown') })
const upsideDown: Wording = {
  template: (key) => (key === 'guard.gpu' ? '{b} ≠ {a}' : englishTemplate(key).toUpperCase()),
  metric: (id) => `<${id}>`,
  space: '',
}

/** What to set in where a bare figure is not what belongs there. */
const special: Readonly<Record<string, MessageValue>> = { metric: { metric: 'sharedLoads' } }

const sampleOf = (key: MessageKey): AnyMessage => ({
  key,
  values: Object.fromEntries(
    [...englishTemplate(key).matchAll(placeholder)].map(([, name = '']) => [
      name,
      special[name] ?? '7',
    ]),
  ),
})

describe('a message', () => {
  it('is a sentence of the command line, and of another language with the same values', () => {
    expect(inEnglish(differs)).toBe('The GPU differs: NVIDIA H200 and unknown.')
    expect(plain(pieces(differs, upsideDown))).toBe('UNKNOWN ≠ NVIDIA H200')
  })

  it('keeps names as code, names a metric in the language, and never sets values into values', () => {
    const jump = message('summary.jump', {
      to: code('{from}'),
      factor: '2.00×',
      spread: '0.1 %',
      from: code('01_naive'),
    })
    expect(pieces(jump)).toEqual([
      { code: '{from}' },
      ' is ',
      '2.00×',
      ' (± ',
      '0.1 %',
      ') as fast as ',
      { code: '01_naive' },
      '.',
    ])
    const absent = message('roofline.notCollected', { metric: { metric: 'dramBytes' } })
    expect(inEnglish(absent)).toBe('DRAM traffic was not collected.')
    const own: Wording = { ...upsideDown, template: englishTemplate }
    expect(plain(pieces(absent, own))).toBe('<dramBytes> was not collected.')
  })

  it('joins to a paragraph as the language does', () => {
    expect(plain(paragraph([differs, 'Foreign.']))).toBe(`${inEnglish(differs)} Foreign.`)
    expect(plain(paragraph(['甲。', '乙。'], upsideDown))).toBe('甲。乙。')
  })
})

describe('a stored sentence', () => {
  it.each(storedKeys)('%s is read back with its values', (key) => {
    const sample = sampleOf(key)
    expect(recognize(inEnglish(sample))).toEqual(sample)
  })

  it('of someone else stays as it is', () => {
    expect(recognize('nvcc: error: no such file')).toBeUndefined()
    expect(recognize('It launches no kernel. Or does it?')).toBeUndefined()
    expect(recognize(`Computed from ${'9'.repeat(100_000)} threads`)).toBeUndefined()
  })
})
