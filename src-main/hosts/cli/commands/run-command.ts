/**
 * `kernel-ladder run`: runs a ladder, prints the session, and returns the exit code that the
 * contract defines.
 */
import { resolve } from 'node:path'
import type { SetUp } from '../../../adapters/machine/machine'
import { inputError, exitCodes } from '../../../domain/errors'
import { isBuiltOnly, can, parseTarget } from '../../../domain/targets/targets'
import type { FinishedRun } from '../../../services/targets/saved-run'
import { startRun } from '../../../services/targets/start-run'
import { note, printError, printText, printJson } from '../output'
import { progressPrinter } from '../progress'
import type { CommitsRequest } from '../../../services/folders/commits'
import type { RunSettings } from '../../../services/run/run-settings'
import { appVersion } from '../../../services/version'
import { parseRunRequest, type RunOptions } from '../parse-run-request'
import { runDocument, sessionFields } from '../documents/run'
import { abortOnStop } from '../stop-signals'
import type { NamedOption } from '../task-options'
import { cacheStateOf } from '../shared-options'
import { wholeNumber } from '../option-values'
import { askTrust } from '../ask'
import { watchRun } from './watch-run'
import { sessionText } from '../describe/describe-static'

/**
 * Returns a run's exit code. The code is 1 if a rung is wrong, failed or did not run. The code is 3
 * if the GPU was lost during the run. An unsupported rung is not a failure.
 */
export function exitCodeOf({ session, missing, unsaved }: FinishedRun): number {
  if (unsaved) return exitCodes[unsaved.kind]
  // A build-only target runs no rungs, so rungs that did not run are not failures on such a target.
  const bad = isBuiltOnly(session.target) ? ['failed'] : ['wrong', 'failed', 'not-run']
  const failed = session.rungs.some(({ status }) => bad.includes(status))
  // If this machine prevented some rungs from running, the results of the other rungs do not affect
  // the exit code.
  const notRun = session.rungs.some(({ status }) => status === 'not-run')
  if (missing && notRun && session.completion !== 'cancelled') return exitCodes.missing
  if (session.completion === 'cancelled' || failed) return exitCodes.failed
  return missing ? exitCodes.missing : 0
}

function commitsOf({ rung, commits, rungs, watch, target }: RunOptions): CommitsRequest | null {
  if (rung === undefined && commits === undefined) return null
  if (rung === undefined || commits === undefined)
    throw inputError(
      '--rung and --commits must be used together.',
      'For example: --rung 05_tile --commits v1..HEAD.',
    )
  const other = rungs === undefined ? (watch ? '--watch' : null) : '--rungs'
  if (other)
    throw inputError(`${other} cannot be combined with --commits, which selects the rungs.`)
  if (can(parseTarget(target)!).replays)
    throw inputError('A recording has no commits: leave --target out, or give a GPU to build for.')
  return { rung, range: commits }
}

/** Returns the settings that all kinds of runs share. */
export const settingsOf = ({ timeout, warm, wait }: RunOptions): Partial<RunSettings> => ({
  ...(timeout === undefined ? {} : { idleSeconds: wholeNumber(timeout, '--timeout', 86_400) }),
  cacheState: cacheStateOf({ warm }),
  waitForGpu: wait,
})

export async function runCommand(
  setUp: SetUp,
  options: RunOptions,
  named: readonly NamedOption[],
): Promise<number> {
  const request = parseRunRequest(options, named)
  if (options.watch) {
    const given = options.json ? '--json' : options.out === undefined ? null : '--out'
    if (given) throw inputError(`${given} cannot be combined with --watch, which runs repeatedly.`)
    const { kind } = parseTarget(request.target)!
    if (can({ kind }).replays)
      throw inputError('A recording cannot be watched, because it does not change.')
  }
  const commits = commitsOf(options)
  const settings = settingsOf(options)
  const setup = await setUp()
  const target = parseTarget(request.target)
  if (target && !can(target).replays) await askTrust(setup, request.ladder, options)
  const runOptions = {
    ...setup,
    ...(options.out === undefined ? {} : { out: resolve(options.out) }),
    appVersion,
    settings,
    ...(commits ? { commits } : {}),
    signal: abortOnStop('stopping and saving the finished results.'),
  }
  if (options.watch) return watchRun(setup, request, runOptions)
  const result = await startRun(request, { ...runOptions, emit: progressPrinter() })
  return printRun(result, options.json)
}

/** Prints a finished run and returns its exit code. */
export function printRun(result: FinishedRun, json = false): number {
  const { session, folder, missing, unsaved } = result
  if (json) printJson(runDocument, sessionFields(session, folder))
  else printText(sessionText(session))
  if (folder !== null && !can(session.target).replays) note(`Saved in ${folder}`)
  if (folder === null && !unsaved) note('Nothing finished, so nothing was saved.')
  for (const error of [missing, unsaved]) if (error) printError(error)
  return exitCodeOf(result)
}
