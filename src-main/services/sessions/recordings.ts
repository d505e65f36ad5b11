/** Shipped recordings: choosing one for a request, and replaying it. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { sharedSessions, sharingSessions } from '../../adapters/disk/journal'
import { readSession, readSessionText } from '../../adapters/sessions/session-store'
import { SessionSummary, type RunEvent, type RunRequest } from '../../contract/index'
import { summaryOf, recordedRef } from '../../contract/sessions'
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import type { Session } from '../../domain/session/session'
import {
  type Problem,
  chosen,
  type Choice,
  problemLabel,
  sameSizes,
  sizesLabel,
} from '../../domain/task/problem'
import type { Task } from '../../domain/task/task'
import { recordedMachine } from '../../adapters/machine/machine'
import { readSources } from '../../adapters/sessions/session-sources'
import type { ProfileLevel } from '../../domain/metrics/metric-definition'
import { Bench } from '../bench/bench'
import { liveWay } from '../run/live-way'
import { defaultSettings } from '../run/run-settings'
import { runPlan, type RunOutcome } from '../run/run'
import type { RunPlan } from '../../domain/run/plan'
import { askedName } from '../catalog/parameters'
import { selectRungs } from '../catalog/resolve'

// The shipped recordings. `index.json` next to them contains what lists show and what requests are matched against, so
// that no session is parsed before it is opened. `npm run recordings` derives it from the sessions; for a recording
// that it lacks, or if it is damaged, the session is read instead.

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
  /** The session's task. */
  task: Task
  problem: Problem
}

/** null for a session without a run to replay: an import, or the profile of a program, which is shown as it was kept. */
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

/** Those that share files, and folders beside them. */
async function placesIn(root: string): Promise<{ name: string; folder: string }[]> {
  const entries = await readdir(root, { withFileTypes: true }).catch(() => [])
  const folders = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
  const sharing = await sharingSessions(join(root, sharedSessions))
  const names = new Set([...sharing, ...folders.map(({ name }) => name)])
  return [...names].sort().map((name) => ({ name, folder: join(root, name) }))
}

const summarize = (name: string, session: Session): ListedRecording['summary'] =>
  RecordingSummary.parse(summaryOf(name, 'recorded', name, session))

/** The session of a run, or of a profiled program. */
async function readKept({
  name,
  folder,
}: Pick<ListedRecording, 'name' | 'folder'>): Promise<Session> {
  const session = await readSession(folder)
  return session.program ? session : (await readRecording({ name, folder })).session
}

/** The readable ones; a folder without a session is skipped. */
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
  const recordings = found
    .flat()
    .sort((a, b) => b.summary.createdAt.localeCompare(a.summary.createdAt))
  // Deep recordings come last, so that a request without a level does not get the heaviest.
  const isDeep = ({ summary }: ListedRecording): boolean => summary.profile === 'deep'
  return [...recordings.filter((one) => !isDeep(one)), ...recordings.filter(isDeep)]
}

const listed = new Map<string, Promise<readonly ListedRecording[]>>()

/** The recordings in a folder, listed once, since they ship with the program and are not written while it runs. */
export function listRecordings(root: string): Promise<readonly ListedRecording[]> {
  const known = listed.get(root)
  if (known) return known
  const found = list(root)
  listed.set(root, found)
  // A disk that could not be read may work the next time.
  found.catch(() => listed.delete(root))
  return found
}

/** Every recording of a run in full, for overviews of all of them. */
export const readRecordings = async (root: string): Promise<Recording[]> => {
  const ofRuns = (await listRecordings(root)).filter(({ summary }) => summary.problem !== null)
  return Promise.all(ofRuns.map(readRecording))
}

/** What index.json should contain for the recordings in a folder; throws if one cannot be read. */
export async function recordingIndex(root: string): Promise<RecordingIndex> {
  const recordings: RecordingIndex['recordings'] = {}
  for (const place of await placesIn(root))
    if ((await readSessionText(place.folder)) !== null)
      recordings[place.name] = summarize(place.name, await readKept(place))
  return { schema: 1, recordings }
}

const describe = ({ name, summary: { ladder, problem } }: ListedRecording): string =>
  `${recordedRef(name)} (${ladder.id}${problem === null ? '' : ` at ${problemLabel(problem)}`})`

/** The size that plain `recorded` refers to if a ladder was recorded at several. */
const usualSize = 4096

const hasUsualSize = ({ summary }: ListedRecording): boolean =>
  Object.values(summary.problem?.sizes ?? {}).every((size) => size === usualSize)

/** The recording for a request, whose ladder, size and parameters must match what was recorded. */
export async function chooseRecording(
  recordings: readonly ListedRecording[],
  /** Its name; null for any match. */
  name: string | null,
  request: Pick<RunRequest, 'ladder'> & Choice & { profile?: ProfileLevel },
): Promise<ListedRecording> {
  const named = recordings.filter((recording) => name === null || recording.name === name)
  if (recordings.length === 0) throw inputError(message('sessions.noRecordings'))
  if (named.length === 0)
    throw inputError(
      message('sessions.noRecording', { recording: JSON.stringify(name) }),
      message('sessions.recordings', { recordings: recordings.map(describe).join(', ') }),
    )
  const isAtLevel = ({ summary }: ListedRecording): boolean => summary.profile === request.profile
  const allOfLadder = named.filter(({ summary }) => summary.ladder.id === request.ladder)
  // At the requested level if available, else at any.
  const ofLadder = [
    ...allOfLadder.filter(isAtLevel),
    ...allOfLadder.filter((one) => !isAtLevel(one)),
  ]
  const ladder = JSON.stringify(request.ladder)
  if (ofLadder.length === 0)
    throw inputError(
      name === null
        ? message('asked.noRecordingOfLadder', { ladder })
        : message('asked.otherLadder', { recording: recordedRef(name), ladder }),
      message('sessions.recordings', { recordings: recordings.map(describe).join(', ') }),
    )
  const first = ofLadder[0]!
  const isChosen = request.size !== undefined || request.at !== undefined
  const { sizes } = isChosen ? chosen((await readRecording(first)).task, request) : {}
  if (!sizes) return ofLadder.find(hasUsualSize) ?? first
  const ofSize = ofLadder.find(
    ({ summary: { problem } }) => problem !== null && sameSizes(problem.sizes, sizes),
  )
  if (!ofSize)
    throw inputError(
      message('asked.otherSize', { ladder: request.ladder, sizes: sizesLabel(sizes) }),
      message('asked.sizeNeedsGpu', { recordings: ofLadder.map(describe).join(', ') }),
    )
  return ofSize
}

/** Checks everything besides the size, by which the recording was chosen. */
function checkChoice({ name, task, problem }: Recording, request: Choice): void {
  const { scalars, options } = chosen(task, request)
  const recorded = { ...problem.scalars, ...problem.options }
  for (const [word, value] of Object.entries({ ...scalars, ...options }))
    if (recorded[word] !== value)
      throw inputError(
        message('asked.otherValue', {
          ...{ recording: recordedRef(name), name: word, value },
          recorded: `${recorded[word]}`,
        }),
        message('asked.valueNeedsGpu'),
      )
}

function checkParams(recording: Recording, params: Record<string, number>): void {
  for (const [word, value] of Object.entries(params)) {
    const { rung: id, name } = askedName(word)
    const holders = recording.session.rungs.filter(
      (rung) => (id === null || rung.id === id) && rung.params[name] !== undefined,
    )
    if (holders.length === 0)
      throw inputError(
        message('asked.noParameterRecorded', {
          recording: recordedRef(recording.name),
          name: JSON.stringify(word),
        }),
        message('asked.seeParameters'),
      )
    if (holders.some((rung) => rung.params[name] !== value))
      throw inputError(
        message('asked.otherParameter', {
          ...{ recording: recordedRef(recording.name), name, value },
          recorded: [...new Set(holders.map((rung) => rung.params[name]))].join(', '),
        }),
        message('asked.parametersNeedGpu'),
      )
  }
}

/** The further problems at which a recording's rungs were verified. */
function furtherOf({ rungs, ladder }: Session): Pick<RunPlan, 'alsoVerify'> {
  const verified = rungs.filter(({ alsoVerified }) => alsoVerified !== undefined)
  const problems = verified[0]?.alsoVerified?.map(({ problem }) => problem) ?? []
  return problems.length === 0
    ? {}
    : {
        alsoVerify: {
          rungs: verified.map(({ id }) => id),
          problems,
          decides: ladder.testAt !== undefined,
        },
      }
}

/** Replays a recording through the live services and parsers. Nothing is built, run or written. */
export async function replay(
  recording: Recording,
  request: Pick<RunRequest, 'rungs' | 'params' | 'size' | 'at' | 'profile'>,
  emit: (event: RunEvent) => void,
  signal: AbortSignal,
): Promise<RunOutcome> {
  const { session, folder, name, task, problem } = recording
  checkParams(recording, request.params)
  checkChoice(recording, request)
  const { texts: sources } = await readSources(folder, session)
  const planned = session.ladder.rungs.map((rung) => ({ rung, source: sources[rung.id] ?? '' }))
  const wanted = selectRungs(
    planned.map((entry) => ({ id: entry.rung.id, entry })),
    request.rungs,
    recordedRef(name),
  ).map(({ entry }) => entry)
  const plan: RunPlan = {
    ladder: { ...session.ladder, rungs: wanted.map(({ rung }) => rung) },
    task,
    headers: new Map(),
    problem,
    // All rungs are replayed, because the tools ran on all of them at once; unwanted ones are dropped below.
    rungs: planned,
    reference: planned.find(({ rung }) => rung.id === session.ladder.reference) ?? null,
    trusted: null,
    taskFolder: null,
    profile: request.profile === 'none' ? 'none' : session.settings.profile,
    timing: session.settings.timing ?? 'single',
    profileSkip: session.settings.profileSkipped ?? [],
    ...furtherOf(session),
  }
  const keep = new Set(wanted.map(({ rung }) => rung.id))
  const emitWanted = (event: RunEvent): void => {
    if (event.type === 'started')
      emit({ ...event, rungs: event.rungs.filter(({ id }) => keep.has(id)) })
    else if (event.type === 'rung' && !keep.has(event.rung)) return
    else if (event.type === 'result' && !keep.has(event.result.id)) return
    else emit(event)
  }
  const { seed, cacheState = 'unknown' } = session.settings
  const machine = recordedMachine(name, folder)
  const tools = { toolbox: machine.toolbox(null), cache: machine.cache }
  const outcome = await runPlan(
    {
      bench: await Bench.open(tools, null, signal),
      plan,
      identity: {
        id: session.id,
        createdAt: session.createdAt,
        target: { kind: 'recorded', name },
        appVersion: session.appVersion,
      },
      emit: emitWanted,
    },
    liveWay({ ...defaultSettings, seed, cacheState, busyWaitsMs: [] }, null),
  )
  const recordedHash = new Map(session.rungs.map(({ id, sourceHash }) => [id, sourceHash]))
  outcome.session.rungs = outcome.session.rungs
    .filter(({ id }) => keep.has(id))
    // For a missing source, the recorded hash is used.
    .map((rung) =>
      sources[rung.id] === undefined
        ? { ...rung, sourceHash: recordedHash.get(rung.id) ?? rung.sourceHash }
        : rung,
    )
  outcome.session.elapsedSeconds = session.elapsedSeconds
  outcome.session.settings = { ...session.settings, profile: plan.profile }
  return outcome
}
