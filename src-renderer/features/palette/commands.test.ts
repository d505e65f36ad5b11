import { describe, expect, it } from 'vitest'
import { findCommands } from './commands'
import { helpGroups } from './shortcuts'
import en from '../../locales/en/screens.json'
import { wordAt } from '../../../test/renderer/samples'

const command = (title: string, group = 'Go to') => ({ id: title, title, group, run: () => {} })
const all = [
  command('Show all'),
  command('Ladder'),
  command('Charts of the ladder'),
  command('밝게', '테마'),
  { ...command('12 Software pipelining', 'Rungs'), also: '09_register_prefetch' },
]

describe('a command search', () => {
  it.each([
    ['', ['Show all', 'Ladder', 'Charts of the ladder', '밝게', '12 Software pipelining']],
    ['register_pre', ['12 Software pipelining']],
    ['ladder', ['Ladder', 'Charts of the ladder']],
    ['LADDER charts', ['Charts of the ladder']],
    ['go al', ['Show all']],
    ['테마', ['밝게']],
    ['nothing', []],
  ])('for %j finds the matching commands', (search, titles) => {
    expect(findCommands(all, search).map(({ title }) => title)).toEqual(titles)
  })
})

it('the help sheet has a sentence for each key', () => {
  for (const { id, entries } of helpGroups)
    for (const entry of entries)
      expect(wordAt(en, `help.${id}.${entry.id}`), `${id}.${entry.id}`).toBeTypeOf('string')
})
