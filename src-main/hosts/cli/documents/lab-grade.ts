/** The output of `lab grade --json`. */
import { z } from 'zod'
import { documentKind } from './document'
import { GradeRow } from '../../../domain/labs/grade-row'

export const labGradeDocument = documentKind({
  name: 'lab-grade',
  version: 2,
  title: 'lab grade',
  description: 'What `kernel-ladder lab grade --json` prints: one row per submission.',
  fields: {
    /** What submissions were prevented from and what not, in words. */
    isolation: z.string(),
    seconds: z.number(),
    /** The labs' own solutions, graded first to test whether this machine can pass one. */
    solutions: z.array(GradeRow),
    rows: z.array(GradeRow),
  },
})
