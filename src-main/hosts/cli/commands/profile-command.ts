/** `kernel-ladder profile -- COMMAND`: profiles each kernel of a user's program with ncu. */
import { resolve } from 'node:path'
import type { SetUp } from '../../../adapters/machine/machine'
import { exitCodes, inputError } from '../../../domain/errors'
import { programLevels } from '../../../domain/metrics/metric-definition'
import { formatMs } from '../../../domain/metrics/units'
import {
  profileACommand,
  type ProfiledProgram,
  type ProgramEvent,
} from '../../../services/programs/profile-program'
import { inEnglish } from '../../../domain/text/english'
import { appVersion } from '../../../services/version'
import { runDocument, sessionFields } from '../documents/run'
import { note, printError, printJson, printText, passOn } from '../output'
import { abortOnStop } from '../stop-signals'
import { wholeNumber } from '../option-values'
import { sessionText } from '../describe/describe-static'

export interface ProfileOptions {
  kernels?: string
  nvtx?: string
  skip: string
  count?: string
  profile: string
  timeout: string
  /** Whether to wait for the GPU. False with `--no-wait`. */
  wait: boolean
  out?: string
  json?: boolean
}

type ProgramLevel = (typeof programLevels)[number]

const isLevel = (word: string): word is ProgramLevel =>
  (programLevels as readonly string[]).includes(word)

const mostLaunches = 1_000_000_000

function sayEvent(event: ProgramEvent): void {
  switch (event.type) {
    case 'notice':
      return note(inEnglish(event.notice))
    case 'preview':
      return note('Timing the kernels of the program, one launch at a time…')
    case 'stuck':
      return note(
        `${event.kernel} does not end by itself; the program runs again without ncu, to time its kernels concurrently…`,
      )
    case 'previewed':
      return note(
        `${event.kernels} ${event.kernels === 1 ? 'kernel' : 'kernels'} in ${event.launches} ${event.launches === 1 ? 'launch' : 'launches'}, ${formatMs(event.totalMs)} in all.`,
      )
    case 'profile':
      return note(
        `Profiling the ${event.kernels} that took most of it, in ${event.launches} ${event.launches === 1 ? 'launch' : 'launches'}: the program runs again.`,
      )
  }
}

function exitCodeOf({ session, misplaced, trouble }: ProfiledProgram): number {
  if (misplaced) return exitCodes[misplaced.kind]
  if (trouble) return exitCodes[trouble.kind]
  const isWhole = session.completion === 'complete' && session.program?.exitCode === 0
  return isWhole ? 0 : exitCodes.failed
}

export async function profileCommand(
  setUp: SetUp,
  command: readonly string[],
  options: ProfileOptions,
): Promise<number> {
  const [program, ...args] = command
  if (program === undefined || program === '')
    throw inputError(
      'There is no program to profile.',
      'Put it after two dashes: kernel-ladder profile -- python train.py.',
    )
  if (!isLevel(options.profile))
    throw inputError(
      `--profile takes ${programLevels.join(', ')}, not ${JSON.stringify(options.profile)}.`,
    )
  const filters = {
    kernels: options.kernels ?? null,
    nvtx: options.nvtx ?? null,
    skip: wholeNumber(options.skip, '--skip', mostLaunches, 0),
    count: options.count === undefined ? null : wholeNumber(options.count, '--count', mostLaunches),
  }
  const result = await profileACommand({
    ...(await setUp()),
    command: [program, ...args],
    filters,
    level: options.profile,
    timeoutSeconds: wholeNumber(options.timeout, '--timeout', 86_400),
    waitForGpu: options.wait,
    ...(options.out === undefined ? {} : { out: resolve(options.out) }),
    appVersion,
    signal: abortOnStop('stopping the program and saving the finished times.'),
    // With --json, stdout contains only the JSON document.
    onOutput: (stream, text) => passOn(options.json ? 'stderr' : stream, text),
    emit: sayEvent,
  })
  const { session, folder, misplaced, trouble } = result
  if (options.json) printJson(runDocument, sessionFields(session, folder))
  else printText(sessionText(session))
  note(`Saved in ${folder}`)
  for (const error of [trouble, misplaced]) if (error) printError(error)
  return exitCodeOf(result)
}
