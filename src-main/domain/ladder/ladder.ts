/** A ladder: an ordered list of rungs with their task and sizes. */
import { z } from 'zod'
import { Options, Scalars, Sizes } from '../task/problem'
import { Task } from '../task/task'
import { BuildSettings } from './build-settings'
import { LaunchDescription } from './launch-description'
import { Identifier, Parameters, RungHeader } from './rung'
import { At } from '../task/problem-request'

/** One entry of a ladder file: a rung and, for a variant, its parameters and name. */
export const LadderEntry = z.object({
  id: Identifier.describe('The rung, and the name of its file without .cu.'),
  as: Identifier.optional().describe(
    'Id of this variant in the ladder; by default the rung’s own id.',
  ),
  title: z.string().optional().describe('The title, if it differs from that of the rung’s header.'),
  idea: z
    .string()
    .min(1)
    .optional()
    .describe('What changes and why it should pay, of a file that has no header.'),
  launch: LaunchDescription.optional().describe('How the kernel of a .cubin or .ptx is launched.'),
  params: Parameters.optional().describe('Values of @param that differ from the defaults.'),
  options: Options.optional().describe('Options of the task that differ from those of the run.'),
  build: BuildSettings.optional().describe('How it is compiled, besides what the ladder says.'),
  negative: z
    .boolean()
    .optional()
    .describe('Intentionally slower than the one before; the note says what it teaches.'),
  aside: z
    .boolean()
    .optional()
    .describe('Beside the main story: it runs like any other, but gains at most 1 %.'),
  note: z.string().optional().describe('A sentence about this rung in this ladder.'),
  moves: z
    .array(Identifier)
    .min(1)
    .optional()
    .describe(
      'What the step to this rung changed, by the moves that `next` suggests (docs/evidence/next.md).',
    ),
})
export type LadderEntry = z.infer<typeof LadderEntry>

/** What the author of a published ladder measured, shown beside our figures. */
export const Published = z.object({
  /** Absent if the document names no author. */
  author: z.string().min(1).optional(),
  title: z.string().min(1),
  url: z.url().optional(),
  /** Absent if no figures are given. */
  gpu: z.string().min(1).optional(),
  size: Sizes,
  /** Throughput in GFLOP/s by rung id. */
  gflops: z.record(Identifier, z.number().positive()),
  /** Threads per block by rung id, if the author varied them. */
  threadsPerBlock: z.record(Identifier, z.number().int().positive()).optional(),
  /** Other figures by rung id and metric id, in the metric's unit. */
  metrics: z.record(Identifier, z.record(z.string(), z.number())).default({}),
  /** The author's conclusion, as a sentence. */
  conclusion: z.string().min(1),
})
export type Published = z.infer<typeof Published>

/** cuda-kernels/<task>/ladders/<id>.json */
export const LadderFile = z.object({
  schema: z.literal(2),
  id: Identifier,
  /** Position among the ladders, starting at 1; ladders without one follow, sorted by id. */
  order: z.number().int().min(1).optional(),
  title: z.string().min(1),
  summary: z.string().min(1),
  /** Id of its rungs' task. */
  task: Identifier,
  /** Scalars that differ from the task's defaults. */
  scalars: Scalars.default({}),
  options: Options.default({}),
  /** The first is the default. */
  sizes: z.array(Sizes).min(1),
  /** Additional problems at which rungs are verified but not timed, by names of the task. */
  testAt: z.array(At).optional(),
  /** The rung that ratios are relative to, timed alternately with every other rung; null if there is none. */
  reference: Identifier.nullable(),
  /** How its rungs are compiled. */
  build: BuildSettings.optional(),
  published: Published.optional(),
  rungs: z.array(LadderEntry).min(1),
})
export type LadderFile = z.infer<typeof LadderFile>

/** A rung in a ladder, with its parameters resolved. */
export const LadderRung = z.object({
  /** Unique in the ladder; the variant's name if the entry has one. */
  id: Identifier,
  title: z.string(),
  header: RungHeader,
  params: Parameters,
  /** Options of the task that differ from the ladder's. */
  options: Options.optional(),
  /** Path of the source under cuda-kernels, with `/`. */
  file: z.string(),
  /** For machine code or PTX: how its kernel is launched. */
  launch: LaunchDescription.optional(),
  /** How it is compiled: its settings merged with the ladder's. */
  build: BuildSettings.optional(),
  /** For a program rung: its command, word by word. */
  program: z.array(z.string()).min(1).optional(),
  negative: z.boolean().optional(),
  aside: z.boolean().optional(),
  note: z.string().optional(),
})
export type LadderRung = z.infer<typeof LadderRung>

export const Ladder = LadderFile.omit({ schema: true, order: true, rungs: true }).extend({
  /** Path of its ladder folder; absent for a shipped ladder, and in sessions that predate it. */
  folder: z.string().min(1).optional(),
  /** null in an import, whose task is unknown, and in a ladder of programs, which has none. */
  task: Task.nullable(),
  /** Every scalar and option of the task, by name. */
  scalars: Scalars,
  options: Options,
  /** Empty in an import and in a ladder of programs. */
  sizes: z.array(Sizes),
  rungs: z.array(LadderRung),
})
export type Ladder = z.infer<typeof Ladder>
