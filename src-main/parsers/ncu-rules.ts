/** ncu's own advice, from `--page details --csv`: rows that name a rule in place of a metric. */
import { parse } from 'csv-parse/sync'
import type { Rule } from '../domain/deep'
import { isWhole } from './ncu-csv'
import { parseNcuCell } from './ncu-values'

const kinds: Record<string, Rule['kind']> = {
  OPT: 'optimization',
  WRN: 'warning',
  ERR: 'error',
  INF: 'info',
}

const isSpeedupType = (text: string): text is 'global' | 'local' =>
  text === 'global' || text === 'local'

/** Advice by the id that ncu gives a launch, in its order. */
export function parseRules(text: string): Map<number, Rule[]> {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/)
  const first = lines.findIndex((line) => line.startsWith('"ID",'))
  const rules = new Map<number, Rule[]>()
  if (first < 0) return rules
  const rows: string[][] = parse(
    lines
      .slice(first)
      .filter((line) => line.startsWith('"') && isWhole(line))
      .join('\n'),
    { relax_column_count: true, relax_quotes: true },
  )
  const [header = [], ...rest] = rows
  const at = (column: string): number => header.indexOf(column)
  const columns = {
    section: at('Section Name'),
    name: at('Rule Name'),
    kind: at('Rule Type'),
    text: at('Rule Description'),
    type: at('Estimated Speedup Type'),
    speedup: at('Estimated Speedup'),
  }
  for (const row of rest) {
    const cell = (column: keyof typeof columns): string => row[columns[column]] ?? ''
    const launch = parseNcuCell(row[0] ?? '')
    if (cell('name') === '' || typeof launch !== 'number') continue
    const speedup = parseNcuCell(cell('speedup'))
    const type = cell('type')
    rules.set(launch, [
      ...(rules.get(launch) ?? []),
      {
        section: cell('section'),
        name: cell('name'),
        kind: kinds[cell('kind')] ?? 'info',
        text: cell('text'),
        estimatedSpeedup: typeof speedup === 'number' ? speedup : null,
        speedupType: isSpeedupType(type) ? type : null,
      },
    ])
  }
  return rules
}
