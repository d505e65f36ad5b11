/**
 * Runs a ladder of programs on this machine. The session is saved in the same way as for other
 * runs.
 */
import { Bench } from '../bench/bench'
import { join } from 'node:path'
import type { ProgramFolder } from '../../adapters/catalog/program-folder'
import { draftSession } from '../../adapters/sessions/session-store'
import { rawRecorder } from '../../adapters/tools/raw-files'
import type { Toolbox } from '../../adapters/tools/toolbox'
import type { RunRequest } from '../../contract'
import { inputError, KernelLadderError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import { can, isMeasuredNow, parseTarget } from '../../domain/targets/targets'
import { runPrograms, type ProgramsJob } from '../programs/run-programs'
import {
  draftNew,
  saveSomewhere,
  sessionId,
  type FinishedRun,
  type StartRunOptions,
} from './saved-run'
import { toolboxOn } from '../bench/visible-gpu'
import { requireTrustedFolder } from '../folders/folder-trust'

/** Throws an error for options that a ladder of programs does not support. */
function refuseOthers(
  { target, size, at, params, draft }: RunRequest,
  { commits, settings }: StartRunOptions,
): void {
  const parsed = parseTarget(target)
  if (!parsed || !isMeasuredNow(parsed) || can(parsed).elsewhere)
    throw inputError(message('programs.onlyHere', { target }), message('programs.leaveTarget'))
  const given = [
    ['--size', size !== undefined],
    ['--at', at !== undefined && Object.keys(at).length > 0],
    ['--param', Object.keys(params).length > 0],
    ['--commits', commits !== undefined],
    ['--warm', settings?.cacheState === 'warm'],
  ].find(([, isGiven]) => isGiven)
  if (given) throw inputError(message('programs.notForPrograms', { option: `${given[0]}` }))
  if (draft !== undefined) throw inputError(message('drafts.gone'), message('drafts.openAgain'))
}

/** Queries the GPU. Returns null if there is no GPU, because some programs do not need a GPU. */
async function gpuOf(
  { assets, machine, signal }: StartRunOptions,
  toolbox: Toolbox,
): Promise<ProgramsJob['gpu']> {
  try {
    const library = { root: assets.kernelsDir, references: new Map<string, never>() }
    const bench = await Bench.open({ toolbox, cache: machine.cache }, library, signal)
    return await bench.gpu()
  } catch (error) {
    if (error instanceof KernelLadderError && error.kind !== 'internal') return null
    throw error
  }
}

export async function runProgramLadder(
  folder: ProgramFolder,
  request: RunRequest,
  options: StartRunOptions,
): Promise<FinishedRun> {
  const { machine, emit, signal, settings } = options
  refuseOthers(request, options)
  await requireTrustedFolder(machine.folders, folder)
  const createdAt = new Date().toISOString()
  const id = sessionId(folder.ladder.id, 'programs', createdAt)
  const draft = await (options.out === undefined
    ? draftSession(join(machine.folders.sessions, id))
    : draftNew(options.out))
  const recorder = rawRecorder(draft.path, [
    { path: draft.path, alias: '<session>' },
    { path: folder.folder, alias: '<ladder>' },
    ...machine.aliases,
  ])
  try {
    for (const [path, text] of folder.sources)
      await draft.addSource(`${folder.ladder.id}/${path}`, text)
    const toolbox = toolboxOn(machine, recorder, request.gpu)
    emit({ type: 'stage', stage: 'prepare', done: 0, total: 0 })
    const { session, missing } = await runPrograms({
      folder,
      request,
      toolbox,
      gpu: await gpuOf(options, toolbox),
      waitForGpu: settings?.waitForGpu ?? true,
      identity: { id, createdAt, target: { kind: 'live', name: machine.name } },
      appVersion: options.appVersion,
      emit,
      signal,
    })
    if (!session.rungs.some(({ status }) => status !== 'not-run')) {
      await draft.discard()
      return { session, folder: null, missing, unsaved: null }
    }
    emit({ type: 'stage', stage: 'save', done: 0, total: 1 })
    const saved = await saveSomewhere({ session, deep: new Map(), draft, recorder, id }, options)
    emit({ type: 'stage', stage: 'save', done: 1, total: 1 })
    return { ...saved, missing }
  } catch (error) {
    await draft.discard()
    throw error
  }
}
