/** The output of `ladders --json`. */
import { z } from 'zod'
import { RungMeasured } from '../../../domain/analysis/rung-measured'
import { LadderFile } from '../../../domain/ladder/ladder'
import { Expectation, Identifier, Parameters, RungParameter } from '../../../domain/ladder/rung'
import { Options, Sizes } from '../../../domain/task/problem'
import { Task } from '../../../domain/task/task'
import { documentKind } from './document'

const ListedRung = z.object({
  /** The variant's name, if the ladder gives one. */
  id: Identifier,
  /** null if the rung's file is unusable, as are all fields from its header. */
  title: z.string().nullable(),
  idea: z.string().nullable(),
  expect: z.array(Expectation),
  note: z.string().nullable(),
  file: z.string().nullable(),
  params: z.array(RungParameter),
  /** Values of parameters that differ from the defaults. */
  values: Parameters,
  /** The task's options in this ladder. */
  options: Options,
  /** The choices that the rung supports, by option of the task. */
  takes: z.record(z.string(), z.array(z.string())),
  flags: z.array(z.string()),
  requires: z.string().nullable(),
  /** The command of a rung that is a program, word by word. */
  program: z.array(z.string()).optional(),
  /** The recorded measurement of the rung; null if no recording contains it. */
  measured: RungMeasured.nullable(),
})

export const laddersDocument = documentKind({
  name: 'ladders',
  version: 2,
  title: 'ladders',
  description:
    'What `kernel-ladder ladders --json` prints: the tasks, and the ladders with their rungs. `problems` lists the faults of unusable files, as sentences.',
  fields: {
    tasks: z.array(Task),
    ladders: z.array(
      LadderFile.omit({ schema: true }).extend({
        /** Id of its rungs' task; null for a ladder of programs. */
        task: Identifier.nullable(),
        /** Empty for a ladder of programs. */
        sizes: z.array(Sizes),
        rungs: z.array(ListedRung),
      }),
    ),
    problems: z.array(z.string()),
  },
})
