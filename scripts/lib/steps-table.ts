/**
 * Generates the table in docs/evidence/next.md that compares suggested moves with the moves
 * actually made.
 */
import { md, mdTable } from '../../src-main/domain/text/markdown'
import { formatRatio } from '../../src-main/domain/metrics/units'

export interface StepRow {
  /** Ladder, recording or kernel, as Markdown. */
  of: string
  from: string
  to: string
  /** Markdown text appended to the step. */
  note?: string
  made: readonly string[]
  /** Speedup of the step. */
  gain: number
  /** First suggestions of `next`. */
  first: readonly string[]
  /** Whether the step made one of the first suggested moves. */
  isFirst: boolean
  /**
   * Predicted range of the gain, and whether the gain is within the range. Null if the
   * step made none of the suggested moves.
   */
  range: { low: number; high: number; holds: boolean } | null
}

export const stepsTable = (heading: string, steps: readonly StepRow[]): string =>
  mdTable(
    [
      { header: heading, align: 'left' },
      { header: 'step', align: 'left' },
      { header: 'move made', align: 'left' },
      { header: 'gain', align: 'right' },
      { header: 'first three suggestions', align: 'left' },
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
