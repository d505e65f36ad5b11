/** The columns of a ladder in a document, whatever its format. */
import type { LadderRow } from './model'

export const ladderColumns: readonly { header: string; align?: 'left' }[] = [
  { header: 'Rung', align: 'left' },
  { header: 'What', align: 'left' },
  { header: 'Status', align: 'left' },
  { header: 'Time' },
  { header: '±' },
  { header: 'Throughput ○' },
  { header: 'To reference ○' },
  { header: 'To previous ○' },
]

/** Behind a rung's id, its title and its status: texts in the columns' order. */
export const ladderFigures = ({ time, spread, throughput, ratio, step }: LadderRow): string[] =>
  [time, spread, throughput, ratio, step].map(({ text }) => text)
