/** Replays a recording. Repeats the session's run with the recorded tool output. */
import type { RunEvent, RunRequest } from '../../contract/index'
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import type { Session } from '../../domain/session/session'
import { readSources } from '../../adapters/sessions/session-sources'
import { Bench } from '../bench/bench'
import { liveWay } from '../run/live-way'
import { defaultSettings } from '../run/run-settings'
import { runPlan, type RunOutcome } from '../run/run'
import type { RunPlan } from '../../domain/run/plan'
import { splitParameterName } from '../catalog/parameters'
import { selectRungs } from '../catalog/resolve'
import { chosen, type Choice } from '../../domain/task/problem-request'
import { recordedRef } from '../../domain/session/session-ref'
import { recordedMachine } from '../../adapters/machine/recorded-machine'
import type { Recording } from './recordings'

/**
 * Checks all parts of the request except the size, which was already used to select the recording.
 */
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
    const { rung: id, name } = splitParameterName(word)
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

/** Returns the additional problems that were used to verify a recording's rungs. */
function otherSizesOf({ rungs, ladder }: Session): Pick<RunPlan, 'alsoVerify'> {
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

/**
 * Replays a recording through the same services and parsers as a live run. Nothing is built, run,
 * or written.
 */
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
    // Replay all rungs, because the tools ran once for all rungs. The code below removes rungs that
    // were not requested.
    rungs: planned,
    reference: planned.find(({ rung }) => rung.id === session.ladder.reference) ?? null,
    trusted: null,
    taskFolder: null,
    profile: request.profile === 'none' ? 'none' : session.settings.profile,
    timing: session.settings.timing ?? 'single',
    profileSkip: session.settings.profileSkipped ?? [],
    ...otherSizesOf(session),
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
    // A rung that has no stored source keeps its recorded hash.
    .map((rung) =>
      sources[rung.id] === undefined
        ? { ...rung, sourceHash: recordedHash.get(rung.id) ?? rung.sourceHash }
        : rung,
    )
  outcome.session.elapsedSeconds = session.elapsedSeconds
  outcome.session.settings = { ...session.settings, profile: plan.profile }
  return outcome
}
