/**
 * Reads the index of shipped recordings, so that no session is parsed before it is opened.
 *
 * `index.json` contains the data to display in lists and the data to compare with requests. `npm
 * run recordings` derives `index.json` from the sessions. If the index is damaged or does not list
 * a recording, the session is read instead.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { readSession, readSessionText } from '../../adapters/sessions/session-store'
import { SessionSummary } from '../../contract/index'
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import type { Session } from '../../domain/session/session'
import { type Problem } from '../../domain/task/problem'
import type { Task } from '../../domain/task/task'
import { summaryOf } from '../../domain/session/session-summary'
import { sharedSessions, sharingSessions } from '../../adapters/disk/shared-sessions'

export const recordingIndexFile = 'index.json'

/** A recording's index entry. */
const RecordingSummary = SessionSummary.omit({
  ref: true,
  kind: true,
  name: true,
  title: true,
  target: true,
  damaged: true,
})

const RecordingIndex = z.object({
  schema: z.literal(1),
  recordings: z.record(z.string(), RecordingSummary),
})
export type RecordingIndex = z.infer<typeof RecordingIndex>

export interface ListedRecording {
  name: string
  folder: string
  summary: z.infer<typeof RecordingSummary>
}

export interface Recording {
  name: string
  folder: string
  session: Session
  /** Task that the session's rungs perform. */
  task: Task
  problem: Problem
}

/**
 * Converts a session to a recording. Returns null for a session that cannot be replayed. Imports
 * and profiles of programs cannot be replayed and are shown as stored.
 */
export function asRecording(name: string, folder: string, session: Session): Recording | null {
  const { problem } = session
  const { task } = session.ladder
  return task && problem && { name, folder, session, task, problem }
}

export async function readRecording({
  name,
  folder,
}: Pick<ListedRecording, 'name' | 'folder'>): Promise<Recording> {
  const recording = asRecording(name, folder, await readSession(folder))
  if (!recording)
    throw inputError(message('sessions.noRunToReplay', { folder }), message('sessions.nameRun'))
  return recording
}

async function readIndex(root: string): Promise<RecordingIndex['recordings']> {
  try {
    const text = await readFile(join(root, recordingIndexFile), 'utf8')
    return RecordingIndex.parse(JSON.parse(text)).recordings
  } catch {
    return {}
  }
}

/**
 * Returns the folders of all recordings. Some recordings share files, and others have separate
 * folders.
 */
async function placesIn(root: string): Promise<{ name: string; folder: string }[]> {
  const entries = await readdir(root, { withFileTypes: true }).catch(() => [])
  const folders = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
  const sharing = await sharingSessions(join(root, sharedSessions))
  const names = new Set([...sharing, ...folders.map(({ name }) => name)])
  return [...names].sort().map((name) => ({ name, folder: join(root, name) }))
}

const summarize = (name: string, session: Session): ListedRecording['summary'] =>
  RecordingSummary.parse(summaryOf(name, 'recorded', name, session))

/** Reads the session from a recorded run or a profiled program. */
async function readKept({
  name,
  folder,
}: Pick<ListedRecording, 'name' | 'folder'>): Promise<Session> {
  const session = await readSession(folder)
  return session.program ? session : (await readRecording({ name, folder })).session
}

/**
 * Returns the GPU with the most recordings, which is the default for requests that name no
 * recording.
 */
function usualGpu(recordings: readonly ListedRecording[]): string | null {
  const counts = new Map<string | null, number>()
  for (const { summary } of recordings)
    counts.set(summary.deviceName, (counts.get(summary.deviceName) ?? 0) + 1)
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? null
}

/**
 * Lists the readable recordings. The newest recording on the GPU with the most recordings comes
 * first. Skips folders that contain no session.
 */
async function list(root: string): Promise<ListedRecording[]> {
  const index = await readIndex(root)
  const found = await Promise.all(
    (await placesIn(root)).map(async ({ name, folder }): Promise<ListedRecording[]> => {
      const listed = Object.hasOwn(index, name) ? index[name] : undefined
      if (listed) return [{ name, folder, summary: listed }]
      const session = await readKept({ name, folder }).catch(() => null)
      return session ? [{ name, folder, summary: summarize(name, session) }] : []
    }),
  )
  const all = found.flat()
  const usual = usualGpu(all)
  const isUsual = ({ summary }: ListedRecording): number => Number(summary.deviceName === usual)
  const recordings = all.sort(
    (a, b) => isUsual(b) - isUsual(a) || b.summary.createdAt.localeCompare(a.summary.createdAt),
  )
  // Deep recordings come last, so that a request that specifies no level does not select the
  // largest recording.
  const isDeep = ({ summary }: ListedRecording): boolean => summary.profile === 'deep'
  return [...recordings.filter((one) => !isDeep(one)), ...recordings.filter(isDeep)]
}

const listed = new Map<string, Promise<readonly ListedRecording[]>>()

/**
 * Returns the recordings in a folder. The folder is listed only once, because the recordings do not
 * change while the program runs.
 */
export function listRecordings(root: string): Promise<readonly ListedRecording[]> {
  const known = listed.get(root)
  if (known) return known
  const found = list(root)
  listed.set(root, found)
  // Do not cache a failure, because the next attempt may succeed.
  found.catch(() => listed.delete(root))
  return found
}

/** Reads the complete recording of every run, for overviews. */
export const readRecordings = async (root: string): Promise<Recording[]> => {
  const ofRuns = (await listRecordings(root)).filter(({ summary }) => summary.problem !== null)
  return Promise.all(ofRuns.map(readRecording))
}

/**
 * Returns the current content of index.json for the recordings in a folder. Throws an error if a
 * recording cannot be read.
 */
export async function recordingIndex(root: string): Promise<RecordingIndex> {
  const recordings: RecordingIndex['recordings'] = {}
  for (const place of await placesIn(root))
    if ((await readSessionText(place.folder)) !== null)
      recordings[place.name] = summarize(place.name, await readKept(place))
  return { schema: 1, recordings }
}
