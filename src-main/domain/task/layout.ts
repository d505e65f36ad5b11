/**
 * Computes the C structs of a task: their fields, offsets, and the values that the runner stores in
 * them.
 */
import { bufferDtype, valueOf, type Case } from './problem'
import { dtypeOf, isDtype, type Dtype } from './dtype'
import { flagsOf, launchScalars, type Task, type TaskBuffer, type TaskFlag } from './task'

/** The value that the runner stores in a field. */
type Filled =
  | { kind: 'size' | 'scalar' | 'option' | 'flag'; name: string }
  /** A value that occurs only in the launch struct. */
  | { kind: 'buffer'; name: string }
  | { kind: 'workspace' | 'workspace-bytes' }
  /** A value that occurs only in the reference's struct. */
  | { kind: 'in' | 'out' | 'scale' | 'mask'; name: string }
  | { kind: 'progress' | 'sm-count' }

export interface Field {
  name: string
  /** C declaration without the semicolon. */
  declaration: string
  bytes: 4 | 8
  offset: number
  filled: Filled
  comment?: string
}

export interface Layout {
  name: string
  fields: Field[]
  bytes: number
}

type Unplaced = Omit<Field, 'offset'>

/** Lays out fields at their natural alignment, which equals the field size for these types. */
function placed(name: string, fields: readonly Unplaced[]): Layout {
  let end = 0
  const laid = fields.map((field) => {
    const offset = Math.ceil(end / field.bytes) * field.bytes
    end = offset + field.bytes
    return { ...field, offset }
  })
  const widest = Math.max(1, ...laid.map(({ bytes }) => bytes))
  return { name, fields: laid, bytes: Math.ceil(end / widest) * widest }
}

/**
 * A field that is set by one or more flags. The field has one entry even if several flags set it.
 */
interface FlagField {
  name: string
  /** Enum name, such as `KlActivation`. Null if the flags have no enum values. */
  type: string | null
  flags: [string, TaskFlag][]
}

export function flagFields(task: Task): FlagField[] {
  const fields = new Map<string, FlagField>()
  for (const [name, flag] of flagsOf(task)) {
    if (flag.field === undefined) continue
    const known = fields.get(flag.field) ?? { name: flag.field, type: null, flags: [] }
    if (flag.enum) known.type = `Kl${flag.field[0]!.toUpperCase()}${flag.field.slice(1)}`
    known.flags.push([name, flag])
    fields.set(flag.field, known)
  }
  return [...fields.values()]
}

const scalarTypes = { f32: 'float', f64: 'double', i32: 'int', i64: 'long long' } as const

const titled = (title: string | undefined): { comment?: string } =>
  title === undefined ? {} : { comment: title }

const sizeFields = (task: Task): Unplaced[] =>
  Object.entries(task.sizes).map(([name, { title }]) => ({
    name,
    declaration: `long long ${name}`,
    bytes: 8,
    filled: { kind: 'size', name },
    ...titled(title),
  }))

const scalarFields = (task: Task): Unplaced[] =>
  launchScalars(task).map(([name, { dtype, title }]) => ({
    name,
    declaration: `${scalarTypes[dtype]} ${name}`,
    bytes: dtype === 'f32' || dtype === 'i32' ? 4 : 8,
    filled: { kind: 'scalar', name },
    ...titled(title),
  }))

const optionFields = (task: Task): Unplaced[] =>
  Object.entries(task.options).map(([name, { field, title, choices }]) => ({
    name: field,
    declaration: `int ${field}`,
    bytes: 4,
    filled: { kind: 'option', name },
    comment: `${title ?? name}: ${Object.entries(choices)
      .map(([choice, number]) => `${choice} ${number}`)
      .join(', ')}`,
  }))

const flagFieldsOf = (task: Task): Unplaced[] =>
  flagFields(task).map(({ name, type, flags }) => ({
    name,
    declaration: `int ${name}`,
    bytes: 4,
    filled: { kind: 'flag', name },
    comment: type === null ? flags.map(([flag]) => `1 for ${flag}`).join(', ') : `a ${type}`,
  }))

const shapeWord = ({ shape }: TaskBuffer): string => shape.join('×')

/**
 * Returns `m×k of dtype` if an option determines the type, or only the shape if the type is fixed.
 */
const shapeWords = (buffer: TaskBuffer): string =>
  `${shapeWord(buffer)}${isDtype(buffer.dtype) ? '' : ` of ${buffer.dtype}`}`

/** Returns the C type that a pointer refers to, or `void` if an option determines the type. */
const cType = (dtype: string): string => (isDtype(dtype) ? dtypeOf(dtype).c : 'void')

/** Returns the CUDA toolkit headers that declare the types of the task's buffers. */
export const typeHeaders = ({ buffers }: Task): string[] => [
  ...new Set(
    Object.values(buffers).flatMap(({ dtype }) =>
      isDtype(dtype) ? (dtypeOf(dtype).header ?? []) : [],
    ),
  ),
]

const onlyWith = ({ when }: TaskBuffer): string =>
  when === undefined ? '' : `; null without ${when}`

function launchBuffer([name, buffer]: [string, TaskBuffer]): Unplaced {
  const { access, dtype, read_when: readWhen } = buffer
  const unread = readWhen === undefined ? '' : `; not to be read where ${readWhen} is 0`
  return {
    name,
    declaration: `${access === 'in' ? 'const ' : ''}${cType(dtype)}* ${name}`,
    bytes: 8,
    filled: { kind: 'buffer', name },
    comment: `${access}, ${shapeWords(buffer)}${unread}${onlyWith(buffer)}`,
  }
}

export function launchLayout(task: Task): Layout {
  const buffers = Object.entries(task.buffers)
  return placed(task.struct, [
    ...sizeFields(task),
    ...scalarFields(task),
    ...buffers.filter(([, { when }]) => when === undefined).map(launchBuffer),
    ...optionFields(task),
    {
      name: 'workspace',
      declaration: 'void* workspace',
      bytes: 8,
      filled: { kind: 'workspace' },
      comment: 'kl_workspace_bytes() bytes, or null where that is 0',
    },
    {
      name: 'workspaceBytes',
      declaration: 'size_t workspaceBytes',
      bytes: 8,
      filled: { kind: 'workspace-bytes' },
    },
    ...buffers.filter(([, { when }]) => when !== undefined).map(launchBuffer),
    ...flagFieldsOf(task),
  ])
}

function referenceBuffer(task: Task, [name, buffer]: [string, TaskBuffer]): Unplaced[] {
  const { access, dtype, fill, read_when: readWhen } = buffer
  const isComputed = fill?.kind === 'computed'
  const read = `${isComputed ? '' : 'const '}${cType(dtype)}*`
  const by = isComputed ? ', computed by kl_inputs' : ''
  if (access === 'in')
    return [
      {
        name,
        declaration: `${read} ${name}`,
        bytes: 8,
        filled: { kind: 'in', name },
        comment: `in, ${shapeWords(buffer)}${by}${onlyWith(buffer)}`,
      },
    ]
  const check = task.check[name]
  const before: Unplaced = {
    name: `${name}_in`,
    declaration: `${read} ${name}_in`,
    bytes: 8,
    filled: { kind: 'in', name },
    comment: `${name} before the launch, ${shapeWords(buffer)}${by}${readWhen === undefined ? '' : `; null where ${readWhen} is 0`}`,
  }
  const expected: Unplaced = {
    name,
    declaration: `${check && 'exact' in check ? cType(dtype) : 'double'}* ${name}`,
    bytes: 8,
    filled: { kind: 'out', name },
    comment: `expected, ${shapeWord(buffer)}${onlyWith(buffer)}`,
  }
  const scale: Unplaced = {
    name: `${name}_scale`,
    declaration: `double* ${name}_scale`,
    bytes: 8,
    filled: { kind: 'scale', name },
    comment: `what an element's error is measured by, ${shapeWord(buffer)}`,
  }
  const mask: Unplaced = {
    name: `${name}_mask`,
    declaration: `unsigned char* ${name}_mask`,
    bytes: 8,
    filled: { kind: 'mask', name },
    comment: `set to 0 where an element may have any value, ${shapeWord(buffer)}`,
  }
  return [
    ...(access === 'inout' ? [before] : []),
    expected,
    ...(check && 'scale' in check ? [scale] : []),
    ...(check?.mask ? [mask] : []),
  ]
}

export const referenceLayout = (task: Task): Layout =>
  placed('KlReference', [
    ...sizeFields(task),
    ...scalarFields(task),
    ...optionFields(task),
    ...flagFieldsOf(task),
    ...Object.entries(task.buffers).flatMap((buffer) => referenceBuffer(task, buffer)),
    {
      name: 'progress',
      declaration: 'void (*progress)(double fraction)',
      bytes: 8,
      filled: { kind: 'progress' },
      comment: 'to be called now and then: a silent reference is stopped',
    },
    {
      name: 'smCount',
      declaration: 'int smCount',
      bytes: 4,
      filled: { kind: 'sm-count' },
      comment: 'of this GPU',
    },
  ])

/** A buffer in a case, with numeric extents. A buffer that is not read has no fill. */
export interface CaseBuffer {
  name: string
  dtype: Dtype
  access: TaskBuffer['access']
  shape: number[]
  fill: TaskBuffer['fill'] | null
  /** Index of the random stream that fills the buffer. */
  stream: number
}

/** Returns a case's buffers. Throws if an extent is not an integer at these sizes. */
export function buffersOf(task: Task, own: Case): CaseBuffer[] {
  return Object.entries(task.buffers).flatMap(([name, buffer], stream) => {
    const { when, read_when: readWhen, fill } = buffer
    if (when !== undefined && !own.flags.includes(when)) return []
    const dtype = bufferDtype(buffer.dtype, own.options)
    const shape = buffer.shape.map((extent) => valueOf(task, own, extent))
    if (dtype === null || !shape.every((extent) => extent !== null && Number.isInteger(extent)))
      throw new Error(`The task ${task.id} gives its buffer ${name} no shape at these sizes.`)
    const isRead =
      buffer.access === 'in' ||
      (buffer.access === 'inout' && (readWhen === undefined || own.scalars[readWhen] !== 0))
    return [
      {
        name,
        dtype,
        access: isRead ? buffer.access : 'out',
        shape: shape as number[],
        fill: isRead ? (fill ?? { kind: 'zero' }) : null,
        stream,
      },
    ]
  })
}

/** Returns the number stored in an option's field. */
export const optionNumber = (task: Task, option: string, own: Case): number =>
  task.options[option]?.choices[own.options[option] ?? ''] ?? 0

/**
 * Returns the number stored in a flag field, or null if all its flags are off. Unset fields are 0.
 */
export function flagNumber(task: Task, field: string, own: Case): number | null {
  const on = flagFields(task)
    .find(({ name }) => name === field)
    ?.flags.find(([flag]) => own.flags.includes(flag))
  return on ? (on[1].value ?? 1) : null
}

/**
 * Returns a name for the case. Within one problem, rungs whose cases have the same name share one
 * case.
 */
export const caseName = ({ options, flags }: Pick<Case, 'options' | 'flags'>): string =>
  [...Object.values(options), ...flags].join('+') || 'all'
