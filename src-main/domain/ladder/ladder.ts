/** A ladder: an ordered list of rungs with a task and problem sizes. */
import { z } from 'zod'
import { Options, Scalars, Sizes } from '../task/problem'
import { Task } from '../task/task'
import { BuildSettings } from './build-settings'
import { LaunchDescription } from './launch-description'
import { Identifier, Parameters, RungHeader } from './rung'
import { At } from '../task/problem-request'

/** One entry in a ladder file: a rung and, for a variant, its parameters and name. */
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

/**
 * Figures that the author of a published ladder measured. The author's figures are shown next to
 * our measurements.
 */
export const Published = z.object({
  /** The author; absent if the document has none. */
  author: z.string().min(1).optional(),
  title: z.string().min(1),
  url: z.url().optional(),
  /** The author's GPU; absent if there are no figures. */
  gpu: z.string().min(1).optional(),
  size: Sizes,
  /** Throughput in GFLOP/s by rung id. */
  gflops: z.record(Identifier, z.number().positive()),
  /** Threads per block by rung id, if the author varied them. */
  threadsPerBlock: z.record(Identifier, z.number().int().positive()).optional(),
  /** The author's figures for other metrics, by rung id and metric id, in the metric's unit. */
  metrics: z.record(Identifier, z.record(z.string(), z.number())).default({}),
  conclusion: z.string().min(1),
})
export type Published = z.infer<typeof Published>

/** Content of a ladder file, cuda-kernels/<task>/ladders/<id>.json. */
export const LadderFile = z.object({
  schema: z.literal(2),
  id: Identifier,
  /** Position among the ladders, starting at 1. Ladders without a position follow, sorted by id. */
  order: z.number().int().min(1).optional(),
  title: z.string().min(1),
  summary: z.string().min(1),
  /** Id of the task that all rungs implement. */
  task: Identifier,
  /** Scalars that differ from the task's defaults. */
  scalars: Scalars.default({}),
  options: Options.default({}),
  /** Problem sizes; the first is the default. */
  sizes: z.array(Sizes).min(1),
  /**
   * Additional problems at which rungs are verified but not timed. Keys are names from the task.
   */
  testAt: z.array(At).optional(),
  /**
   * The rung that ratios are relative to. The reference's launches are interleaved with every other
   * rung's launches. Null if there is no reference.
   */
  reference: Identifier.nullable(),
  /** Build settings for all rungs. */
  build: BuildSettings.optional(),
  published: Published.optional(),
  rungs: z.array(LadderEntry).min(1),
})
export type LadderFile = z.infer<typeof LadderFile>

/** A rung in a ladder, with its parameters resolved. */
export const LadderRung = z.object({
  /** Id, unique in the ladder. The id of a variant is its variant name. */
  id: Identifier,
  title: z.string(),
  header: RungHeader,
  params: Parameters,
  /** Task options that differ from the ladder's options. */
  options: Options.optional(),
  /** Path of the source under cuda-kernels, with `/` as separator. */
  file: z.string(),
  /** The kernel's launch description, for machine code or PTX. */
  launch: LaunchDescription.optional(),
  /** Build settings of the rung, merged with the ladder's settings. */
  build: BuildSettings.optional(),
  /** Command of a program rung, one word per element. */
  program: z.array(z.string()).min(1).optional(),
  negative: z.boolean().optional(),
  aside: z.boolean().optional(),
  note: z.string().optional(),
})
export type LadderRung = z.infer<typeof LadderRung>

export const Ladder = LadderFile.omit({ schema: true, order: true, rungs: true }).extend({
  /** Path of the ladder folder. Absent for built-in ladders and in older sessions. */
  folder: z.string().min(1).optional(),
  /** The task. Null in an import, whose task is unknown, and in a program ladder. */
  task: Task.nullable(),
  /** All scalars of the task by name. */
  scalars: Scalars,
  options: Options,
  /** Problem sizes; empty in an import and in a program ladder. */
  sizes: z.array(Sizes),
  rungs: z.array(LadderRung),
})
export type Ladder = z.infer<typeof Ladder>
