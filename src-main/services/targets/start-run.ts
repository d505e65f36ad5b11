/** Runs a host's request to completion, by the runner of its target kind. */
import type { RunRequest } from '../../contract'
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import { parseTarget, targetUsage, type RunnableKind } from '../../domain/target/targets'
import { openPrograms } from '../ladder-library/open'
import { runEmulated } from './emulated'
import { runLocal } from './local'
import { runMachine } from './machine'
import { runProgramLadder } from './programs'
import { runRecorded } from './recorded'
import type { Runner } from './runner'
import type { FinishedRun, StartRunOptions } from './saved-run'
import { runStatic } from './static'

const runners: Record<RunnableKind, Runner> = {
  live: runLocal,
  recorded: runRecorded,
  static: runStatic,
  emulated: runEmulated,
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
