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
    /**
     * Describes how submissions are isolated. Lists which actions of submissions were blocked and
     * which were not.
     */
    isolation: z.string(),
    seconds: z.number(),
    /**
     * Results of the labs' own solutions. The solutions are graded first, to test whether a correct
     * submission can pass on this machine.
     */
    solutions: z.array(GradeRow),
    rows: z.array(GradeRow),
  },
})
