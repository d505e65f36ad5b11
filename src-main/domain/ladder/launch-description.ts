/**
 * The `launch` entry of a rung whose file is machine code or PTX. The entry contains the kernel
 * name, dimensions, and arguments. Extents, byte counts, and arguments are expressions over the
 * task's values.
 */
import { z } from 'zod'
import { checkFormula, type Report } from '../task/faults'
import { launchLayout } from '../task/layout'
import { valueOf, type Case } from '../task/problem'
import { launchScalars, type Task, type TaskScalar } from '../task/task'
import { message } from '../messages/message'

const Formula = z.union([z.string().min(1), z.number()])
const extents = z.array(Formula).min(1).max(3)

export const LaunchDescription = z.strictObject({
  kernel: z
    .string()
    .regex(/^[\w$.]{1,4096}$/, { message: 'The name of a kernel is the one in its file, mangled.' })
    .describe('The kernel, by its name in the file.'),
  grid: extents.describe('Blocks along x, y and z.'),
  block: extents.describe('Threads of a block along x, y and z.'),
  shared: Formula.optional().describe('Bytes of dynamic shared memory; 0 by default.'),
  workspace: Formula.optional().describe('Bytes of scratch memory; 0 by default.'),
  arguments: z
    .array(Formula)
    .max(1024)
    .describe(
      'In order: a buffer, `workspace`, `task` (the struct), or a number, such as `M` or `f32(1 / M)`.',
    ),
})
export type LaunchDescription = z.infer<typeof LaunchDescription>

const numberBytes = { i32: 4, u32: 4, i64: 8, u64: 8, f32: 4, f64: 8 } as const
type NumberType = keyof typeof numberBytes

export type Argument =
  | { kind: 'pointer'; name: string }
  | { kind: 'task' }
  | { kind: 'scalar'; name: string; dtype: TaskScalar['dtype'] }
  /** An integer of the parameter's width, unless `type` is set. */
  | { kind: 'number'; type: NumberType | null; formula: string | number }

export function argumentOf(task: Task, written: string | number): Argument {
  if (typeof written === 'number') return { kind: 'number', type: null, formula: written }
  const name = written.trim()
  if (Object.hasOwn(task.buffers, name) || name === 'workspace') return { kind: 'pointer', name }
  if (name === 'task') return { kind: 'task' }
  const scalar = launchScalars(task).find(([own]) => own === name)?.[1]
  if (scalar) return { kind: 'scalar', name, dtype: scalar.dtype }
  const [, type, formula] = /^([iuf](?:32|64))\((.*)\)$/s.exec(name) ?? []
  return type !== undefined && Object.hasOwn(numberBytes, type)
    ? { kind: 'number', type: type as NumberType, formula: formula! }
    : { kind: 'number', type: null, formula: name }
}

/** Returns the parameter size in bytes for an argument, or null if any integer width is allowed. */
export function argumentBytes(task: Task, argument: Argument): number | null {
  if (argument.kind === 'pointer') return 8
  if (argument.kind === 'task') return launchLayout(task).bytes
  const type = argument.kind === 'scalar' ? argument.dtype : argument.type
  return type === null ? null : numberBytes[type]
}

const isFloat = (type: NumberType | null): boolean => type !== null && type.startsWith('f')

type Amount = readonly [path: readonly (string | number)[], formula: string | number, least: number]

const amountsOf = ({ grid, block, shared = 0, workspace = 0 }: LaunchDescription): Amount[] => [
  ...grid.map((formula, index): Amount => [['grid', index], formula, 1]),
  ...block.map((formula, index): Amount => [['block', index], formula, 1]),
  [['shared'], shared, 0],
  [['workspace'], workspace, 0],
]

/** Reports any unknown names and invalid expressions in a launch description. */
export function checkLaunch(task: Task, launch: LaunchDescription, report: Report): void {
  for (const [path, formula] of amountsOf(launch)) checkFormula(task, report, path, formula)
  for (const [index, written] of launch.arguments.entries()) {
    const argument = argumentOf(task, written)
    if (argument.kind === 'number')
      checkFormula(task, report, ['arguments', index], argument.formula)
  }
}

/** Reports invalid extents, sizes, and integers for one problem. */
export function checkLaunchAt(
  task: Task,
  own: Case,
  launch: LaunchDescription,
  report: Report,
): void {
  const check = (
    path: readonly (string | number)[],
    formula: string | number,
    least: number,
  ): void => {
    const value = valueOf(task, own, formula)
    if (value === null || !Number.isInteger(value) || value < least)
      report(
        path,
        value === null
          ? message('task.notFinite', { what: formula })
          : message('compiled.amount', { what: formula, value, least }),
      )
  }
  for (const amount of amountsOf(launch)) check(...amount)
  for (const [index, written] of launch.arguments.entries()) {
    const argument = argumentOf(task, written)
    if (argument.kind !== 'number') continue
    const value = valueOf(task, own, argument.formula)
    if (value === null || (!isFloat(argument.type) && !Number.isInteger(value)))
      report(
        ['arguments', index],
        value === null
          ? message('task.notFinite', { what: argument.formula })
          : message('compiled.fraction', { what: argument.formula, value }),
      )
  }
}
