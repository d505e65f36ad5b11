/** Starts a run on whatever target it names: the runners of this machine, and the table of all. */
import type { RunRequest } from '../../contract/index'
import {
  draftNew,
  misplaced,
  savedRun,
  type FinishedRun,
  type Runner,
  type StartRunOptions,
} from './saved-run'
import type { KernelLibrary } from '../../adapters/kernels/kernel-library'
import { libraryFor } from '../ladder-library/copies'
import { defaultSettings } from '../run/run-settings'
import { liveWay } from '../run/live-way'
import { planRun } from '../run/plan'
import { diskError } from '../../adapters/disk/disk'
import { copySources } from '../../adapters/sessions/session-sources'
import { copyRaw } from '../../adapters/tools/raw-files'
import { KernelLadderError, inputError } from '../../domain/errors'
import { listRecordings, readRecording, chooseRecording, replay } from '../sessions/recordings'
import { message } from '../../domain/messages/message'
import { buildGpu, gpus, computeCapabilities } from '../../domain/gpu/gpu'
import { staticWay } from '../run/static-way'
import { emulatedProblem } from '../../domain/emulation/job'
import { chosen, sameSizes } from '../../domain/task/problem'
import { emulatedGpu } from '../run/counters'
import { emulatedWay, type EmulationSettings } from '../run/emulated-way'
import { parseTarget, targetUsage, type RunnableKind } from '../../domain/target/targets'
import { openPrograms } from '../ladder-library/open'
import { runMachine } from './machine'
import { runProgramLadder } from './programs'
import type { RunPlan } from '../../domain/run/plan'

// Runs rungs on this machine.

/** Runs a plan over a library that may differ from the one on disk. */
export const runLive = (
  library: KernelLibrary,
  plan: RunPlan,
  options: StartRunOptions,
): Promise<FinishedRun> =>
  savedRun(
    {
      library,
      plan,
      target: { kind: 'live', name: options.machine.name },
      way: (reportPath) => liveWay({ ...defaultSettings, ...options.settings }, reportPath),
    },
    options,
  )

export const runLocal: Runner = async (_name, request, options) => {
  const { library, request: own } = await libraryFor(options, request)
  const chosen = {
    ...(request.gpu === undefined ? {} : { gpu: request.gpu }),
    ...(request.cacheState === undefined ? {} : { cacheState: request.cacheState }),
  }
  return runLive(library, planRun(library, own), {
    ...options,
    settings: { ...options.settings, ...chosen },
  })
}

// Replays a recording, and saves the result if an output folder is given.

export const runRecorded: Runner = async (name, request, options) => {
  const recordings = await listRecordings(options.assets.recordingsDir)
  const recording = await readRecording(await chooseRecording(recordings, name, request))
  const draft = options.out === undefined ? null : await draftNew(options.out)
  try {
    const { session, deep, missing } = await replay(
      recording,
      request,
      options.emit,
      options.signal,
    )
    if (!draft) return { session, folder: recording.folder, missing, unsaved: null }
    session.warnings.push(...(await copySources(recording.folder, draft.path)))
    await copyRaw(recording.folder, draft.path)
    for (const profile of deep.values()) await draft.addDeep(profile)
    const folder = await draft.commit(session)
    return { session, folder, missing, unsaved: misplaced(options.out, folder) }
  } catch (error) {
    await draft?.discard()
    throw error instanceof KernelLadderError ? error : diskError(error, options.out ?? '', 'save')
  }
}

// Builds rungs for a GPU of the built-in table, without running anything.

export const runStatic: Runner = async (name, request, options) => {
  const gpu = name === null ? null : buildGpu(name)
  if (name === null || !gpu)
    throw inputError(
      message('asked.noGpu', { gpu: JSON.stringify(name) }),
      message('asked.gpus', {
        gpus: gpus.map(({ id }) => id).join(', '),
        architectures: computeCapabilities.map((cc) => `sm_${cc.replace('.', '')}`).join(', '),
      }),
    )
  const { library, request: own } = await libraryFor(options, request)
  return savedRun(
    {
      library,
      plan: planRun(library, { ...own, profile: 'none' }),
      target: { kind: 'static', name },
      way: () => staticWay(gpu),
    },
    options,
  )
}

// Runs rungs on an emulated GPU of the built-in table.

export async function emulatePlan(
  library: KernelLibrary,
  plan: RunPlan,
  name: string | null,
  options: StartRunOptions,
  { launchesAt = null, shrunkFrom = null }: Omit<EmulationSettings, 'seed'> = {},
): Promise<FinishedRun> {
  const target = emulatedGpu(name)
  return savedRun(
    {
      library,
      plan,
      target: { kind: 'emulated', name: target.name },
      way: () =>
        emulatedWay(target.gpu, { seed: options.settings?.seed ?? 1, launchesAt, shrunkFrom }),
    },
    options,
  )
}

export const runEmulated: Runner = async (name, request, options) => {
  emulatedGpu(name)
  const { library, request: own } = await libraryFor(options, request)
  const plan = planRun(library, { ...own, profile: 'deep' })
  if (chosen(plan.task, own).sizes !== null) return emulatePlan(library, plan, name, options)
  const problem = emulatedProblem(plan.task, plan.problem)
  const shrunkFrom = sameSizes(problem.sizes, plan.problem.sizes) ? null : plan.problem
  return emulatePlan(library, { ...plan, problem }, name, options, { shrunkFrom })
}

// Runs a host's request to completion, by the runner of its target kind.

const runners: Record<RunnableKind, Runner> = {
  live: runLocal,
  recorded: runRecorded,
  static: runStatic,
  emulated: runEmulated,
  machine: runMachine,
}

export async function startRun(
  request: RunRequest,
  options: StartRunOptions,
): Promise<FinishedRun> {
  const target = parseTarget(request.target)
  if (!target)
    throw inputError(
      message('asked.notTarget', { target: JSON.stringify(request.target) }),
      message('asked.targets', { targets: targetUsage }),
    )
  const programs = await openPrograms(options, request.ladder)
  if (programs) return runProgramLadder(programs, request, options)
  return runners[target.kind](target.name, request, options)
}
