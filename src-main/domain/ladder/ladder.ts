/** A ladder: an ordered list of rungs with the task and the sizes they are climbed at. */
import { z } from 'zod'
import { Options, Scalars, Sizes } from '../task/problem'
import { At } from '../task/choose'
import { Task } from '../task/task'
import { Identifier, Parameters, RungHeader } from './rung'

/** One entry of a ladder file: a rung, and where a variant is meant, its parameters and own name. */
export const LadderEntry = z.object({
  id: Identifier.describe('The rung, and the name of its file without .cu.'),
  as: Identifier.optional().describe(
    'Id of this variant in the ladder; the rung’s own id where absent.',
  ),
  title: z.string().optional().describe('Where it is not the one of the rung’s header.'),
  params: Parameters.optional().describe('Values of @param where they are not the defaults.'),
  options: Options.optional().describe('Options of the task, where they are not those of the run.'),
  negative: z
    .boolean()
    .optional()
    .describe('Slower than the one before on purpose: what it teaches is in the note.'),
  note: z.string().optional().describe('A sentence on this rung in this ladder.'),
})
export type LadderEntry = z.infer<typeof LadderEntry>

/** What the author of a published ladder measured, to stand beside ours. */
export const Published = z.object({
  /** Left out where the document names nobody. */
  author: z.string().min(1).optional(),
  title: z.string().min(1),
  url: z.url().optional(),
  /** Left out where no figures are given. */
  gpu: z.string().min(1).optional(),
  size: Sizes,
  /** Throughput in GFLOP/s by rung id of the ladder. */
  gflops: z.record(Identifier, z.number().positive()),
  /** Threads of a block by rung id, where the author varied them. */
  threadsPerBlock: z.record(Identifier, z.number().int().positive()).optional(),
  /** Other figures by rung id and metric id, in the metric's unit. */
  metrics: z.record(Identifier, z.record(z.string(), z.number())).default({}),
  /** A sentence on what the author concluded. */
  conclusion: z.string().min(1),
})
export type Published = z.infer<typeof Published>

/** cuda-kernels/<task>/ladders/<id>.json */
export const LadderFile = z.object({
  schema: z.literal(2),
  id: Identifier,
  /** Where it stands among the ladders, the first at 1; those without one follow by id. */
  order: z.number().int().min(1).optional(),
  title: z.string().min(1),
  summary: z.string().min(1),
  /** Id of the task that its rungs compute. */
  task: Identifier,
  /** Where they are not the task's own. */
  scalars: Scalars.default({}),
  options: Options.default({}),
  /** The first is the default. */
  sizes: z.array(Sizes).min(1),
  /** Further problems at which rungs are verified and not timed, by names of the task. */
  testAt: z.array(At).optional(),
  /** The rung that ratios are taken to, interleaved with each other rung; null where there is none. */
  reference: Identifier.nullable(),
  published: Published.optional(),
  rungs: z.array(LadderEntry).min(1),
})
export type LadderFile = z.infer<typeof LadderFile>

/** A rung as it stands in a ladder, its parameters resolved. */
export const LadderRung = z.object({
  /** Unique in the ladder; the variant's name where the entry gives one. */
  id: Identifier,
  title: z.string(),
  header: RungHeader,
  params: Parameters,
  /** Options of the task, where they are not the ladder's. */
  options: Options.optional(),
  /** Path of the source below cuda-kernels, with `/`. */
  file: z.string(),
  negative: z.boolean().optional(),
  note: z.string().optional(),
})
export type LadderRung = z.infer<typeof LadderRung>

export const Ladder = LadderFile.omit({ schema: true, order: true, rungs: true }).extend({
  /** null in an import, of which it is not known. */
  task: Task.nullable(),
  /** Every scalar and option of the task, by its name. */
  scalars: Scalars,
  options: Options,
  /** Empty in an import. */
  sizes: z.array(Sizes),
  rungs: z.array(LadderRung),
})
export type Ladder = z.infer<typeof Ladder>
