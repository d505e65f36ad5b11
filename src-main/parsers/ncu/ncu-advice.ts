/**
 * Parses ncu's advice in the output of `--page details --csv`. A row with advice names a rule
 * instead of a metric.
 */
import { parse } from 'csv-parse/sync'
import type { Rule } from '../../domain/session/deep'
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

const ruleColumnsOf = {
  section: 'Section Name',
  name: 'Rule Name',
  kind: 'Rule Type',
  text: 'Rule Description',
  type: 'Estimated Speedup Type',
  speedup: 'Estimated Speedup',
} as const

/**
 * Returns a function that parses the advice in a row, based on this header. The function returns
 * null if a row contains no advice.
 */
export function ruleReader(header: readonly string[]): (row: readonly string[]) => Rule | null {
  const at = Object.fromEntries(
    Object.entries(ruleColumnsOf).map(([key, column]) => [key, header.indexOf(column)]),
  ) as Record<keyof typeof ruleColumnsOf, number>
  return (row) => {
    const cell = (column: keyof typeof ruleColumnsOf): string => row[at[column]] ?? ''
    if (cell('name') === '') return null
    const speedup = parseNcuCell(cell('speedup'))
    const type = cell('type')
    return {
      section: cell('section'),
      name: cell('name'),
      kind: kinds[cell('kind')] ?? 'info',
      text: cell('text'),
      estimatedSpeedup: typeof speedup === 'number' ? speedup : null,
      speedupType: isSpeedupType(type) ? type : null,
    }
  }
}

/** Returns the advice for each launch, by ncu's launch id and in file order. */
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
  const read = ruleReader(header)
  for (const row of rest) {
    const launch = parseNcuCell(row[0] ?? '')
    const rule = read(row)
    if (rule && typeof launch === 'number') rules.set(launch, [...(rules.get(launch) ?? []), rule])
  }
  return rules
}
