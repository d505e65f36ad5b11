import { describe, expect, it } from 'vitest'
import { findCommands } from './commands'
import { goTos, placeOf } from './go-to'
import { helpGroups } from './help-keys'
import en from '../../locales/en'

const command = (title: string, group = 'Go to') => ({ id: title, title, group, run: () => {} })
const all = [
  command('Show all'),
  command('Ladder'),
  command('Charts of the ladder'),
  command('밝게', '테마'),
]

describe('a search of the commands', () => {
  it.each([
    ['', ['Show all', 'Ladder', 'Charts of the ladder', '밝게']],
    ['ladder', ['Ladder', 'Charts of the ladder']],
    ['LADDER charts', ['Charts of the ladder']],
    ['go al', ['Show all']],
    ['테마', ['밝게']],
    ['nothing', []],
  ])('for %j', (search, titles) => {
    expect(findCommands(all, search).map(({ title }) => title)).toEqual(titles)
  })
})

describe('the letters after g', () => {
  it('are each one screen’s', () => {
    expect(new Set(goTos.map(({ key }) => key)).size).toBe(goTos.length)
  })
  it('lead to the session on screen, or home while there is none', () => {
    const ladder = goTos.find(({ name }) => name === 'ladder')!
    expect(placeOf(ladder, 'mine')).toEqual({ name: 'ladder', params: { sessionRef: 'mine' } })
    expect(placeOf(ladder, null)).toEqual({ name: 'home' })
  })
})

it('the help sheet has a sentence for each key', () => {
  for (const { id, entries } of helpGroups)
    for (const entry of entries)
      expect((en.help[id] as Record<string, string>)[entry.id], `${id}.${entry.id}`).toBeTypeOf(
        'string',
      )
})
