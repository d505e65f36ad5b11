/** The screens' entries, and the navigation, keys and titles derived from them. */
import { describe, expect, it } from 'vitest'
import { goTos } from './features/palette/shortcuts'
import en from './locales/en/screens.json'
import { placeOf, screens } from './screens'
import { wordAt } from '../test/renderer/samples'

const named = (name: string) => screens.find((screen) => screen.name === name)!

describe('the screens', () => {
  it('have a title each', () => {
    for (const { name } of screens) expect(wordAt(en, `title.${name}`), name).toBeTypeOf('string')
  })

  it('can each be reached: by a link, by a key, or from the one that it belongs under', () => {
    const lost = screens.filter(({ meta }) => !meta?.linked && !meta?.key && !meta?.under)
    expect(lost.map(({ name }) => name)).toEqual(['home', 'missing'])
    for (const { meta } of screens)
      if (meta?.under) expect(named(meta.under).meta?.linked).toBe(true)
  })
})

describe('the letters after g', () => {
  it('are each one screen’s', () => {
    expect(new Set(goTos.map(({ key }) => key)).size).toBe(goTos.length)
  })

  it('lead to the session on screen, or home while there is none', () => {
    expect(placeOf(named('ladder'), 'mine')).toEqual({
      name: 'ladder',
      params: { sessionRef: 'mine' },
    })
    expect(placeOf(named('ladder'), null)).toEqual({ name: 'home' })
    expect(placeOf(named('doctor'), null)).toEqual({ name: 'doctor' })
  })
})
