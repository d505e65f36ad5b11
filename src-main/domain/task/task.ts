/**
 * A task: what the rungs of a ladder compute, as data. cuda-kernels/<task>/task.yaml has this shape, and sessions
 * contain it, so that their figures can be interpreted without the file. docs/guides/ladders.md says how to write one.
 */
import { z } from 'zod'

/** Names become C struct fields, variables in expressions and command-line options. */
export const Name = z.string().regex(/^[A-Za-z][A-Za-z0-9_]{0,39}$/, {
  message: 'A name consists of letters, digits and "_", and begins with a letter.',
})
const Title = z.string().trim().min(1)
const Id = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,79}$/)
/** An expression (expression.ts) over the names of `expressionNames`. */
const Formula = z.union([z.string().min(1), z.number()])
export type Formula = z.infer<typeof Formula>
const whole = z.number().int()

/** KL_MAX_DIMENSION of the launch ABI: an index along one dimension, and a tile beyond it, fits in an int. */
export const maxSize = 2 ** 28

export const TaskSize = z.strictObject({
  title: Title.optional(),
  max: whole
    .min(1)
    .max(2 ** 53 - 1)
    .default(maxSize),
  /** The default if neither the ladder nor the request gives one; without it, all sizes must be given together. */
  value: whole.min(1).optional(),
  /** Kernels are built for the default: it stays where the other sizes are made smaller, as for an emulated GPU. */
  fixed: z.literal(true).optional(),
})
export type TaskSize = z.infer<typeof TaskSize>

const TaskScalar = z.strictObject({
  title: Title.optional(),
  dtype: z.enum(['f32', 'f64', 'i32', 'i64']),
  /** The default if neither the ladder nor the request gives one. */
  value: z.number(),
  /** Only the expressions of the task know it, such as how inputs are filled: it is in no struct, and rungs are not told. */
  inputs: z.literal(true).optional(),
})
export type TaskScalar = z.infer<typeof TaskScalar>

/** A choice for the whole run or for one rung; the first is the default. */
const TaskOption = z.strictObject({
  title: Title.optional(),
  /** The `int` field of the launch struct that holds the chosen number. */
  field: Name,
  choices: z.record(Name, whole),
})
type TaskOption = z.infer<typeof TaskOption>

/** An extra computation that a rung's header turns on. */
export const TaskFlag = z.strictObject({
  title: Title.optional(),
  /** The `int` field of the launch struct that is set to `value` if the flag is on, and its C type name. */
  field: Name.optional(),
  value: whole.optional(),
  enum: z.record(Name, whole).optional(),
})
export type TaskFlag = z.infer<typeof TaskFlag>

const TaskFlags = z.strictObject({
  /** The key of a rung's header: `@<header> <flag> …`. */
  header: z.string().regex(/^[a-z][a-z0-9-]{0,39}$/),
  values: z.record(Name, TaskFlag),
})

/** A file in the task's folder, with `/`. */
const FilePath = z
  .string()
  .max(300)
  .regex(/^(?!.*(?:^|\/)\.\.?(?:\/|$))[^/\\:][^\\:]*$/, {
    message: 'A file path is relative to the task’s folder, with "/" and without "..".',
  })

/** What results are checked against: a source file, or a trusted rung of the ladder. */
const TaskReference = z.union([
  FilePath.regex(/\.(cu|py)$/, { message: 'A reference is a .cu or .py file, or { rung: ID }.' }),
  z.strictObject({ rung: Id }),
])
type TaskReference = z.infer<typeof TaskReference>

/** One line of the last extent in so many holds infinities or NaN (`specialKinds`); 0 for none. */
const Special = Formula.optional()

export const TaskFill = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('uniform'), lo: Formula, hi: Formula, special: Special }),
  z.strictObject({ kind: z.literal('normal'), mean: Formula, sd: Formula, special: Special }),
  z.strictObject({ kind: z.literal('constant'), value: Formula }),
  z.strictObject({ kind: z.literal('zero') }),
  z.strictObject({ kind: z.literal('iota') }),
  z.strictObject({ kind: z.literal('permutation') }),
  /** A .npy file next to the task's, of the buffer's type and shape. */
  z.strictObject({ kind: z.literal('file'), path: FilePath }),
  /** What `kl_inputs` of the reference computes from the other inputs. */
  z.strictObject({ kind: z.literal('computed') }),
])
/** The values of a fill, in the order in which they are told to the runner. */
export const fillValues = (fill: TaskFill): [string, Formula][] => {
  const { kind: _kind, ...values } = fill
  return fill.kind === 'file' ? [] : Object.entries(values)
}
export type TaskFill = z.infer<typeof TaskFill>

export const TaskBuffer = z.strictObject({
  /** Its display name; by default its own name. */
  name: Title.optional(),
  /** A type, or an option whose choices are types. */
  dtype: Name,
  shape: z.array(Formula).min(1).max(8),
  access: z.enum(['in', 'out', 'inout']),
  /** A scalar: if it is 0, the buffer must not be read, and contains NaN. */
  read_when: Name.optional(),
  /** A flag: if it is off, the buffer does not exist. */
  when: Name.optional(),
  fill: TaskFill.optional(),
})
export type TaskBuffer = z.infer<typeof TaskBuffer>

/** The reference says which elements count: those that it does not set to 0 in a mask. */
const mask = z.literal(true).optional()

/** How far a result may deviate from the reference. */
const TaskCheck = z.union([
  /** |error| ≤ bound · scale, where the reference provides the scale of each element. */
  z.strictObject({ scale: z.literal(true), bound: Formula, mask }),
  /** |error| ≤ atol + rtol · |expected| */
  z.strictObject({ rtol: Formula, atol: Formula, mask }),
  z.strictObject({ exact: z.literal(true), mask }),
])
type TaskCheck = z.infer<typeof TaskCheck>

const TaskWork = z.strictObject({
  /** Floating-point operations per launch; absent if they are meaningless. */
  flops: Formula.optional(),
  /** The minimum bytes that any launch reads and writes. */
  reads: Formula,
  writes: Formula,
  /** By option: the choices whose arithmetic runs on tensor cores. */
  tensor: z.record(Name, z.array(Name).min(1)).optional(),
})

export const Task = z.strictObject({
  id: Id,
  title: Title,
  summary: Title.optional(),
  /** One line of plain text, for the provenance of figures. */
  formula: Title.optional(),
  /** What a rung computes without flags, as a sentence fragment: `the product`. */
  result: Title.optional(),
  /** The launch struct's name. */
  struct: z
    .string()
    .regex(/^[A-Z][A-Za-z0-9_]{0,39}$/)
    .default('KlTask'),
  sizes: z.record(Name, TaskSize),
  constraints: z
    .array(z.string().min(1))
    .optional()
    .describe('What sizes and scalars must fulfill, such as "T % 128 == 0".'),
  scalars: z
    .record(Name, TaskScalar)
    .default({})
    .describe('Other numbers passed to a launch, by name.'),
  options: z
    .record(Name, TaskOption)
    .default({})
    .describe('Choices for the whole run or for one rung, such as a type.'),
  flags: TaskFlags.optional(),
  /** In order: a buffer's position selects the random stream that fills it. */
  buffers: z
    .record(Name, TaskBuffer)
    .describe('Arrays on the GPU that a launch reads and writes, dense and row-major, by name.'),
  workspace: z
    .literal('zero')
    .optional()
    .describe(
      'Zeroes the workspace of a rung before each launch; otherwise its contents are undefined.',
    ),
  reference: TaskReference.describe(
    'What results are checked against: a .cu file that defines kl_reference, or { rung: ID }.',
  ),
  check: z
    .record(Name, TaskCheck)
    .describe('How far a result may deviate from the reference, for each buffer that is written.'),
  work: TaskWork.describe('The minimum work of a launch, as expressions over the names above.'),
  sanitize: z
    .record(Name, whole.min(1))
    .optional()
    .describe('Small and ragged: the default sizes under compute-sanitizer.'),
})
export type Task = z.infer<typeof Task>

/** The file that computes the expected result; null if a rung is trusted. */
export const referenceFile = ({ reference }: Pick<Task, 'reference'>): string | null =>
  typeof reference === 'string' ? reference : null

/** The files that fill buffers. */
export const fillFiles = ({ buffers }: Pick<Task, 'buffers'>): { buffer: string; path: string }[] =>
  Object.entries(buffers).flatMap(([buffer, { fill }]) =>
    fill?.kind === 'file' ? [{ buffer, path: fill.path }] : [],
  )

/** Whether some inputs are computed from others by the reference. */
export const hasComputedInputs = ({ buffers }: Pick<Task, 'buffers'>): boolean =>
  Object.values(buffers).some(({ fill }) => fill?.kind === 'computed')

export const sizeNames = (task: Pick<Task, 'sizes'>): string[] => Object.keys(task.sizes)

/** The scalars that rungs and reference are told. */
export const launchScalars = ({ scalars }: Pick<Task, 'scalars'>): [string, TaskScalar][] =>
  Object.entries(scalars).filter(([, { inputs }]) => !inputs)

export const flagsOf = ({ flags }: Pick<Task, 'flags'>): [string, TaskFlag][] =>
  Object.entries(flags?.values ?? {})

export const outputsOf = ({ buffers }: Pick<Task, 'buffers'>): string[] =>
  Object.entries(buffers).flatMap(([name, { access }]) => (access === 'in' ? [] : [name]))

/** A buffer's display name. */
export const bufferTitle = (task: Pick<Task, 'buffers'> | null, buffer: string): string =>
  task?.buffers[buffer]?.name ?? buffer

/** `C[3][17]` */
export const elementPlace = (
  task: Pick<Task, 'buffers'> | null,
  buffer: string,
  index: readonly number[],
): string => `${bufferTitle(task, buffer)}${index.map((at) => `[${at}]`).join('')}`

/** What a rung computes without flags, as a sentence fragment. */
export const resultOf = (task: Pick<Task, 'result' | 'title'> | null): string =>
  task?.result ?? task?.title ?? ''

export const flagTitle = (task: Pick<Task, 'flags'> | null, flag: string): string =>
  task?.flags?.values[flag]?.title ?? flag

/** The names that an expression of the task may use. */
export const expressionNames = (task: Task): string[] => [
  ...Object.keys(task.sizes),
  ...Object.keys(task.scalars),
  ...flagsOf(task).map(([name]) => name),
  ...Object.keys(task.options).map((option) => `${option}.bytes`),
]
