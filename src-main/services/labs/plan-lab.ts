/**
 * Plans a submission as a rung in a separate ladder. The ladder also contains the rungs with which
 * the lab compares the submission.
 */
import type { Catalog, RungSource } from '../../adapters/catalog/catalog'
import type { LabFolder } from '../../adapters/labs/lab-folders'
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import type { LadderEntry, LadderFile } from '../../domain/ladder/ladder'
import { isLadderPath, profileLevelOf, rungsBeside, type Lab } from '../../domain/labs/lab'
import { submissionId } from '../../domain/labs/judge/evidence'
import { usualProblem, type Problem } from '../../domain/task/problem'
import type { Task } from '../../domain/task/task'
import { planRun } from '../run/plan'
import type { RunPlan } from '../../domain/run/plan'
import { taskOf } from '../catalog/resolve'
import { problemAt } from '../../domain/task/problem-request'

/** Returns the id of a lab's separate ladder. */
export const labLadderId = (lab: string): string => `lab-${lab}`.slice(0, 80)

/** A lab's library, including the lab's ladder, and the plan to run. */
export interface LabPlan {
  catalog: Catalog
  plan: RunPlan
}

function submissionOf({ lab }: LabFolder, task: Task, text: string): RungSource {
  return {
    file: `labs/${lab.id}/lab.cu`,
    text,
    header: {
      id: submissionId,
      title: lab.title,
      after: lab.before,
      idea: lab.summary,
      expect: [],
      params: [],
      options: Object.fromEntries(
        Object.entries(usualProblem(task, {}).options).map(([option, choice]) => [
          option,
          [lab.options[option] ?? choice],
        ]),
      ),
      flags: [],
      requires: lab.needs.compute ?? null,
    },
  }
}

/** Returns the distinct problem sizes in the correctness checks. */
function problemsOf(lab: Lab, task: Task): Problem[] {
  const all = lab.checks.flatMap((check) =>
    check.kind === 'correctness'
      ? check.sizes.map((at) =>
          problemAt(task, { at }, { scalars: check.scalars, options: lab.options }),
        )
      : [],
  )
  return [...new Map(all.map((problem) => [JSON.stringify(problem), problem])).values()]
}

/**
 * Plans a submission. Throws an error if the lab names a rung that its library does not contain.
 */
export function planLab(folder: LabFolder, source: string): LabPlan {
  const { lab } = folder
  // A submission does not belong to a ladder folder, even if the lab's rungs do.
  const { own: _own, ...library } = folder.catalog
  const ladder = library.ladders.find(({ id }) => isLadderPath(lab.ladder) || id === lab.ladder)
  if (!ladder) throw inputError(message('labs.noLadder', { lab: lab.id, ladder: lab.ladder }))
  const task = taskOf(library, ladder)
  const entry = (id: string): LadderEntry =>
    ladder.rungs.find((candidate) => (candidate.as ?? candidate.id) === id) ?? { id }
  const compared = rungsBeside(lab)
  const { reference } = ladder
  const beside = compared.filter((id) => id !== reference)
  const file: LadderFile = {
    schema: 2,
    id: labLadderId(lab.id),
    title: lab.title,
    summary: lab.summary,
    task: task.id,
    scalars: {},
    options: lab.options,
    sizes: [lab.size],
    reference,
    rungs: [
      ...(reference === null ? [] : [entry(reference)]),
      ...beside.map(entry),
      { id: submissionId, title: lab.title },
    ],
  }
  const own: Catalog = {
    ...library,
    ladders: [file],
    rungs: new Map(library.rungs).set(submissionId, submissionOf(folder, task, source)),
  }
  const plan = planRun(own, {
    ladder: file.id,
    params: {},
    profile: profileLevelOf(lab),
    // The reference only provides the expected results, unless the lab compares with its counters.
    profileSkip: reference === null || compared.includes(reference) ? [] : [reference],
  })
  return {
    catalog: own,
    plan: {
      ...plan,
      alsoVerify: { rungs: [submissionId], problems: problemsOf(lab, task), decides: false },
    },
  }
}
