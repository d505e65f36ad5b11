/** Sessions and recordings under common refs, for every host. */
import { basename, join, resolve } from 'node:path'
import type { Setup } from '../../adapters/machine/machine'
import { readDeep } from '../../adapters/sessions/deep-store'
import { pathExists } from '../../adapters/disk/disk'
import { readTitle } from '../../adapters/sessions/labels-and-trash'
import { readSources } from '../../adapters/sessions/session-sources'
import {
  isImported,
  listSessions,
  readSession,
  sessionFile,
} from '../../adapters/sessions/session-store'
import { SessionRef, type SessionSummary } from '../../contract'
import { recordedRef, recordingOf } from '../../contract/session-ref'
import { listedKind, summaryOf } from '../../contract/session-summary'
import type { DeepProfile } from '../../domain/session/deep'
import { inputError } from '../../domain/errors'
import { message, type Statement } from '../../domain/messages/message'
import type { Session } from '../../domain/session/session'
import { printTarget } from '../../domain/target/targets'
import { labSessionFolder } from '../lab-library/refs'
import { asRecording, listRecordings, readRecording, type Recording } from './recording-list'
import { chooseRecording, replay } from './recordings'

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
  const session = await readSession(folder)
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
  if (!recording)
    throw inputError(
      message('sessions.noRecording', { recording: JSON.stringify(name) }),
      message('sessions.recordings', {
        recordings: recordings.map((candidate) => recordedRef(candidate.name)).join(', '),
      }),
    )
  return openRecording(await readRecording(recording))
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
  return openFolder(resolve(name))
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

/** The user's sessions, newest first, then the recordings; unreadable folders come with the reason. */
export async function listAll(places: SessionPlaces): Promise<SessionSummary[]> {
  const own = await listSessions(storeOf(places))
  const mounted = places.mounted
    ? [
        await readSession(places.mounted).then(async (session) => ({
          name: mountedRef(places.mounted!),
          session,
          imported: await isImported(places.mounted!),
          problem: null,
        })),
      ]
    : []
  const titles = new Map(
    await Promise.all(
      own.map(async ({ name, folder }) => [name, await readTitle(folder)] as const),
    ),
  )
  const live = [...mounted, ...own.filter(({ name }) => name !== mounted[0]?.name)]
    .filter(({ name }) => SessionRef.safeParse(name).success)
    .map(({ name, session, imported, problem }): SessionSummary => {
      if (session)
        return summaryOf(
          name,
          imported ? 'imported' : listedKind(session),
          name,
          session,
          titles.get(name) ?? null,
        )
      return {
        ref: name,
        kind: 'live',
        name,
        title: titles.get(name) ?? null,
        createdAt: '',
        ladder: { id: '', title: '' },
        problem: null,
        deviceName: null,
        profile: 'none',
        rungCount: 0,
        damaged: problem,
      }
    })
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
