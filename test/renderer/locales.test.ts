/** Korean and Chinese say all that English says; the rules are in locales.ts. */
import { describe, expect, it } from 'vitest'
import en from '../../src-renderer/locales/en/screens.json'
import { pickLanguage } from '../../src-renderer/ui/language'
import { translationFaults } from './locales'

describe('a translation', () => {
  const original = { screen: { a: 'Open {name}', n: '{n} rung | {n} rungs' } }

  it.each([
    ['a missing key', { screen: { n: '{n}' } }, 'screen.a is missing'],
    [
      'a key of its own',
      { screen: { a: '{name}', n: '{n}', b: 'x' } },
      'screen.b is not in English',
    ],
    [
      'another placeholder',
      { screen: { a: '{nom}', n: '{n}' } },
      'screen.a has the placeholders nom in place of name',
    ],
    [
      'a placeholder left out',
      { screen: { a: 'Open', n: '{n}' } },
      'screen.a has the placeholders none in place of name',
    ],
    ['an empty sentence', { screen: { a: ' ', n: '{n}' } }, 'screen.a is empty'],
    [
      'plural forms that are neither one nor English’s',
      { screen: { a: '{name}', n: '{n} | {n} | {n}' } },
      'screen.n has other plural forms',
    ],
  ])('is at fault for %s', (_what, translated, fault) => {
    expect(translationFaults(original, translated)).toContain(fault)
  })

  it('may do without plurals', () => {
    expect(translationFaults(original, { screen: { a: '{name} 열기', n: '단계 {n}개' } })).toEqual(
      [],
    )
  })
})

describe('the language at the start', () => {
  it.each([
    [['ko-KR', 'en-US'], 'ko'],
    [['zh-TW'], 'zh-CN'],
    [['de', 'zh-Hans-SG'], 'zh-CN'],
    [['fr-FR', 'en-GB', 'ko'], 'en'],
    [['tlh'], 'en'],
    [[], 'en'],
  ])('for %s is %s', (wanted, name) => {
    expect(pickLanguage(wanted)).toBe(name)
  })
})

it('English is told from a translation by its script', () => {
  expect(JSON.stringify(en)).not.toMatch(/[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]/)
})
