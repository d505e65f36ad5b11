/** Turns a request into a plan of what to build and run, or explains why that is impossible. */
import { inputError } from '../../domain/errors'
import type { LadderRung, Ladder, LadderEntry, LadderFile } from '../../domain/ladder/ladder'
import type { Parameters, RungHeader } from '../../domain/ladder/rung'
import { message, type Statement } from '../../domain/messages/message'
import type { Diagnostic, TimingWay } from '../../domain/session/session'
import type { KernelLibrary, RungSource } from '../../adapters/kernels/kernel-library'
import type { RunRequest } from '../../contract/index'
import type { ProfileLevel } from '../../domain/metrics/metric-definition'
import { problemAt, caseOf, type Problem } from '../../domain/task/problem'
import { requireProblem } from '../../domain/task/faults'
import type { Task } from '../../domain/task/task'
import { meantOr } from '../../domain/text/text'

// Assigns parameter values to rungs.

const list = (words: Iterable<string>): string => [...words].join(', ')

/** `BK`, or `05_tile.BK` for one rung; an id may contain dots. */
export function askedName(word: string): { rung: string | null; name: string } {
  const dot = word.lastIndexOf('.')
  return { rung: dot < 0 ? null : word.slice(0, dot), name: word.slice(dot + 1) }
}

/** Checks that each parameter is declared by a header that allows its value. */
export function checkParams(
  params: Parameters,
  headers: readonly RungHeader[],
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

/** Names of the parameters requested for a rung. */
export const askedOf = (asked: Parameters, id: string): string[] =>
  Object.keys(asked).flatMap((word) => {
    const { rung, name } = askedName(word)
    return rung === null || rung === id ? name : []
  })

/**
 * Applies requested values to the rungs that allow them, with a rung's own value taking precedence; reports
 * the rungs left with their defaults. Throws for a value that no rung allows.
 */
export function giveParams(
  rungs: readonly LadderRung[],
  asked: Parameters,
  whole: Statement,
): Statement[] {
  const ofAll: Parameters = {}
  const ofOne: [LadderRung, string, number][] = []
  for (const [word, value] of Object.entries(asked)) {
    const { rung: id, name } = askedName(word)
    const rung = rungs.find((candidate) => candidate.id === id)
    if (id === null) ofAll[name] = value
    else if (rung) ofOne.push([rung, name, value])
    else
      throw inputError(
        message('asked.noRungRun', { name: JSON.stringify(word) }),
        message('asked.rungsRun', { rungs: list(rungs.map((candidate) => candidate.id)) }),
      )
  }
  checkParams(
    ofAll,
    rungs.map(({ header }) => header),
    whole,
  )
  for (const [{ header, id }, name, value] of ofOne) checkParams({ [name]: value }, [header], id)

  const left: Statement[] = []
  for (const rung of rungs)
    for (const { name, allowed } of rung.header.params) {
      const own = ofOne.find(([of, word]) => of === rung && word === name)?.[2]
      const value = own ?? ofAll[name]
      if (value === undefined) continue
      if (allowed.includes(value)) rung.params[name] = value
      else
        left.push(
          message('records.parameterLeft', {
            rung: rung.id,
            name,
            asked: value,
            value: rung.params[name] ?? '',
            allowed: allowed.join(', '),
          }),
        )
    }
  return left
}

// Parameter values that are allowed individually but impossible in combination.

/** The violated rule: the message of the source's static_assert. */
const brokenRule = (diagnostics: readonly Diagnostic[]): string | null =>
  diagnostics
    .map(({ message }) => /^static assertion failed with "([^"]+)"/.exec(message)?.[1])
    .find((rule) => rule !== undefined) ?? null

/**
 * Rejects a run whose requested parameters are impossible for all of its rungs, before anything is launched. If some
 * rungs accept them, the run continues, and the others fail with the same message.
 * @param diagnostics the compiler's messages by rung id
 * @throws an input error that names each rung, the values and the rule
 */
export function refuseImpossible(
  plan: RunPlan,
  diagnostics: ReadonlyMap<string, readonly Diagnostic[]>,
): void {
  const asked = plan.asked ?? {}
  const refused = plan.rungs
    .filter(({ rung }) => rung.id !== plan.reference?.rung.id)
    .map(({ rung }) => ({ rung, rule: brokenRule(diagnostics.get(rung.id) ?? []) }))
  if (
    Object.keys(asked).length === 0 ||
    refused.length === 0 ||
    refused.some(({ rule }) => rule === null)
  )
    return
  const valuesOf = ({ id, params }: LadderRung): string =>
    askedOf(asked, id)
      .filter((name) => params[name] !== undefined)
      .map((name) => `${name}=${params[name]}`)
      .join(', ')
  const sentences = refused.map(({ rung, rule }) =>
    message('asked.cannotTake', { rung: rung.id, values: valuesOf(rung), rule: rule! }),
  )
  throw inputError({ sentences }, message('asked.nothingLaunched'))
}

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
