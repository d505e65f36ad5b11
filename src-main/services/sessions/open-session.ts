/** Opens sessions and recordings by reference. All hosts use this module. */
import { join, resolve } from 'node:path'
import { readSources } from '../../adapters/sessions/session-sources'
import { pathExists } from '../../adapters/disk/disk'
import { readSession, sessionFile } from '../../adapters/sessions/session-store'
import { SessionRef } from '../../contract/index'
import type { DeepProfile } from '../../domain/session/deep'
import { inputError } from '../../domain/errors'
import { message, type Statement } from '../../domain/messages/message'
import { rungsWithoutSums, withSums } from '../../domain/session/registry-figures'
import type { RungResult, Session } from '../../domain/session/session'
import { printTarget } from '../../domain/targets/targets'
import { asRecording, listRecordings, type Recording } from './recordings'
import { meantOr, nearest } from '../../domain/text/nearest'
import { recordedRef, recordingOf } from '../../domain/session/session-ref'
import { readDeep } from '../../adapters/sessions/deep-profiles'
import { labSessionFolder } from './attempt-sessions'
import { chooseRecording } from './choose-recording'
import { replay } from './replay-recording'
import { storeOf, mountedRef, type SessionPlaces } from './session-places'
import { listAll } from './list-sessions'

export interface OpenedSession {
  session: Session
  /** Source texts by rung id. */
  sources: Record<string, string>
  folder: string
  /** Returns a rung's deep profile, or null if there is none. */
  deep(rung: string): Promise<DeepProfile | null>
}

/** Adds a warning to a session for each missing part of the session's folder. */
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

/** Returns the folder that a ref names. Refs contain no path separators. */
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

/** Target name that accepts any recording. */
const anyRecording = printTarget({ kind: 'recorded', name: null })

/** Whether a name on the command line refers to a session. The session may be unreadable. */
export const namesSession = async (places: SessionPlaces, name: string): Promise<boolean> =>
  name === anyRecording ||
  recordingOf(name) !== null ||
  /^\.{0,2}\//.test(name) ||
  (SessionRef.safeParse(name).success && (await pathExists(join(storeOf(places), name)))) ||
  (await pathExists(resolve(name, sessionFile)))

/**
 * Opens a session named on the command line: a folder, a ref, or `recorded` for the default
 * recording.
 */
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
