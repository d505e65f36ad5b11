/**
 * Creates commands that run a session's rungs again: unchanged, at other sizes, or with a cold L2.
 * Pure.
 */
import type { ProfileLevel } from '../metrics/metric-definition'
import { can, kindOf } from '../targets/targets'
import { sameSizes, type Problem, type Sizes } from '../task/problem'
import { sizeNames, type Task } from '../task/task'
import type { Program, Session } from './session'

const plainWord = /^[A-Za-z0-9_@%+=:,./-]+$/

const quoted = (word: string): string =>
  plainWord.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`

/**
 * Returns options for parameters that differ from their defaults. `--param` applies to every rung
 * that declares the name and allows the value. The result omits a parameter if its option would
 * also change other rungs.
 */
function parameterWords({ ladder }: Session): string[] {
  const names = new Set(ladder.rungs.flatMap(({ params }) => Object.keys(params)))
  return [...names].flatMap((name) => {
    const holders = ladder.rungs.flatMap(({ params, header }) => {
      const declared = header.params.find((parameter) => parameter.name === name)
      return declared ? [{ value: params[name], declared }] : []
    })
    const changed = holders.find(({ value, declared }) => value !== declared.default)
    if (changed?.value === undefined) return []
    const { value } = changed
    const agrees = holders.every(
      (holder) => holder.value === value || !holder.declared.allowed.includes(value),
    )
    return agrees ? ['--param', `${name}=${value}`] : []
  })
}

/**
 * Returns the command-line option for a size. `--at` works for every task; named size options exist
 * only for built-in tasks.
 */
const at = (name: string, value: number | string): string[] => ['--at', `${name}=${value}`]

/** Returns the sizes as command-line options. */
function sizeOptions(task: Task, sizes: Sizes): string[] {
  const names = sizeNames(task)
  return names.length > 1 && new Set(Object.values(sizes)).size === 1
    ? ['--size', `${sizes[names[0]!]}`]
    : names.flatMap((name) => at(name, sizes[name]!))
}

/** Returns command-line options for all values that differ from the ladder's defaults. */
function problemOptions({ ladder }: Session, task: Task, problem: Problem): string[] {
  const { sizes, scalars, options } = problem
  const own: Record<string, number | string> = { ...ladder.scalars, ...ladder.options }
  return [
    ...sizeOptions(task, sizes),
    ...Object.entries({ ...scalars, ...options }).flatMap(([name, value]) =>
      own[name] === value ? [] : at(name, value),
    ),
  ]
}

const ladderWords = ({ ladder }: Session): string[] => ['--ladder', ladder.folder ?? ladder.id]

/** Returns the command that runs the session's ladder at the given sizes and profile level. */
export function runCommand(session: Session, sizes: Sizes | null, profile: ProfileLevel): string {
  const { task } = session.ladder
  const at = task && sizes ? sizeOptions(task, sizes) : []
  const words = ['kernel-ladder', 'run', ...ladderWords(session), ...at, '--profile', profile]
  return words.map(quoted).join(' ')
}

/**
 * Returns the other sizes that the ladder lists, or half the problem's sizes if the ladder lists no
 * other sizes.
 */
export function otherSizes({ ladder, problem }: Session): Sizes | null {
  if (!problem) return null
  const half = Object.entries(problem.sizes).map(([name, size]) => [name, Math.ceil(size / 2)])
  return (
    ladder.sizes.find((sizes) => !sameSizes(sizes, problem.sizes)) ??
    (Object.fromEntries(half) as Sizes)
  )
}

function profileCommand({ command, filters }: Program, level: string): string {
  const { kernels, nvtx, skip, count } = filters
  const option = (name: string, value: string | number | null): string[] =>
    value === null || value === 0 ? [] : [name, String(value)]
  const words = [
    ...['kernel-ladder', 'profile'],
    ...[...option('--kernels', kernels), ...option('--nvtx', nvtx)],
    ...[...option('--skip', skip), ...option('--count', count)],
    ...['--profile', level, '--', ...command],
  ]
  return words.map(quoted).join(' ')
}

/**
 * Returns the command that reproduces the session. The command runs the rungs on the same kind of
 * GPU, profiles the same program, or imports the same file.
 */
export function reproduceCommand(session: Session): string {
  if (session.program) return profileCommand(session.program, session.settings.profile)
  const again = kindOf(session.target).again(session.target.name)
  if (again === null) return ['kernel-ladder', 'import', session.target.name].map(quoted).join(' ')
  const { ladder, problem, settings } = session
  const { task } = ladder
  const words = [
    'kernel-ladder',
    'run',
    ...ladderWords(session),
    // List the rungs explicitly, because the ladder may have more rungs now.
    '--rungs',
    session.rungs.map(({ id }) => id).join(','),
    ...(task && problem ? problemOptions(session, task, problem) : []),
    ...parameterWords(session),
    ...again,
    ...(can(session.target).profiles ? ['--profile', settings.profile] : []),
    ...(settings.timing ? ['--timing', settings.timing] : []),
    ...(settings.cacheState === 'warm' ? ['--warm'] : []),
  ]
  return words.map(quoted).join(' ')
}

/** Returns the command that measures a session's rungs again with a cold L2, which is the default. */
export const measureColdCommand = (session: Session): string =>
  reproduceCommand({ ...session, settings: { ...session.settings, cacheState: 'cold' } })
