/** Builds a submission without running it: what a student sees after every change, and all that is possible without a GPU. */
import { type Catalog, type RungSource } from '../../adapters/catalog/catalog'
import type { LabFolder } from '../../adapters/labs/lab-folders'
import { inputError, toErrorShape } from '../../domain/errors'
import { message, type Statement } from '../../domain/messages/message'
import type { LadderEntry, LadderFile } from '../../domain/ladder/ladder'
import { isLadderPath, profileLevelOf, rungsBeside, type Lab } from '../../domain/labs/lab'
import { submissionId } from '../../domain/labs/judge'
import { usualProblem, type Problem } from '../../domain/task/problem'
import type { Task } from '../../domain/task/task'
import { planRun } from '../run/plan'
import type { Machine } from '../../adapters/machine/machine'
import type { LabOutcome } from '../../domain/labs/outcome'
import { occupancy } from '../../domain/gpu/occupancy'
import type { Build } from '../../domain/session/session'
import { buildRung } from '../bench/build-rung'
import type { RunPlan } from '../../domain/run/plan'
import { taskOf } from '../catalog/resolve'
import { builtArchitecture, capabilityOf } from '../bench/architecture'
import { Bench } from '../bench/bench'
import type { BuildOutcome } from '../bench/compiler'
import { smLimits } from '../../domain/gpu/sm-limits'
import { problemAt } from '../../domain/task/problem-request'

// Plans a submission as a rung of its own ladder, along with the rungs that its lab compares it with.

export const labLadderId = (lab: string): string => `lab-${lab}`.slice(0, 80)

/** What is run for a lab: a library with its ladder, and the plan. */
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

/** The distinct problems of the correctness checks. */
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

/** Throws if the lab's library lacks a rung that the lab names. */
export function planLab(folder: LabFolder, source: string): LabPlan {
  const { lab } = folder
  // A submission is in no ladder folder, wherever its lab's rungs are from.
  const { own: _own, ...library } = folder.catalog
  const ladder = library.ladders.find(({ id }) => isLadderPath(lab.ladder) || id === lab.ladder)
  if (!ladder) throw inputError(message('labs.noLadder', { lab: lab.id, ladder: lab.ladder }))
  const task = taskOf(library, ladder)
  const entry = (id: string): LadderEntry =>
    ladder.rungs.find((candidate) => (candidate.as ?? candidate.id) === id) ?? { id }
  const beside = rungsBeside(lab).filter((id) => id !== ladder.reference)
  const file: LadderFile = {
    schema: 2,
    id: labLadderId(lab.id),
    title: lab.title,
    summary: lab.summary,
    task: task.id,
    scalars: {},
    options: lab.options,
    sizes: [lab.size],
    reference: ladder.reference,
    rungs: [
      ...(ladder.reference === null ? [] : [entry(ladder.reference)]),
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
  })
  return {
    catalog: own,
    plan: {
      ...plan,
      alsoVerify: { rungs: [submissionId], problems: problemsOf(lab, task), decides: false },
    },
  }
}

/** The occupancy derived from registers and static shared memory, by threads per block. */
export function occupancyTable(
  architecture: string,
  build: Build | null,
): LabOutcome['build']['occupancy'] {
  const limits = smLimits(capabilityOf(architecture))
  if (!limits || build?.registersPerThread == null) return []
  const { registersPerThread: registers, staticSharedBytes } = build
  return [64, 128, 256, 512, 1024].map((threads) => ({
    threads,
    percent: occupancy(limits, {
      threads,
      registers,
      staticSharedBytes: staticSharedBytes ?? 0,
      dynamicSharedBytes: 0,
    }).percent,
  }))
}

interface LabBuild {
  /** `sm_90`. */
  architecture: string
  /** false if there is no GPU, and it is compiled for that of the recordings. */
  own: boolean
  outcome: BuildOutcome
}

/** Throws `missing` if this machine has no compiler. */
export async function buildSubmission(
  machine: Machine,
  lab: LabPlan,
  signal: AbortSignal,
): Promise<LabBuild> {
  const tools = { toolbox: machine.toolbox(null), cache: machine.cache }
  const bench = await Bench.open(tools, lab.catalog, signal)
  const compiler = await bench.compiler()
  const planned = lab.plan.rungs.find(({ rung }) => rung.id === submissionId)!
  const own = await bench.ownArchitecture()
  const sm = builtArchitecture(planned.rung.header.requires, own)
  return {
    architecture: `sm_${sm}`,
    own: own !== null,
    outcome: await buildRung(compiler, lab.plan, planned, sm),
  }
}

/** The same, but a missing compiler is a reason instead of an error. */
export async function tryBuild(
  machine: Machine,
  lab: LabPlan,
  signal: AbortSignal,
): Promise<LabBuild | { missing: Statement }> {
  try {
    return await buildSubmission(machine, lab, signal)
  } catch (error) {
    const { kind, message } = toErrorShape(error)
    if (kind !== 'missing') throw error
    return { missing: message }
  }
}
