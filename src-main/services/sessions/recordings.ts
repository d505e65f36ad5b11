/** Shipped recordings: choosing one for a request, and replaying it. */
import { recordedMachine } from '../../adapters/machine/machine'
import { readSources } from '../../adapters/sessions/session-sources'
import type { RunEvent, RunRequest } from '../../contract'
import { recordedRef } from '../../contract/sessions'
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import { chosen, type Choice, problemLabel, sameSizes, sizesLabel } from '../../domain/task/problem'
import type { ProfileLevel } from '../../domain/metrics/metric-definition'
import type { Session } from '../../domain/session/session'
import { readRecording, type ListedRecording, type Recording } from './recording-list'
import { runLadder } from '../run/measured-run'
import type { RunOutcome } from '../run/stages'
import { askedName } from '../run/parameters'
import { selectRungs, type RunPlan } from '../run/plan'

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
  const { seed, flushL2 } = session.settings
  const machine = recordedMachine(name, folder)
  const outcome = await runLadder(
    {
      environment: {
        toolbox: machine.toolbox(null),
        cache: machine.cache,
        includes: new Map(),
        runnerSources: new Map(),
        reference: null,
        reportPath: null,
        appVersion: session.appVersion,
      },
      plan,
      identity: {
        id: session.id,
        createdAt: session.createdAt,
        target: { kind: 'recorded', name },
      },
      emit: emitWanted,
      signal,
    },
    { seed, flushL2, idleSeconds: 60, busyWaitsMs: [], waitForGpu: true },
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
