/** What `lab list --json`, `lab check --json` and `lab grade --json` print. */
import { z } from 'zod'
import { GradeRow, LabOutcome, labOutcomeVersion } from '../../../domain/labs/outcome'
import { LabFile } from '../../../domain/labs/lab'
import { Identifier } from '../../../domain/ladder/rung'
import { documentKind } from './document'

const ListedLab = LabFile.pick({
  title: true,
  summary: true,
  minutes: true,
  before: true,
  target: true,
}).extend({
  id: Identifier,
  /** `counters`: something is asked of them. */
  needs: LabFile.shape.needs.unwrap().extend({ counters: z.boolean() }),
})

export const labListDocument = documentKind({
  name: 'lab-list',
  version: 1,
  title: 'lab list',
  description:
    'What `kernel-ladder lab list --json` prints: the labs in order. `problems` lists the faults of unusable labs, as sentences.',
  fields: { labs: z.array(ListedLab), problems: z.array(z.string()) },
})

const { schema: _schema, ...outcome } = LabOutcome.shape

export const labCheckDocument = documentKind({
  name: 'lab-check',
  version: labOutcomeVersion,
  title: 'lab check',
  description:
    'What `kernel-ladder lab check --json` prints: the outcome of an attempt, check by check. docs/LABS.md says what a lab is.',
  fields: {
    ...outcome,
    /** Where the attempt is kept. */
    folder: z.string(),
  },
})

export const labGradeDocument = documentKind({
  name: 'lab-grade',
  version: 2,
  title: 'lab grade',
  description: 'What `kernel-ladder lab grade --json` prints: one row per submission.',
  fields: {
    /** What submissions were kept from, and what not, in words. */
    isolation: z.string(),
    seconds: z.number(),
    /** The labs' own solutions, graded first to see whether one can pass on this machine. */
    solutions: z.array(GradeRow),
    rows: z.array(GradeRow),
  },
})
