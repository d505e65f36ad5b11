/**
 * Saves a run's session in the requested folder. If writing to the folder fails, saves the session
 * in the store or the temporary folder.
 */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Setup } from '../../adapters/machine/machine'
import type { Catalog } from '../../adapters/catalog/catalog'
import { rawRecorder, type DiskRecorder, type LostOutput } from '../../adapters/tools/raw-files'
import { draftSession, type SessionDraft } from '../../adapters/sessions/session-store'
import { refuseTaken, takenMeanwhile } from '../../adapters/disk/staging'
import type { RunEvent, RunRequest } from '../../contract'
import type { DeepProfiles } from '../../domain/session/deep'
import type { ErrorShape } from '../../domain/errors'
import { toErrorShape } from '../../domain/errors'
import { message, type Statement } from '../../domain/messages/message'
import { sizesWord } from '../../domain/task/problem'
import type { Target } from '../../domain/targets/targets'
import type { Session } from '../../domain/session/session'
import type { CommitsRequest } from '../folders/commits'
import type { RunSettings } from '../run/run-settings'
import { runPlan } from '../run/run'
import type { OpenWay } from '../run/way'
import { Bench } from '../bench/bench'
import type { RunPlan } from '../../domain/run/plan'
import { toolboxOn } from '../bench/visible-gpu'
import { taskHeader, taskHeaderFile } from '../../domain/task/task-headers'

export interface StartRunOptions extends Setup {
  /** Output folder to use instead of the store. The folder must not exist. */
  out?: string
  appVersion: string
  /** Commits that changed one rung's source. The commits replace the ladder's rungs in this run. */
  commits?: CommitsRequest
  settings?: Partial<RunSettings>
  emit: (event: RunEvent) => void
  signal: AbortSignal
}

export interface FinishedRun {
  session: Session
  /** The session's folder. Null if no rung finished, because no session was saved in that case. */
  folder: string | null
  /** The missing requirement, if it prevented part of the request on this machine. */
  missing: ErrorShape | null
  /**
   * Set if the session could not be saved in the requested folder. In that case, `folder` is the
   * folder that was used instead. If `folder` is null, the session exists only in `session`.
   */
  unsaved: ErrorShape | null
}

/**
 * Runs a request on one kind of target. Throws an error if the run cannot start. Later failures are
 * part of the result.
 */
export type Runner = (
  /** Name of a specific target, or null if the request names none. */
  name: string | null,
  request: RunRequest,
  options: StartRunOptions,
) => Promise<FinishedRun>

/**
 * Returns an id such as `gemm-fp32-4096-20261121-030507`. Ids sort by ladder and time and are valid
 * SessionRefs.
 */
export function sessionId(ladder: string, size: string, createdAt: string): string {
  const [date, time] = createdAt.split('T')
  const stamp = `${date!.replaceAll('-', '')}-${time!.slice(0, 8).replaceAll(':', '')}`
  return `${ladder}-${size}-${stamp}`
}

/**
 * Creates a session draft in a folder chosen by the user. Throws an error if the folder exists. The
 * check happens before anything runs.
 */
export async function draftNew(out: string): Promise<SessionDraft> {
  await refuseTaken(out)
  return draftSession(out)
}

export const misplaced = (out: string | undefined, folder: string): ErrorShape | null =>
  out === undefined ? null : takenMeanwhile(out, folder)

const isFinished = (session: Session): boolean =>
  session.rungs.some(({ status, build }) => status !== 'not-run' || build !== null)

interface Measured {
  session: Session
  deep: DeepProfiles
  draft: SessionDraft
  recorder: DiskRecorder
  id: string
}

const rawWarning = ({ keys, why }: LostOutput): Statement =>
  message('records.rawLost', {
    calls: [...keys.slice(0, 3), ...(keys.length > 3 ? ['…'] : [])].join(', '),
    why,
  })

/**
 * Saves a session. If writing fails, tries the store and then the temporary folder, because
 * otherwise the measurements would be lost.
 */
export async function saveSomewhere(
  { session, deep, draft, recorder, id }: Measured,
  { out, machine }: StartRunOptions,
): Promise<Omit<FinishedRun, 'missing'>> {
  const store = machine.folders.sessions
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
          unsaved: { ...unsaved, remedy: message('sessions.savedIn', { folder: saved.folder }) },
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

interface SavedRun {
  catalog: Catalog
  plan: RunPlan
  target: Target
  /**
   * Returns the function that prepares a run on this kind of target. `reportPath` is the path for
   * ncu's report.
   */
  way: (reportPath: string) => OpenWay
}

/** Runs a plan on this machine and saves the results. */
export async function savedRun(
  { catalog, plan, target, way }: SavedRun,
  options: StartRunOptions,
): Promise<FinishedRun> {
  const { assets, machine, signal, emit } = options
  const createdAt = new Date().toISOString()
  const id = sessionId(plan.ladder.id, sizesWord(plan.problem.sizes), createdAt)
  const draft = await (options.out === undefined
    ? draftSession(join(machine.folders.sessions, id))
    : draftNew(options.out))
  const recorder = rawRecorder(draft.path, [
    { path: draft.path, alias: '<session>' },
    { path: assets.kernelsDir, alias: '<kernels>' },
    ...(plan.taskFolder?.startsWith(assets.kernelsDir) === false
      ? [{ path: plan.taskFolder, alias: '<ladder>' }]
      : []),
    ...machine.aliases,
  ])
  try {
    const tools = {
      toolbox: toolboxOn(machine, recorder, options.settings?.gpu),
      cache: machine.cache,
    }
    const bench = await Bench.open(tools, catalog, signal)
    const reference = catalog.references.get(plan.task.id)
    for (const { rung, source, headers = [] } of plan.rungs)
      for (const [path, text] of [[rung.file, source] as const, ...headers])
        await draft.addSource(path, text)
    const taskFile = [taskHeaderFile, taskHeader(plan.task)] as const
    for (const [path, text] of [...bench.sources.include, ...plan.headers, taskFile])
      await draft.addSource(path, text)
    if (reference) await draft.addSource(reference.file, reference.text)
    const { session, deep, missing } = await runPlan(
      { bench, plan, identity: { id, createdAt, target, appVersion: options.appVersion }, emit },
      way(draft.reportPath),
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
