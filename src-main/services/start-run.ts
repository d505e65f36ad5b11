/** One request from a host to its end: a live run that is saved, or a replay. */
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Assets } from '../adapters/kernels/assets'
import { diskBuildCache } from '../adapters/disk/build-cache'
import { draftStore } from '../adapters/sessions/draft-store'
import { diskError } from '../adapters/disk/disk'
import {
  readKernelLibrary,
  readSharedFiles,
  type KernelLibrary,
} from '../adapters/kernels/kernel-library'
import { liveToolbox } from '../adapters/tools/live-toolbox'
import { cacheDir, draftsDir } from '../adapters/disk/paths'
import {
  copyRaw,
  rawRecorder,
  type DiskRecorder,
  type LostOutput,
} from '../adapters/tools/raw-files'
import { copySources } from '../adapters/sessions/session-sources'
import { draftSession, type SessionDraft } from '../adapters/sessions/session-store'
import { refuseTaken, takenMeanwhile } from '../adapters/disk/staging'
import type { RunEvent, RunRequest } from '../contract'
import type { DeepProfile } from '../domain/session/deep'
import type { ErrorShape } from '../domain/errors'
import { inputError, KernelLadderError, toErrorShape } from '../domain/errors'
import { buildGpu, gpus, type BuildGpu } from '../domain/gpu/gpus'
import { message, type Statement } from '../domain/messages/message'
import { sizesWord } from '../domain/task/problem'
import { taskHeader, taskHeaderFile } from '../domain/task/headers'
import type { Session } from '../domain/session/session'
import { computeCapabilities } from '../domain/gpu/sm-limits'
import { libraryFor } from './drafts'
import { planRun, type RunPlan } from './run/plan'
import { listRecordings, readRecording } from './sessions/recording-list'
import { chooseRecording, replay } from './sessions/recordings'
import { defaultSettings, runLadder, type RunSettings } from './run/run-ladder'
import { buildForGpu } from './run/static-run'

export interface StartRunOptions {
  assets: Assets
  /** Folder of saved sessions, for a run that is given no folder of its own. */
  store: string
  /** Where to save; must not exist. */
  out?: string
  appVersion: string
  settings?: Partial<RunSettings>
  emit: (event: RunEvent) => void
  signal: AbortSignal
}

export interface FinishedRun {
  session: Session
  /** The session's folder; null when nothing was finished and so nothing saved. */
  folder: string | null
  /** Something this machine lacks kept part of what was asked from being done. */
  missing: ErrorShape | null
  /**
   * It could not be saved where it was asked for: it is in `folder` then, and where that is null nowhere
   * but in `session`.
   */
  unsaved: ErrorShape | null
}

/** `gemm-fp32-4096-20261121-030507`: sorts by ladder and time, and is a valid SessionRef. */
function sessionId(ladder: string, size: string, createdAt: string): string {
  const [date, time] = createdAt.split('T')
  const stamp = `${date!.replaceAll('-', '')}-${time!.slice(0, 8).replaceAll(':', '')}`
  return `${ladder}-${size}-${stamp}`
}

/** A folder that a person named must be new: that is said before anything runs. */
async function draftNew(out: string): Promise<SessionDraft> {
  await refuseTaken(out)
  return draftSession(out)
}

const misplaced = (out: string | undefined, folder: string): ErrorShape | null =>
  out === undefined ? null : takenMeanwhile(out, folder)

async function replayRecording(
  request: RunRequest,
  options: StartRunOptions,
): Promise<FinishedRun> {
  const recordings = await listRecordings(options.assets.recordingsDir)
  const recording = await readRecording(await chooseRecording(recordings, request))
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

const isFinished = (session: Session): boolean =>
  session.rungs.some(({ status, build }) => status !== 'not-run' || build !== null)

async function runLocal(request: RunRequest, options: StartRunOptions): Promise<FinishedRun> {
  const library = await libraryFor(
    await readKernelLibrary(options.assets.kernelsDir),
    request,
    draftStore(draftsDir()),
  )
  return runPlan(library, planRun(library, request), options)
}

async function runStatic(
  word: string,
  request: RunRequest,
  options: StartRunOptions,
): Promise<FinishedRun> {
  const own = buildGpu(word)
  if (!own)
    throw inputError(
      `There is no GPU named ${JSON.stringify(word)} in the program's table.`,
      `The GPUs are: ${gpus.map(({ id }) => id).join(', ')}; or an architecture: ${computeCapabilities.map((cc) => `sm_${cc.replace('.', '')}`).join(', ')}.`,
    )
  const library = await libraryFor(
    await readKernelLibrary(options.assets.kernelsDir),
    request,
    draftStore(draftsDir()),
  )
  const plan = planRun(library, { ...request, profile: 'none' })
  return runPlan(library, plan, options, { word, own })
}

interface Measured {
  session: Session
  deep: ReadonlyMap<string, DeepProfile>
  draft: SessionDraft
  recorder: DiskRecorder
  id: string
}

const rawWarning = ({ keys, why }: LostOutput): Statement =>
  message('records.rawLost', {
    calls: [...keys.slice(0, 3), ...(keys.length > 3 ? ['…'] : [])].join(', '),
    why,
  })

/** Where the disk refuses it, the store, and at last the temporary folder: what was measured is not measured again. */
async function saveSomewhere(
  { session, deep, draft, recorder, id }: Measured,
  { out, store }: StartRunOptions,
): Promise<Omit<FinishedRun, 'missing'>> {
  const save = async (into: SessionDraft) => {
    for (const profile of deep.values()) await into.addDeep(profile)
    const lost = await recorder.lostFrom(into.path)
    const complete = lost
      ? { ...session, warnings: [...session.warnings, rawWarning(lost)] }
      : session
    return { session: complete, folder: await into.commit(complete) }
  }
  try {
    const saved = await save(draft)
    return { ...saved, unsaved: misplaced(out, saved.folder) }
  } catch (error) {
    const unsaved = toErrorShape(error)
    const places = [...(out === undefined ? [] : [store]), tmpdir()]
    for (const place of places) {
      const other = await draft
        .elsewhere(join(place, place === store ? id : `kernel-ladder-${id}`))
        .catch(() => null)
      if (!other) continue
      try {
        const saved = await save(other)
        return {
          ...saved,
          unsaved: { ...unsaved, remedy: `The session is saved in ${saved.folder}.` },
        }
      } catch {
        await other.discard()
      }
    }
    return { session, folder: null, unsaved }
  } finally {
    await draft.discard()
  }
}

/** Does a plan on this machine and saves what it finishes: a run, or with `gpu` a build alone. */
export async function runPlan(
  library: KernelLibrary,
  plan: RunPlan,
  options: StartRunOptions,
  gpu: { word: string; own: BuildGpu } | null = null,
): Promise<FinishedRun> {
  const { assets, signal, emit } = options
  const includes = await readSharedFiles(library.root, 'include')
  const createdAt = new Date().toISOString()
  const id = sessionId(plan.ladder.id, sizesWord(plan.problem.sizes), createdAt)
  const draft = await (options.out === undefined
    ? draftSession(join(options.store, id))
    : draftNew(options.out))
  const recorder = rawRecorder(draft.path, [
    { path: draft.path, alias: '<session>' },
    { path: cacheDir(), alias: '<cache>' },
    { path: assets.kernelsDir, alias: '<kernels>' },
    { path: homedir(), alias: '~' },
  ])
  try {
    for (const { rung, source } of plan.rungs) await draft.addSource(rung.file, source)
    for (const [path, text] of [...includes, [taskHeaderFile, taskHeader(plan.task)] as const])
      await draft.addSource(path, text)
    const environment = {
      toolbox: liveToolbox(recorder),
      cache: diskBuildCache(cacheDir()),
      recorder,
      includes,
      runnerSources: await readSharedFiles(library.root, 'runner'),
      reference: library.references.get(plan.task.id) ?? null,
      reportPath: draft.reportPath,
      appVersion: options.appVersion,
    }
    const { session, deep, missing } = gpu
      ? await buildForGpu(
          { ...environment, probeSources: await readSharedFiles(library.root, 'probe') },
          plan,
          { id, createdAt, target: { kind: 'static', name: gpu.word } },
          gpu.own,
          emit,
          signal,
        )
      : await runLadder(
          environment,
          plan,
          { id, createdAt, target: { kind: 'live', name: 'local' } },
          { ...defaultSettings, ...options.settings },
          emit,
          signal,
        )
    if (!isFinished(session)) {
      await draft.discard()
      return { session, folder: null, missing, unsaved: null }
    }
    emit({ type: 'stage', stage: 'save', done: 0, total: 1 })
    const saved = await saveSomewhere({ session, deep, draft, recorder, id }, options)
    emit({ type: 'stage', stage: 'save', done: 1, total: 1 })
    return { ...saved, missing }
  } catch (error) {
    await draft.discard()
    throw error
  }
}

/** Throws for what cannot be started; what goes wrong on the way is in the result. */
export async function startRun(
  request: RunRequest,
  options: StartRunOptions,
): Promise<FinishedRun> {
  if (request.target === 'local') return runLocal(request, options)
  const [kind, word] = request.target.split(':')
  return kind === 'static' && word !== undefined
    ? runStatic(word, request, options)
    : replayRecording(request, options)
}
