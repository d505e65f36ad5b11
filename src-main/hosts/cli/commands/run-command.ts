/** `kernel-ladder run`: climbs a ladder, prints the session, and ends with the contract's exit code. */
import { resolve } from 'node:path'
import { setUp } from '../../../adapters/machine/local-machine'
import { exitCodes, inputError } from '../../../domain/errors'
import type { Session } from '../../../domain/session/session'
import { can, isBuiltOnly, parseTarget } from '../../../domain/target/targets'
import type { FinishedRun } from '../../../services/targets/saved-run'
import { startRun } from '../../../services/targets/start-run'
import { appVersion } from '../../../services/version'
import { parseRunRequest, wholeNumber, type NamedOption, type RunOptions } from '../arguments'
import { sessionText } from '../describe/describe-static'
import { note, printError, printJson, printText } from '../output'
import { progressPrinter } from '../progress'
import { abortOnStop } from '../signals'
import { askTrust } from '../trust'
import { watchRun } from './watch-command'

/** What `run --json` and `show --json` print. */
export function sessionDocument(session: Session, folder: string | null): object {
  const { schema, target, device, ladder, ...rest } = session
  return {
    schema,
    session: folder,
    target,
    device,
    problem: rest.problem,
    ladder: ladder.id,
    createdAt: rest.createdAt,
    appVersion: rest.appVersion,
    tools: rest.tools,
    settings: rest.settings,
    completion: rest.completion,
    elapsedSeconds: rest.elapsedSeconds,
    warnings: rest.warnings,
    rungs: rest.rungs,
  }
}

/** 1 when a rung is wrong or failed or was not reached, 3 when the GPU was lost on the way; an unsupported rung is no failure of the run. */
function exitCodeOf({ session, missing, unsaved }: FinishedRun): number {
  if (unsaved) return exitCodes[unsaved.kind]
  // Without a GPU nothing is run, and that is what was asked for.
  const bad = isBuiltOnly(session.target) ? ['failed'] : ['wrong', 'failed', 'not-run']
  const failed = session.rungs.some(({ status }) => bad.includes(status))
  // What kept rungs from being run is this machine's, whatever became of those before.
  const notRun = session.rungs.some(({ status }) => status === 'not-run')
  if (missing && notRun && session.completion !== 'cancelled') return exitCodes.missing
  if (session.completion === 'cancelled' || failed) return exitCodes.failed
  return missing ? exitCodes.missing : 0
}

export async function runCommand(
  options: RunOptions,
  named: readonly NamedOption[],
): Promise<number> {
  const request = parseRunRequest(options, named)
  if (options.watch) {
    const given = options.json ? '--json' : options.out === undefined ? null : '--out'
    if (given) throw inputError(`${given} does not go with --watch, which runs again and again.`)
    const { kind } = parseTarget(request.target)!
    if (can({ kind }).replays) throw inputError('A recording is not watched: it does not change.')
  }
  const settings = {
    ...(options.timeout === undefined
      ? {}
      : { idleSeconds: wholeNumber(options.timeout, '--timeout', 86_400) }),
    flushL2: options.flushL2 ?? false,
    waitForGpu: options.wait,
  }
  const setup = await setUp()
  const target = parseTarget(request.target)
  if (target && !can(target).replays) await askTrust(setup, request.ladder, options)
  const runOptions = {
    ...setup,
    ...(options.out === undefined ? {} : { out: resolve(options.out) }),
    appVersion,
    settings,
    signal: abortOnStop('stopping, and saving what is finished.'),
  }
  if (options.watch) return watchRun(setup, request, runOptions)
  const result = await startRun(request, { ...runOptions, emit: progressPrinter() })
  const { session, folder, missing, unsaved } = result
  if (options.json) printJson(sessionDocument(session, folder))
  else printText(sessionText(session))
  if (folder !== null && !can(session.target).replays) note(`Saved in ${folder}`)
  if (folder === null && !unsaved) note('Nothing was finished, so nothing was saved.')
  for (const error of [missing, unsaved]) if (error) printError(error)
  return exitCodeOf(result)
}
