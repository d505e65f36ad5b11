/**
 * A task: a description of the computation that a ladder's rungs perform. This is the schema of
 * cuda-kernels/<task>/task.yaml. Sessions contain the task, so that their figures can be
 * interpreted without the ladder's files. docs/guides/ladders.md explains how to write a task.
 */
import { z } from 'zod'

/**
 * A name in a task. Names become C struct fields, variables in expressions, and command-line
 * options.
 */
export const Name = z.string().regex(/^[A-Za-z][A-Za-z0-9_]{0,39}$/, {
  message: 'A name consists of letters, digits and "_", and begins with a letter.',
})
const Title = z.string().trim().min(1)
const Id = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,79}$/)
/** An expression (see expression.ts) that may use the names in `expressionNames`. */
const Formula = z.union([z.string().min(1), z.number()])
export type Formula = z.infer<typeof Formula>
const whole = z.number().int()

/**
 * Equals KL_MAX_DIMENSION in the launch ABI. An index along one dimension fits in an int, even if
 * the index is one tile past the end.
 */
export const maxSize = 2 ** 28

export const TaskSize = z.strictObject({
  title: Title.optional(),
  max: whole
    .min(1)
    .max(2 ** 53 - 1)
    .default(maxSize),
  /**
   * Default value if neither the ladder nor the request has one. If there are no defaults, a
   * request must specify all sizes.
   */
  value: whole.min(1).optional(),
  /**
   * Whether kernels are built for the default size. A fixed size does not change when other sizes
   * are reduced, for example for an emulated GPU.
   */
  fixed: z.literal(true).optional(),
})
export type TaskSize = z.infer<typeof TaskSize>

const TaskScalar = z.strictObject({
  title: Title.optional(),
  dtype: z.enum(['f32', 'f64', 'i32', 'i64']),
  /** Default value if neither the ladder nor the request has one. */
  value: z.number(),
  /**
   * Marks an input-only scalar. Only the task's expressions use an input-only scalar, for example
   * in fills. The structs of rungs do not contain the scalar, so rungs do not receive its value.
   */
  inputs: z.literal(true).optional(),
})
export type TaskScalar = z.infer<typeof TaskScalar>

/**
 * An option, which has one choice for the whole run or for each rung. The first choice is the
 * default.
 */
const TaskOption = z.strictObject({
  title: Title.optional(),
  /** Name of the `int` field in the launch struct that contains the chosen number. */
  field: Name,
  choices: z.record(Name, whole),
})
type TaskOption = z.infer<typeof TaskOption>

/** An extra computation that a rung's header enables. */
export const TaskFlag = z.strictObject({
  title: Title.optional(),
  /**
   * Name of the `int` field in the launch struct that contains `value` if the flag is on. The field
   * name also determines the C type.
   */
  field: Name.optional(),
  value: whole.optional(),
  enum: z.record(Name, whole).optional(),
})
export type TaskFlag = z.infer<typeof TaskFlag>

const TaskFlags = z.strictObject({
  /** Keyword for flags in a rung's header, used as `@<header> <flag> …`. */
  header: z.string().regex(/^[a-z][a-z0-9-]{0,39}$/),
  values: z.record(Name, TaskFlag),
})

/** Path to a file in the task's folder, with `/` as the separator. */
const FilePath = z
  .string()
  .max(300)
  .regex(/^(?!.*(?:^|\/)\.\.?(?:\/|$))[^/\\:][^\\:]*$/, {
    message: 'A file path is relative to the task’s folder, with "/" and without "..".',
  })

/** The reference for verification: a source file, or a trusted rung of the ladder. */
const TaskReference = z.union([
  FilePath.regex(/\.(cu|py)$/, { message: 'A reference is a .cu or .py file, or { rung: ID }.' }),
  z.strictObject({ rung: Id }),
])
type TaskReference = z.infer<typeof TaskReference>

/**
 * N, if one in N rows contains infinities or NaN (`specialKinds`). A row extends along the last
 * dimension. 0 means that no row contains infinities or NaN.
 */
const Special = Formula.optional()

export const TaskFill = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('uniform'), lo: Formula, hi: Formula, special: Special }),
  z.strictObject({ kind: z.literal('normal'), mean: Formula, sd: Formula, special: Special }),
  z.strictObject({ kind: z.literal('constant'), value: Formula }),
  z.strictObject({ kind: z.literal('zero') }),
  z.strictObject({ kind: z.literal('iota') }),
  z.strictObject({ kind: z.literal('permutation') }),
  /** A .npy file in the task's folder, with the buffer's type and shape. */
  z.strictObject({ kind: z.literal('file'), path: FilePath }),
  /** Data that the reference's `kl_inputs` computes from the other inputs. */
  z.strictObject({ kind: z.literal('computed') }),
])
/** Returns a fill's values, in the order that the runner expects. */
export const fillValues = (fill: TaskFill): [string, Formula][] => {
  const { kind: _kind, ...values } = fill
  return fill.kind === 'file' ? [] : Object.entries(values)
}
export type TaskFill = z.infer<typeof TaskFill>

export const TaskBuffer = z.strictObject({
  /** Display name; the default is the buffer's key. */
  name: Title.optional(),
  /** An element type, or the name of an option that selects the type. */
  dtype: Name,
  shape: z.array(Formula).min(1).max(8),
  access: z.enum(['in', 'out', 'inout']),
  /** Name of a scalar. If the scalar is 0, the buffer must not be read and contains NaN. */
  read_when: Name.optional(),
  /** Name of a flag. If the flag is off, the buffer does not exist. */
  when: Name.optional(),
  fill: TaskFill.optional(),
})
export type TaskBuffer = z.infer<typeof TaskBuffer>

/** Whether the reference writes a mask. Elements with mask 0 are not checked. */
const mask = z.literal(true).optional()

/** Allowed deviation of a result from the reference. */
const TaskCheck = z.union([
  /**
   * Allows an absolute error of up to bound · scale. The reference provides a scale for each
   * element.
   */
  z.strictObject({ scale: z.literal(true), bound: Formula, mask }),
  /** Allows an absolute error of up to atol + rtol · abs(expected). */
  z.strictObject({ rtol: Formula, atol: Formula, mask }),
  z.strictObject({ exact: z.literal(true), mask }),
])
type TaskCheck = z.infer<typeof TaskCheck>

const TaskWork = z.strictObject({
  /** Floating-point operations per launch. Absent if the count has no meaning for the task. */
  flops: Formula.optional(),
  /** Minimum number of bytes that any launch reads and writes. */
  reads: Formula,
  writes: Formula,
  /** For each option, the choices whose arithmetic runs on tensor cores. */
  tensor: z.record(Name, z.array(Name).min(1)).optional(),
})

export const Task = z.strictObject({
  id: Id,
  title: Title,
  summary: Title.optional(),
  /** The computed formula as one line of plain text, shown with the provenance of figures. */
  formula: Title.optional(),
  /** The result of a rung without flags, as a sentence fragment such as `the product`. */
  result: Title.optional(),
  /** Launch struct name. */
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
  /** Buffers in order. A buffer's position selects the random stream for its contents. */
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

/**
 * Returns the path of the file that computes the expected result, or null if a rung is the
 * reference.
 */
export const referenceFile = ({ reference }: Pick<Task, 'reference'>): string | null =>
  typeof reference === 'string' ? reference : null

/** Returns the files that fill buffers. */
export const fillFiles = ({ buffers }: Pick<Task, 'buffers'>): { buffer: string; path: string }[] =>
  Object.entries(buffers).flatMap(([buffer, { fill }]) =>
    fill?.kind === 'file' ? [{ buffer, path: fill.path }] : [],
  )

/** Returns whether the reference computes some inputs from other inputs. */
export const hasComputedInputs = ({ buffers }: Pick<Task, 'buffers'>): boolean =>
  Object.values(buffers).some(({ fill }) => fill?.kind === 'computed')

export const sizeNames = (task: Pick<Task, 'sizes'>): string[] => Object.keys(task.sizes)

/** Returns the scalars that the rungs and the reference receive. */
export const launchScalars = ({ scalars }: Pick<Task, 'scalars'>): [string, TaskScalar][] =>
  Object.entries(scalars).filter(([, { inputs }]) => !inputs)

export const flagsOf = ({ flags }: Pick<Task, 'flags'>): [string, TaskFlag][] =>
  Object.entries(flags?.values ?? {})

export const outputsOf = ({ buffers }: Pick<Task, 'buffers'>): string[] =>
  Object.entries(buffers).flatMap(([name, { access }]) => (access === 'in' ? [] : [name]))

/** Returns a buffer's display name. */
export const bufferTitle = (task: Pick<Task, 'buffers'> | null, buffer: string): string =>
  task?.buffers[buffer]?.name ?? buffer

/** Formats an element's position, such as `C[3][17]`. */
export const elementPlace = (
  task: Pick<Task, 'buffers'> | null,
  buffer: string,
  index: readonly number[],
): string => `${bufferTitle(task, buffer)}${index.map((at) => `[${at}]`).join('')}`

/** Returns the result of a rung without flags, as a sentence fragment. */
export const resultOf = (task: Pick<Task, 'result' | 'title'> | null): string =>
  task?.result ?? task?.title ?? ''

export const flagTitle = (task: Pick<Task, 'flags'> | null, flag: string): string =>
  task?.flags?.values[flag]?.title ?? flag

/** Returns the names that the task's expressions may use. */
export const expressionNames = (task: Task): string[] => [
  ...Object.keys(task.sizes),
  ...Object.keys(task.scalars),
  ...flagsOf(task).map(([name]) => name),
  ...Object.keys(task.options).map((option) => `${option}.bytes`),
]
