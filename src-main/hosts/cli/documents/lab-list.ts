/** The output of `lab list --json`. */
import { z } from 'zod'
import { Identifier } from '../../../domain/ladder/rung'
import { documentKind } from './document'
import { LabStanding } from '../../../contract/labs'
import { LabFile } from '../../../domain/labs/lab'

const ListedLab = LabFile.pick({
  title: true,
  summary: true,
  minutes: true,
  before: true,
  target: true,
}).extend({
  id: Identifier,
  /** Lab requirements. `counters` is true if some checks need counters. */
  needs: LabFile.shape.needs.unwrap().extend({ counters: z.boolean() }),
  ...LabStanding.shape,
})

export const labListDocument = documentKind({
  name: 'lab-list',
  version: 1,
  title: 'lab list',
  description:
    'What `kernel-ladder lab list --json` prints: the labs in order. `problems` lists the faults of unusable labs, as sentences.',
  fields: { labs: z.array(ListedLab), problems: z.array(z.string()) },
})
