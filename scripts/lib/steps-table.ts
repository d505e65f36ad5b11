/** The table of docs/evidence/next.md that compares suggested moves with the steps that were made. */
import { md, mdTable } from '../../src-main/domain/text/markdown'
import { formatRatio } from '../../src-main/domain/metrics/units'

export interface StepRow {
  /** The ladder, recording, or kernel, as Markdown. */
  of: string
  from: string
  to: string
  /** Appended to the step, as Markdown. */
  note?: string
  made: readonly string[]
  /** A speedup. */
  gain: number
  /** The first moves that `next` suggested. */
  first: readonly string[]
  /** Whether a move of the step is among them. */
  isFirst: boolean
  /** The range of the gain, and whether it holds; null if no suggestion names a move of the step. */
  range: { low: number; high: number; holds: boolean } | null
}

export const stepsTable = (heading: string, steps: readonly StepRow[]): string =>
  mdTable(
    [
      { header: heading, align: 'left' },
      { header: 'step', align: 'left' },
      { header: 'made', align: 'left' },
      { header: 'gain', align: 'right' },
      { header: 'first three', align: 'left' },
      { header: 'range', align: 'right' },
      { header: '', align: 'left' },
    ],
    steps.map(({ of, from, to, note = '', made, gain, first, isFirst, range }) => [
      of,
      `\`${from}\` → \`${to}\`${note}`,
      md(made.join(', ')),
      formatRatio(gain),
      md(first.join(', ')),
      range ? `${formatRatio(range.low)} to ${formatRatio(range.high)}` : '–',
      [isFirst ? 'suggested' : 'missed', range ? (range.holds ? 'in range' : 'out of range') : '']
        .filter(Boolean)
        .join(', '),
    ]),
  )
