/**
 * Converts a request to a plan of the rungs to build and run. Throws an error with the reason if
 * the request cannot be planned.
 */
import { message } from '../../domain/messages/message'
import type { Catalog } from '../../adapters/catalog/catalog'
import type { RunRequest } from '../../contract/index'
import { caseOf } from '../../domain/task/problem'
import type { PlannedRung, RunPlan } from '../../domain/run/plan'
import { giveParams } from '../catalog/parameters'
import { findLadder, entryId, resolveRung, taskOf, resolved, selectRungs } from '../catalog/resolve'
import { requireProblem } from '../../domain/task/problem-faults'
import { problemAt } from '../../domain/task/problem-request'

/** A run request without its target. */
export type PlanRequest = Omit<RunRequest, 'target'>

export function planRun(catalog: Catalog, request: PlanRequest): RunPlan {
  const file = findLadder(catalog, request.ladder)
  const entries = selectRungs(
    file.rungs.map((entry) => ({ id: entryId(entry), entry })),
    request.rungs,
    message('asked.theLadder', { ladder: file.id }),
  )
  const rungs = entries.map(({ entry }) => resolveRung(catalog, file, entry))

  const parametersLeft = [
    ...(catalog.notes ?? []),
    ...giveParams(
      rungs.map(({ rung }) => rung),
      request.params,
      message('asked.theLadder', { ladder: file.id }),
    ),
  ]

  /** Returns a rung that the plan includes even if it was not requested, such as the reference. */
  const besides = (id: string | null): PlannedRung | null => {
    const entry = file.rungs.find((candidate) => entryId(candidate) === id)
    if (!entry) return null
    return rungs.find(({ rung }) => rung.id === id) ?? resolveRung(catalog, file, entry)
  }
  const reference = besides(file.reference)
  const task = taskOf(catalog, file)
  const trusted =
    typeof task.reference === 'string'
      ? null
      : task.reference.rung === file.reference
        ? reference
        : besides(task.reference.rung)
  const ladder = resolved(
    catalog,
    file,
    rungs.map(({ rung }) => rung),
  )
  const problem = problemAt(task, request, { ...ladder, sizes: file.sizes[0] })
  for (const { rung } of rungs)
    requireProblem(task, caseOf(problem, { options: rung.options, flags: rung.header.flags }))
  return {
    ladder,
    task,
    headers: catalog.headers.get(task.id) ?? new Map(),
    problem,
    rungs,
    requestedParameters: request.params,
    parametersLeft,
    reference,
    trusted,
    taskFolder: catalog.folders.get(task.id) ?? null,
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
