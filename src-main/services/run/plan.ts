/** Turns a request into what will be built and run, or into a sentence that says why it cannot be. */
import type { KernelLibrary, RungSource } from '../../adapters/kernels/kernel-library'
import type { RunRequest } from '../../contract'
import { inputError } from '../../domain/errors'
import { message, type Statement } from '../../domain/messages/message'
import type { Ladder, LadderEntry, LadderFile, LadderRung } from '../../domain/ladder/ladder'
import type { ProfileLevel } from '../../domain/metrics/metric-definition'
import { problemAt } from '../../domain/task/choose'
import { requireProblem } from '../../domain/task/problem-faults'
import { caseOf, type Problem } from '../../domain/task/problem'
import type { Task } from '../../domain/task/task'
import type { Parameters } from '../../domain/ladder/rung'

export interface PlannedRung {
  rung: LadderRung
  source: string
}

export interface RunPlan {
  ladder: Ladder
  /** What its rungs compute; also in the ladder. */
  task: Task
  /** The task's own headers, text by path: none in a replay, which builds nothing. */
  headers: ReadonlyMap<string, string>
  problem: Problem
  /** What is reported, in ladder order. */
  rungs: PlannedRung[]
  /** The parameters that were asked for; each is in `rungs` where a rung allows the value. */
  asked?: Parameters
  /** Measured beside each rung; also one of `rungs` when it was asked for. */
  reference: PlannedRung | null
  profile: ProfileLevel
  /** Rungs not to profile, beside those that would take longer than `profileLimitSeconds`. */
  profileSkip: readonly string[]
  profileLimitSeconds?: number
  /** What the others are checked against, where no file says what is right; may also be one of `rungs`. */
  trusted: PlannedRung | null
  /** Where the files lie that fill buffers; null in a replay. */
  taskFolder: string | null
  /** Further problems at which these rungs are verified; their times there are not kept. */
  alsoVerify?: {
    rungs: readonly string[]
    problems: readonly Problem[]
    /** A rung that is wrong there is wrong, and has no time. */
    decides: boolean
  }
}

const list = (words: Iterable<string>): string => [...words].join(', ')

export function findLadder(library: KernelLibrary, id: string): LadderFile {
  const ladder = library.ladders.find((candidate) => candidate.id === id)
  if (ladder) return ladder
  const fault = library.faults.get(id)
  if (fault) throw inputError(message('asked.ladderFault', { ladder: id, why: fault }))
  throw inputError(
    message('asked.noLadder', { ladder: JSON.stringify(id) }),
    message('asked.ladders', { ladders: list(library.ladders.map((candidate) => candidate.id)) }),
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
  const { header, file, text } = sourceOf(library, entry, ladder)
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
  return { rung, source: text }
}

/** Checks that each parameter is declared by one of the headers and has a value that it allows. */
function checkParams(
  params: Parameters,
  headers: readonly LadderRung['header'][],
  /** What declares them. */
  whole: Statement,
): Parameters {
  for (const [name, value] of Object.entries(params)) {
    const declared = headers.flatMap((header) => header.params.filter((p) => p.name === name))
    if (declared.length === 0) {
      const known = new Set(headers.flatMap((header) => header.params.map((p) => p.name)))
      throw inputError(
        message('asked.noParameter', { whole, name: JSON.stringify(name) }),
        known.size > 0
          ? message('asked.parameters', { names: list(known) })
          : message('asked.noParameters'),
      )
    }
    if (!declared.some((param) => param.allowed.includes(value)))
      throw inputError(
        message('asked.notAllowed', { name, value }),
        message('asked.allowed', {
          name,
          values: list(new Set(declared.flatMap((p) => p.allowed.map(String)))),
        }),
      )
  }
  return params
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
  return { ...rest, task, scalars, options, rungs }
}

/** The whole ladder, resolved; throws for the first rung that cannot be used. */
export const resolveLadder = (library: KernelLibrary, file: LadderFile): Ladder =>
  resolved(
    library,
    file,
    file.rungs.map((entry) => resolveRung(library, file.id, entry).rung),
  )

export function selectRungs<T extends { id: string }>(
  all: readonly T[],
  wanted: readonly string[] | undefined,
  /** What they are rungs of. */
  whole: Statement,
): T[] {
  if (!wanted) return [...all]
  const unknown = wanted.filter((id) => !all.some((rung) => rung.id === id))
  if (unknown.length > 0)
    throw inputError(
      message('asked.noRung', { whole, rungs: list(unknown.map((id) => JSON.stringify(id))) }),
      message('asked.rungs', { rungs: list(all.map(({ id }) => id)) }),
    )
  return all.filter(({ id }) => wanted.includes(id))
}

/** What a request asks for, wherever it is to be done. */
export type PlanRequest = Omit<RunRequest, 'target'>

export function planRun(library: KernelLibrary, request: PlanRequest): RunPlan {
  const file = findLadder(library, request.ladder)
  const entries = selectRungs(
    file.rungs.map((entry) => ({ id: entryId(entry), entry })),
    request.rungs,
    message('asked.theLadder', { ladder: file.id }),
  )
  const rungs = entries.map(({ entry }) => resolveRung(library, file.id, entry))

  const headers = rungs.map(({ rung }) => rung.header)
  checkParams(request.params, headers, message('asked.theLadder', { ladder: file.id }))
  for (const { rung } of rungs)
    for (const { name, allowed } of rung.header.params) {
      const value = request.params[name]
      if (value !== undefined && allowed.includes(value)) rung.params[name] = value
    }

  /** One that is there whether it was asked for or not. */
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
    reference,
    trusted,
    taskFolder: library.folders.get(task.id) ?? null,
    profile: request.profile,
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
