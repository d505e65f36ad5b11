/** Runs a host's request to completion, by the runner of its target kind. */
import type { RunRequest } from '../../contract'
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import { parseTarget, targetUsage, type RunnableKind } from '../../domain/target/targets'
import { runEmulated } from './emulated'
import { runLocal } from './local'
import { runMachine } from './machine'
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
  return runners[target.kind](target.name, request, options)
}
