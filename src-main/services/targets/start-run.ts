/** Starts a run on the target that the request names. */
import type { RunRequest } from '../../contract/index'
import { type FinishedRun, type Runner, type StartRunOptions } from './saved-run'
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import { parseTarget, targetUsage, type RunnableKind } from '../../domain/targets/targets'
import { openPrograms } from '../folders/open'
import { runMachine } from './machine'
import { runProgramLadder } from './programs'
import { runLocal } from './run-local'
import { runRecorded } from './run-recorded'
import { runStatic } from './run-static'
import { runEmulated } from './run-emulated'
import { runPredicted } from './run-predicted'

const runners: Record<RunnableKind, Runner> = {
  live: runLocal,
  recorded: runRecorded,
  static: runStatic,
  emulated: runEmulated,
  predicted: runPredicted,
  machine: runMachine,
}

export async function startRun(
  request: RunRequest,
  options: StartRunOptions,
): Promise<FinishedRun> {
  const target = parseTarget(request.target)
  if (!target)
    throw inputError(
      message('asked.notTarget', { target: JSON.stringify(request.target) }),
      message('asked.targets', { targets: targetUsage }),
    )
  const programs = await openPrograms(options, request.ladder)
  if (programs) return runProgramLadder(programs, request, options)
  return runners[target.kind](target.name, request, options)
}
