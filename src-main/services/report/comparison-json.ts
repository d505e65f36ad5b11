/**
 * Formats a comparison of two sessions as JSON, the output of `report A --compare B --format json`.
 */
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
  /** The report's date, if the user gave one. */
  reportDate: z.string().optional(),
  /** Warnings about the compared values, including the warnings from both sessions. */
  warnings: z.array(Statement),
  /**
   * Summary of the difference between the sessions, with the same wording as in the other formats.
   */
  answer: z.string(),
  a: Session,
  b: Session,
  /** Rungs that both sessions contain. */
  rungs: z.array(
    RungComparison.extend({
      id: z.string(),
      /**
       * Reasons that the rung is faster or slower in session `b`. Empty if the rung's time is the
       * same or unknown.
       */
      causes: z.array(Cause),
      /** Source diff, or null if the source is the same or missing. */
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
