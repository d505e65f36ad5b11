/** Turns a request into a plan of what to build and run, or explains why that is impossible. */
import type { KernelLibrary, RungSource } from '../../adapters/kernels/kernel-library'
import type { RunRequest } from '../../contract'
import { inputError } from '../../domain/errors'
import type { Ladder, LadderEntry, LadderFile, LadderRung } from '../../domain/ladder/ladder'
import type { ProfileLevel } from '../../domain/metrics/metric-definition'
import { problemAt, caseOf, type Problem } from '../../domain/task/problem'
import { requireProblem } from '../../domain/task/faults'
import type { Task } from '../../domain/task/task'
import type { Parameters } from '../../domain/ladder/rung'
import type { TimingWay } from '../../domain/session/session'
import { type Statement, message } from '../../domain/messages/message'
import { checkParams, giveParams } from './parameters'
import { meantOr } from '../../domain/text/text'

export interface PlannedRung {
  rung: LadderRung
  source: string
  /** What it is built with in place of the plan's headers. */
  headers?: ReadonlyMap<string, string>
}

export interface RunPlan {
  ladder: Ladder
  /** The task of its rungs, also in the ladder. */
  task: Task
  /** The task's headers, text by path; none in a replay, which builds nothing. */
  headers: ReadonlyMap<string, string>
  problem: Problem
  /** The rungs to report, in ladder order. */
  rungs: PlannedRung[]
  /** The requested parameters; each is applied to the rungs that allow the value. */
  asked?: Parameters
  /** What to say before anything is done, such as which rungs have such a parameter and do not allow the value. */
  parametersLeft?: readonly Statement[]
  /** Timed alternately with each rung; also one of `rungs` if requested. */
  reference: PlannedRung | null
  profile: ProfileLevel
  timing: TimingWay
  /** Rungs not to profile, besides those that would take longer than `profileLimitSeconds`. */
  profileSkip: readonly string[]
  profileLimitSeconds?: number
  /** The rung that the others are checked against, if there is no reference file; may also be one of `rungs`. */
  trusted: PlannedRung | null
  /** The folder of the files that fill buffers; null in a replay. */
  taskFolder: string | null
  /** Further problems at which these rungs are verified; their times there are discarded. */
  alsoVerify?: {
    rungs: readonly string[]
    problems: readonly Problem[]
    /** A rung that is wrong there counts as wrong and has no time. */
    decides: boolean
  }
}

const list = (words: Iterable<string>): string => [...words].join(', ')

export function findLadder(library: KernelLibrary, id: string): LadderFile {
  const ladder = library.ladders.find((candidate) => candidate.id === id)
  if (ladder) return ladder
  const fault = library.faults.get(id)
  if (fault) throw inputError(message('asked.ladderFault', { ladder: id, why: fault }))
  const ids = library.ladders.map((candidate) => candidate.id)
  throw inputError(
    message('asked.noLadder', { ladder: JSON.stringify(id) }),
    meantOr(id, ids, message('asked.ladders', { ladders: list(ids) })),
  )
}

const entryId = (entry: LadderEntry): string => entry.as ?? entry.id

function sourceOf(library: KernelLibrary, entry: LadderEntry, ladder: string): RungSource {
  const source = library.rungs.get(entry.id)
  if (source) return source
  const fault = library.faults.get(entry.id)
  throw inputError(fault ?? message('asked.noRungFile', { ladder, rung: entry.id }))
}

/** A rung of the ladder with its default parameters and those of its entry. */
function resolveRung(library: KernelLibrary, ladder: string, entry: LadderEntry): PlannedRung {
  const { header, file, text, headers } = sourceOf(library, entry, ladder)
  for (const [option, choice] of Object.entries(entry.options ?? {}))
    if (!header.options[option]?.includes(choice))
      throw inputError(
        message('asked.rungAccepts', {
          ...{ ladder, rung: entryId(entry), option, choice, file },
          choices: list(header.options[option] ?? []),
        }),
      )
  const defaults = Object.fromEntries(header.params.map((param) => [param.name, param.default]))
  const rung: LadderRung = {
    id: entryId(entry),
    title: entry.title ?? header.title,
    header,
    params: { ...defaults, ...checkParams(entry.params ?? {}, [header], entryId(entry)) },
    file,
    ...(entry.options === undefined ? {} : { options: entry.options }),
    ...(entry.negative === undefined ? {} : { negative: entry.negative }),
    ...(entry.note === undefined ? {} : { note: entry.note }),
  }
  return { rung, source: text, ...(headers ? { headers } : {}) }
}

export function taskOf(library: KernelLibrary, { id, task }: LadderFile): Task {
  const found = library.tasks.get(task)
  if (found) return found
  throw inputError(message('asked.noTask', { ladder: id, task }))
}

/** The ladder with its task and these rungs. */
function resolved(library: KernelLibrary, file: LadderFile, rungs: LadderRung[]): Ladder {
  const { schema: _schema, order: _order, ...rest } = file
  const task = taskOf(library, file)
  const { scalars, options } = problemAt(task, {}, { ...file, sizes: file.sizes[0] })
  const folder = library.own === undefined ? {} : { folder: library.own }
  return { ...rest, ...folder, task, scalars, options, rungs }
}

/** The complete ladder, resolved; throws for the first unusable rung. */
export const resolveLadder = (library: KernelLibrary, file: LadderFile): Ladder =>
  resolved(
    library,
    file,
    file.rungs.map((entry) => resolveRung(library, file.id, entry).rung),
  )

export function selectRungs<T extends { id: string }>(
  all: readonly T[],
  wanted: readonly string[] | undefined,
  /** What they are rungs of, for messages. */
  whole: Statement,
): T[] {
  if (!wanted) return [...all]
  const unknown = wanted.filter((id) => !all.some((rung) => rung.id === id))
  const ids = all.map(({ id }) => id)
  if (unknown.length > 0)
    throw inputError(
      message('asked.noRung', { whole, rungs: list(unknown.map((id) => JSON.stringify(id))) }),
      meantOr(unknown[0]!, ids, message('asked.rungs', { rungs: list(ids) })),
    )
  return all.filter(({ id }) => wanted.includes(id))
}

/** A run request, independent of its target. */
export type PlanRequest = Omit<RunRequest, 'target'>

export function planRun(library: KernelLibrary, request: PlanRequest): RunPlan {
  const file = findLadder(library, request.ladder)
  const entries = selectRungs(
    file.rungs.map((entry) => ({ id: entryId(entry), entry })),
    request.rungs,
    message('asked.theLadder', { ladder: file.id }),
  )
  const rungs = entries.map(({ entry }) => resolveRung(library, file.id, entry))

  const parametersLeft = [
    ...(library.notes ?? []),
    ...giveParams(
      rungs.map(({ rung }) => rung),
      request.params,
      message('asked.theLadder', { ladder: file.id }),
    ),
  ]

  /** A rung that is included whether requested or not. */
  const besides = (id: string | null): PlannedRung | null => {
    const entry = file.rungs.find((candidate) => entryId(candidate) === id)
    if (!entry) return null
    return rungs.find(({ rung }) => rung.id === id) ?? resolveRung(library, file.id, entry)
  }
  const reference = besides(file.reference)
  const task = taskOf(library, file)
  const trusted =
    typeof task.reference === 'string'
      ? null
      : task.reference.rung === file.reference
        ? reference
        : besides(task.reference.rung)
  const ladder = resolved(
    library,
    file,
    rungs.map(({ rung }) => rung),
  )
  const problem = problemAt(task, request, { ...ladder, sizes: file.sizes[0] })
  for (const { rung } of rungs)
    requireProblem(task, caseOf(problem, { options: rung.options, flags: rung.header.flags }))
  return {
    ladder,
    task,
    headers: library.headers.get(task.id) ?? new Map(),
    problem,
    rungs,
    asked: request.params,
    parametersLeft,
    reference,
    trusted,
    taskFolder: library.folders.get(task.id) ?? null,
    profile: request.profile,
    timing: request.timing ?? 'single',
    profileSkip: request.profileSkip
      ? selectRungs(
          rungs.map(({ rung }) => rung),
          request.profileSkip,
          message('asked.theLadder', { ladder: file.id }),
        ).map(({ id }) => id)
      : [],
    ...(request.profileLimitSeconds === undefined
      ? {}
      : { profileLimitSeconds: request.profileLimitSeconds }),
    ...(file.testAt
      ? {
          alsoVerify: {
            rungs: rungs.map(({ rung }) => rung.id),
            problems: file.testAt.map((at) =>
              problemAt(task, { at }, { ...ladder, sizes: file.sizes[0] }),
            ),
            decides: true,
          },
        }
      : {}),
  }
}
