/** Two sessions side by side as JSON: what `report A --compare B --format json` writes. */
import { z } from 'zod'
import { RungComparison } from '../../domain/analysis/compare'
import { Statement } from '../../domain/messages/message'
import { Session } from '../../domain/session/session'
import { visibleJson } from '../../domain/text/visible'
import { withText } from '../../domain/text/wording'
import { Hunk } from '../source-diff'
import type { ComparisonModel } from './comparison'

export const comparisonJsonVersion = 3

export const ComparisonJson = z.object({
  schema: z.literal(comparisonJsonVersion),
  /** The day to print in it, where one was given. */
  reportDate: z.string().optional(),
  /** What a reader must know beside the figures, the warnings of both sessions too. */
  warnings: z.array(Statement),
  a: Session,
  b: Session,
  /** Of the rungs that both sessions hold. */
  rungs: z.array(
    RungComparison.extend({
      id: z.string(),
      /** null where the source is the same, or a text is gone. */
      source: z.object({ hunks: z.array(Hunk).nullable() }),
    }),
  ),
})
export type ComparisonJson = z.infer<typeof ComparisonJson>

const documentOf = ({ a, b, date, warnings, rungs }: ComparisonModel): ComparisonJson => ({
  schema: comparisonJsonVersion,
  ...(date === null ? {} : { reportDate: date }),
  warnings,
  a,
  b,
  rungs: rungs.map(({ a: { id }, comparison, hunks }) => ({
    id,
    ...comparison,
    source: { hunks },
  })),
})

export const comparisonJson = (model: ComparisonModel): string =>
  visibleJson(withText(documentOf(model)))
