import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSession } from '../../src-main/adapters/sessions/session-store'
import type { Session } from '../../src-main/domain/session/session'
import type { Palette } from '../../src-renderer/charts/chart'

const rows = readFileSync(
  join(import.meta.dirname, '../../resources/recordings/sessions.jsonl'),
  'utf8',
).split('\n')

/** A recording that ships. */
export const recording = (name: string): Session => {
  const beginning = `{"session":"${name}",`
  const row = rows.find((text) => text.startsWith(beginning))
  if (row === undefined) throw new Error(`There is no recording ${name}.`)
  return parseSession(`{${row.slice(beginning.length)}`, name)
}

export const palette: Palette = {
  text: '#111111',
  text2: '#222222',
  text3: '#333333',
  rule: '#dddddd',
  ruleStrong: '#cccccc',
  bar: '#0000aa',
  barQuiet: '#999999',
  mark: '#000000',
  accent: '#00aa00',
  surface: '#ffffff',
  rest: '#777777',
  series: ['#100000', '#200000', '#300000', '#400000', '#500000', '#600000'],
  font: 'sans-serif',
}
