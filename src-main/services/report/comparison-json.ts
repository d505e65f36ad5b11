/** A comparison of two sessions as JSON: what `report A --compare B --format json` writes. */
import { z } from 'zod'
import { plain, withText } from '../../domain/text/english'
import { Statement } from '../../domain/messages/message'
import { Cause } from '../../domain/why/why'
import { RungComparison } from '../../domain/analysis/compare'
import { Session } from '../../domain/session/session'
import { visibleJson } from '../../domain/text/hidden-characters'
import { Hunk } from '../compare/source-diff'
import type { ComparisonModel } from './comparison'

export const comparisonJsonVersion = 4

export const ComparisonJson = z.object({
  schema: z.literal(comparisonJsonVersion),
  /** The date of the report, if one was given. */
  reportDate: z.string().optional(),
  /** What the reader should know in addition to the figures, including the warnings of both sessions. */
  warnings: z.array(Statement),
  /** The difference between the sessions, worded as everywhere else. */
  answer: z.string(),
  a: Session,
  b: Session,
  /** The rungs in both sessions. */
  rungs: z.array(
    RungComparison.extend({
      id: z.string(),
      /** Why it is faster or slower in b; empty if it is the same or unknown. */
      causes: z.array(Cause),
      /** null if the source is the same or missing. */
      source: z.object({ hunks: z.array(Hunk).nullable() }),
    }),
  ),
})

export type ComparisonJson = z.infer<typeof ComparisonJson>

const documentOf = ({ a, b, answer, date, warnings, rungs }: ComparisonModel): ComparisonJson => ({
  schema: comparisonJsonVersion,
  ...(date === null ? {} : { reportDate: date }),
  warnings,
  answer: plain(answer),
  a,
  b,
  rungs: rungs.map(({ a: { id }, comparison, why, hunks }) => ({
    id,
    ...comparison,
    causes: why.causes,
    source: { hunks },
  })),
})

export const comparisonJson = (model: ComparisonModel): string =>
  visibleJson(withText(documentOf(model)))
