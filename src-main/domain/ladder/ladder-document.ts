/**
 * The ladder.yaml file in a ladder folder: a ladder and its task in one document.
 * docs/guides/ladders.md explains how to write a ladder.yaml file. `ladderOf` converts the document
 * to the form that built-in ladders have.
 */
import { z } from 'zod'
import { Name, Task, TaskSize } from '../task/task'
import { LadderEntry, type LadderFile } from './ladder'
import { BuildSettings } from './build-settings'
import { Identifier } from './rung'
import { ProgramLadderDocument } from './program-ladder'
import { At } from '../task/problem-request'

const Size = z.number().int().min(1)
/** Default maximum value of a size. Rung authors must choose index types that can hold it. */
const max = Number.MAX_SAFE_INTEGER
const TitledSize = TaskSize.extend({ value: Size, max: TaskSize.shape.max.unwrap().default(max) })

const { id: _id, title, sizes: _sizes, ...ofTask } = Task.shape

const TaskDocument = z.strictObject({
  /** Title; defaults to the ladder's title. */
  title: title.optional(),
  sizes: z
    .record(Name, z.union([Size, TitledSize]))
    .describe('Whole numbers by name, each with its default, which `at` or --at can override.'),
  ...ofTask,
})
type TaskDocument = z.infer<typeof TaskDocument>

export const LadderDocument = z.strictObject({
  $schema: z.string().optional(),
  kernel_ladder: z.literal(1).describe('The version of this format.'),
  id: Identifier.describe(
    'Sessions are named after it; it must not be the id of a shipped ladder.',
  ),
  title: z.string().min(1),
  summary: z.string().min(1).describe('A sentence about the ladder.'),
  task: TaskDocument.describe('What every rung computes.'),
  at: z
    .array(z.record(Name, Size))
    .min(1)
    .optional()
    .describe('Sizes to run at, the first by default; omitted names have the value in task.sizes.'),
  test_at: z
    .array(At)
    .optional()
    .describe('Sizes, scalars and options at which rungs are verified but not timed.'),
  reference_rung: Identifier.nullable()
    .optional()
    .describe('The rung that ratios are relative to.'),
  build: BuildSettings.optional().describe('How every rung is compiled.'),
  rungs: z
    .array(LadderEntry.strict())
    .min(1)
    .describe('In order; the rung `id` is the file id.cu next to this one.'),
})
export type LadderDocument = z.infer<typeof LadderDocument>

/** Converts a document to the form that built-in ladders and tasks have. */
export function ladderOf({
  id,
  title,
  summary,
  task: { title: taskTitle, sizes, ...task },
  at,
  test_at: testAt,
  reference_rung: reference,
  build,
  rungs,
}: LadderDocument): { task: Task; ladder: LadderFile } {
  const named = Object.entries(sizes).map(
    ([name, size]) => [name, typeof size === 'number' ? { value: size, max } : size] as const,
  )
  const values = Object.fromEntries(named.map(([name, { value }]) => [name, value]))
  return {
    task: { id, title: taskTitle ?? title, ...task, sizes: Object.fromEntries(named) },
    ladder: {
      schema: 2,
      id,
      title,
      summary,
      task: id,
      scalars: {},
      options: {},
      sizes: (at ?? [{}]).map((own) => ({ ...values, ...own })),
      ...(testAt ? { testAt } : {}),
      reference: reference ?? null,
      ...(build ? { build } : {}),
      rungs,
    },
  }
}

/** A ladder document for kernels or for programs. */
export const AnyLadderDocument = z.union([LadderDocument, ProgramLadderDocument])

/** Name of the schema file that `init` writes next to a new ladder.yaml. */
export const ladderSchemaFile = 'ladder.schema.json'

export const ladderSchema = (): object => ({
  title: 'Kernel Ladder ladder folder, version 1',
  description:
    'ladder.yaml or ladder.json of a ladder folder. docs/guides/ladders.md explains the keys; `kernel-ladder ladders DIR` also checks expressions, names and files.',
  // Describe the input form, in which fields that have a default are optional.
  ...z.toJSONSchema(AnyLadderDocument, { io: 'input' }),
})
