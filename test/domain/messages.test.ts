/** Messages: their English, and reading a stored sentence back into the message it was made from. */
import { describe, expect, it } from 'vitest'
import {
  englishTemplate,
  message,
  placeholder,
  type AnyMessage,
  type MessageKey,
  type MessageValue,
} from '../../src-main/domain/messages/message'
import {
  inEnglish,
  paragraph,
  pieces,
  plain,
  type Wording,
} from '../../src-main/domain/messages/wording'
import { recognize, recognizeAll, storedKeys } from '../../src-main/domain/messages/recognize'
import { code } from '../../src-main/domain/messages/sentence'

const differs = message('guard.gpu', { a: 'NVIDIA H200', b: message('guard.unknown') })
const upsideDown: Wording = {
  template: (key) => (key === 'guard.gpu' ? '{b} ≠ {a}' : englishTemplate(key).toUpperCase()),
  metric: (id) => `<${id}>`,
}

/** What to set in where a bare figure is not what belongs there. */
const moved = message('part.wentTimes', {
  metric: { metric: 'sharedLoads' },
  a: '805 M',
  b: '134 M',
  factor: '0.167',
})
const special: Readonly<Record<string, MessageValue>> = {
  metric: { metric: 'sharedLoads' },
  moved,
  direction: message('part.up'),
  stage: message('part.verify'),
  part: message('checks.atMostRegisters', { most: '64' }),
  rest: message('part.noSpills'),
  bound: message('part.boundFrom', { sign: '≤', limit: '1.00 ms', from: '0.5 × 01_naive' }),
  other: message('part.bound', { sign: '≥', limit: '7' }),
  faults: [
    message('part.tooManyRegisters', { registers: '72', most: '64' }),
    message('part.spills', { bytes: '8' }),
  ],
}

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
    expect(plain(paragraph(['甲。', '乙。']))).toBe('甲。乙。')
  })
})

describe('a stored sentence', () => {
  it.each(storedKeys)('%s is read back with its values', (key) => {
    const sample = sampleOf(key)
    expect(recognize(inEnglish(sample))).toEqual(sample)
  })

  it('may stand among others, and hold what a tool said', () => {
    expect(recognizeAll('It launches no kernel. Segmentation fault. It writes outside C.')).toEqual(
      [message('figures.noKernel'), 'Segmentation fault.', message('records.writesOutside')],
    )
    expect(recognize('At 1024³: The tool broke')).toEqual(
      message('checks.wrongAt', { size: '1024³', why: 'The tool broke' }),
    )
    expect(recognize('At 1024³: It writes outside C.')).toEqual(
      message('checks.wrongAt', { size: '1024³', why: message('records.writesOutside') }),
    )
  })

  it('of someone else stays as it is', () => {
    expect(recognize('nvcc: error: no such file')).toBeUndefined()
    expect(recognize('It launches no kernel. Or does it?')).toBeUndefined()
    expect(recognizeAll('ld: cannot find -lcublas. See nvcc.')).toEqual([
      'ld: cannot find -lcublas. See nvcc.',
    ])
    expect(recognize(`Computed from ${'9'.repeat(100_000)} threads`)).toBeUndefined()
  })
})
