/** Sessions and recordings under common refs, for every host. */
import { basename, join, resolve, dirname, sep } from 'node:path'
import type { Setup } from '../../adapters/machine/machine'
import { readDeep } from '../../adapters/sessions/deep-store'
import { pathExists } from '../../adapters/disk/disk'
import { indexed, type Described } from '../../adapters/sessions/session-index'
import {
  readTitle,
  listDeleted,
  moveToTrash,
  restoreFromTrash,
  writeTitle,
} from '../../adapters/sessions/labels-and-trash'
import { readSources } from '../../adapters/sessions/session-sources'
import { isImported, readSession, sessionFile } from '../../adapters/sessions/session-store'
import { SessionRef, SessionSummary } from '../../contract/index'
import {
  recordedRef,
  recordingOf,
  listedKind,
  summaryOf,
  type DeletedSession,
  type ImportAnswer,
} from '../../contract/sessions'
import type { DeepProfile } from '../../domain/session/deep'
import { inputError, toErrorShape, KernelLadderError } from '../../domain/errors'
import { message, type Statement, withTexts } from '../../domain/messages/message'
import { rungsWithoutSums, withSums } from '../../domain/session/registry-figures'
import type { RungResult, Session } from '../../domain/session/session'
import { printTarget } from '../../domain/target/targets'
import { appVersion } from '../version'
import { labSessionFolder } from '../lab-library/library'
import { asRecording, listRecordings, type Recording, chooseRecording, replay } from './recordings'
import { meantOr, nearest } from '../../domain/text/text'
import { isHtmlFile } from '../../adapters/sessions/report-file'
import { importReport, importHtml } from '../import/import-report'

export interface OpenedSession {
  session: Session
  /** Source text by rung id. */
  sources: Record<string, string>
  folder: string
  /** A rung's deep profile; null if there is none. */
  deep(rung: string): Promise<DeepProfile | null>
}

export interface SessionPlaces extends Setup {
  /** A session folder given on the command line, reachable by its folder name. */
  mounted?: string
}

/** The folder of saved sessions. */
export const storeOf = ({ machine }: Setup): string => machine.folders.sessions

/** Adds missing parts of a session's folder to its warnings. */
const withFaults = (session: Session, faults: readonly Statement[]): Session =>
  faults.length === 0 ? session : { ...session, warnings: [...session.warnings, ...faults] }

async function openRecording(recording: Recording): Promise<OpenedSession> {
  const { session, deep } = await replay(
    recording,
    { params: {}, profile: recording.session.settings.profile },
    () => undefined,
    new AbortController().signal,
  )
  const { texts, faults } = await readSources(recording.folder, recording.session)
  return {
    session: withFaults(session, faults),
    sources: texts,
    folder: recording.folder,
    deep: (rung) => Promise.resolve(deep.get(rung) ?? null),
  }
}

async function openFolder(folder: string): Promise<OpenedSession> {
  const read = await readSession(folder)
  const sums = new Map<string, RungResult>()
  for (const rung of rungsWithoutSums(read))
    sums.set(rung.id, withSums(rung, await readDeep(folder, rung.id).catch(() => null)))
  const session = { ...read, rungs: read.rungs.map((rung) => sums.get(rung.id) ?? rung) }
  const { texts, faults } = await readSources(folder, session)
  return {
    session: withFaults(session, faults),
    sources: texts,
    folder,
    deep: (rung) => readDeep(folder, rung),
  }
}

/** The ref of a folder given on the command line, whose name can be anything. */
export function mountedRef(folder: string): string {
  const name = basename(folder)
    .replaceAll(/[^A-Za-z0-9_.-]/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
  return name.slice(0, 100) || 'session'
}

/** The folder that a ref refers to; refs contain no path separators. */
const folderOf = (places: SessionPlaces, ref: string): string =>
  places.mounted && mountedRef(places.mounted) === ref ? places.mounted : join(storeOf(places), ref)

export async function openSession(places: SessionPlaces, ref: string): Promise<OpenedSession> {
  const name = recordingOf(ref)
  const ofLab = labSessionFolder(places, ref)
  if (ofLab !== null) {
    if (name === null) return openFolder(ofLab)
    const recording = asRecording(name, ofLab, await readSession(ofLab))
    return recording ? openRecording(recording) : openFolder(ofLab)
  }
  if (name === null) {
    const folder = folderOf(places, ref)
    if (!(await pathExists(folder))) throw inputError(message('sessions.none', { session: ref }))
    return openFolder(folder)
  }
  const recordings = await listRecordings(places.assets.recordingsDir)
  const recording = recordings.find((candidate) => candidate.name === name)
  if (!recording) {
    const refs = recordings.map((candidate) => recordedRef(candidate.name))
    throw inputError(
      message('sessions.noRecording', { recording: JSON.stringify(name) }),
      meantOr(ref, refs, message('sessions.recordings', { recordings: refs.join(', ') })),
    )
  }
  const { folder } = recording
  const replayed = asRecording(name, folder, await readSession(folder))
  return replayed ? openRecording(replayed) : openFolder(folder)
}

/** Any recording, in target notation. */
const anyRecording = printTarget({ kind: 'recorded', name: null })

/** Whether a name on the command line is that of a session, readable or not. */
export const namesSession = async (places: SessionPlaces, name: string): Promise<boolean> =>
  name === anyRecording ||
  recordingOf(name) !== null ||
  /^\.{0,2}\//.test(name) ||
  (SessionRef.safeParse(name).success && (await pathExists(join(storeOf(places), name)))) ||
  (await pathExists(resolve(name, sessionFile)))

/** A session as named on the command line: a folder, a ref, or `recorded` for the default one. */
export async function openNamed(places: SessionPlaces, name: string): Promise<OpenedSession> {
  if (name === anyRecording) return openSession(places, await defaultRecordingRef(places))
  if (recordingOf(name) !== null) return openSession(places, name)
  if (SessionRef.safeParse(name).success && (await pathExists(join(storeOf(places), name))))
    return openSession(places, name)
  const folder = resolve(name)
  if (!/[\\/]/.test(name) && !(await pathExists(folder))) {
    const meant = nearest(
      name,
      (await listAll(places)).map(({ ref }) => ref),
    )
    if (meant !== null)
      throw inputError(
        message('sessions.none', { session: name }),
        message('asked.meant', { name: meant }),
      )
  }
  return openFolder(folder)
}

export const defaultLadder = 'gemm-fp32'

export async function defaultRecordingRef(places: SessionPlaces): Promise<string> {
  const recordings = await listRecordings(places.assets.recordingsDir)
  if (recordings.length === 0) throw inputError(message('sessions.noRecordings'))
  const ladder = recordings.some(({ summary }) => summary.ladder.id === defaultLadder)
    ? defaultLadder
    : recordings[0]!.summary.ladder.id
  return recordedRef((await chooseRecording(recordings, null, { ladder })).name)
}

const kindOfFolder = async (folder: string, session: Session): Promise<SessionSummary['kind']> =>
  (await isImported(folder)) ? 'imported' : listedKind(session)

async function describeFolder(name: string, folder: string): Promise<Described<SessionSummary>> {
  const title = await readTitle(folder)
  try {
    const session = await readSession(folder)
    const kind = await kindOfFolder(folder, session)
    return { value: summaryOf(name, kind, name, session, title), keep: true }
  } catch (error) {
    const value: SessionSummary = {
      ref: name,
      kind: 'live',
      name,
      title,
      createdAt: '',
      ladder: { id: '', title: '' },
      problem: null,
      deviceName: null,
      profile: 'none',
      rungCount: 0,
      damaged: toErrorShape(error).message,
    }
    return { value, keep: false }
  }
}

/** The sessions of the store, newest first; unreadable folders come with the reason. */
async function listStored(places: SessionPlaces): Promise<SessionSummary[]> {
  const found = await indexed({
    root: storeOf(places),
    cache: places.machine.folders.cache,
    name: 'sessions',
    version: appVersion,
    schema: SessionSummary,
    describe: describeFolder,
  })
  return [...found.values()]
    .filter(({ ref }) => SessionRef.safeParse(ref).success)
    .sort((a, b) => (a.createdAt < b.createdAt ? 1 : a.createdAt > b.createdAt ? -1 : 0))
}

/** The mounted session and those of the store, then the recordings. */
export async function listAll(places: SessionPlaces): Promise<SessionSummary[]> {
  const { mounted } = places
  const stored = await listStored(places)
  const first = mounted === undefined ? [] : [await mountedSummary(mounted)]
  const live = [...first, ...stored.filter(({ ref }) => ref !== first[0]?.ref)]
  const recorded = (await listRecordings(places.assets.recordingsDir)).map(
    ({ name, summary }): SessionSummary => ({
      ref: recordedRef(name),
      kind: 'recorded',
      name,
      title: null,
      ...summary,
    }),
  )
  return [...live, ...recorded]
}

async function mountedSummary(folder: string): Promise<SessionSummary> {
  const [session, ref] = [await readSession(folder), mountedRef(folder)]
  return summaryOf(ref, await kindOfFolder(folder, session), ref, session, await readTitle(folder))
}

// Naming, deleting, restoring and importing sessions of the store, by ref.

/** The folder name in the store for a ref; recordings and other folders are rejected. */
function ownName(
  places: SessionPlaces,
  ref: string,
  verb: 'renamed' | 'deleted' | 'restored',
): string {
  const what = { session: ref, changed: message(`sessions.${verb}`) }
  if (recordingOf(ref) !== null) throw inputError(message('sessions.shipped', what))
  if (places.mounted !== undefined && mountedRef(places.mounted) === ref)
    throw inputError(message('sessions.mounted', what), message('sessions.changeFolder'))
  return ref
}

export async function renameSession(
  places: SessionPlaces,
  ref: string,
  title: string | null,
): Promise<void> {
  const folder = join(storeOf(places), ownName(places, ref, 'renamed'))
  if (!(await pathExists(folder))) throw inputError(message('sessions.none', { session: ref }))
  await writeTitle(folder, title)
}

export const deleteSession = (places: SessionPlaces, ref: string): Promise<void> =>
  moveToTrash(storeOf(places), ownName(places, ref, 'deleted'))

export const restoreSession = (places: SessionPlaces, ref: string): Promise<void> =>
  restoreFromTrash(storeOf(places), ownName(places, ref, 'restored'))

export async function deletedSessions(places: SessionPlaces): Promise<DeletedSession[]> {
  const found = await listDeleted(storeOf(places))
  return found
    .filter(({ name }) => SessionRef.safeParse(name).success)
    .map(({ name, ...rest }) => ({ ref: name, ...rest }))
}

/**
 * Imports a file that was handed to a host. Messages mention only the file name, because in a browser the folder is
 * a temporary one, which means nothing to the user.
 */
export async function importFile(
  path: string,
  { store, appVersion }: { store: string; appVersion: string },
): Promise<ImportAnswer> {
  try {
    const { folder } = (await isHtmlFile(path))
      ? await importHtml(path, { store })
      : await importReport(path, { store, appVersion })
    return { ref: basename(folder) }
  } catch (error) {
    if (!(error instanceof KernelLadderError)) throw error
    const named = (text: string) => text.replaceAll(dirname(path) + sep, '')
    throw new KernelLadderError(
      error.kind,
      withTexts(error.statement, named),
      error.remedy && withTexts(error.remedy, named),
      { cause: error },
    )
  }
}
