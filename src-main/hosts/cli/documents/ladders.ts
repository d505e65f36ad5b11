/** The output of `ladders --json`. */
import { z } from 'zod'
import { RungMeasured } from '../../../domain/analysis/rung-measured'
import { LadderFile } from '../../../domain/ladder/ladder'
import { Expectation, Identifier, Parameters, RungParameter } from '../../../domain/ladder/rung'
import { Options, Sizes } from '../../../domain/task/problem'
import { Task } from '../../../domain/task/task'
import { documentKind } from './document'

const ListedRung = z.object({
  /** Variant name if the ladder sets one, otherwise the rung id. */
  id: Identifier,
  /** Rung title. If the rung's file is unusable, every header field is null. */
  title: z.string().nullable(),
  idea: z.string().nullable(),
  expect: z.array(Expectation),
  note: z.string().nullable(),
  file: z.string().nullable(),
  params: z.array(RungParameter),
  /** Parameter values that differ from the defaults. */
  values: Parameters,
  /** Values of the task's options in this ladder. */
  options: Options,
  /** Option values that the rung supports, by task option. */
  takes: z.record(z.string(), z.array(z.string())),
  flags: z.array(z.string()),
  requires: z.string().nullable(),
  /** Command of a rung that is a program, as a list of arguments. */
  program: z.array(z.string()).optional(),
  /** The rung's recorded measurement, or null if no recording contains the rung. */
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
        /** The rungs' task id, or null for a ladder of programs. */
        task: Identifier.nullable(),
        /** Problem sizes. Empty for a ladder of programs. */
        sizes: z.array(Sizes),
        rungs: z.array(ListedRung),
      }),
    ),
    problems: z.array(z.string()),
  },
})
