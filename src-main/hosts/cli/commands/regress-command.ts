/**
 * `kernel-ladder regress`: tests whether a ladder's code became slower since a session or a git
 * revision.
 */
import { message } from '../../../domain/messages/message'
import { resolve } from 'node:path'
import type { SetUp } from '../../../adapters/machine/machine'
import { inputError } from '../../../domain/errors'
import { Identifier } from '../../../domain/ladder/rung'
import type { RegressReport } from '../../../domain/regress/report'
import { leastPercent } from '../../../domain/regress/verdict'
import { problemWord } from '../../../domain/task/problem'
import { inEnglish } from '../../../domain/text/english'
import { regress } from '../../../services/regress/regress'
import {
  againstOf,
  byVerdict,
  changeOf,
  cyclesOf,
  howDecided,
  regressJunit,
  regressMarkdown,
  time,
} from '../../../services/regress/print'
import { checkPlace, saveReport } from '../../../services/report/save'
import { parseChoice, parseParams, type ProblemOptions } from '../parse-run-request'
import { note, printJson, printText } from '../output'
import { table } from '../table'
import { abortOnStop } from '../stop-signals'
import type { NamedOption } from '../task-options'
import { cacheStateOf } from '../shared-options'
import { gpuNumber, wholeNumber, words } from '../option-values'
import { askTrust } from '../ask'
import { regressDocument } from '../documents/regress'

export interface RegressCommandOptions extends ProblemOptions {
  ladder: string
  against: string
  rungs?: string
  param?: string[]
  threshold?: string
  rounds?: string
  seconds?: string
  calibrate?: boolean
  warm?: boolean
  timeout?: string
  gpu?: string
  wait: boolean
  trust?: boolean
  json?: boolean
  markdown?: boolean
  junit?: string
}

/**
 * Maximum threshold in percent. With a larger threshold, a rung could take twice as long without
 * being reported. No GPU is stable enough for a threshold below the minimum.
 */
const mostPercent = 100
/**
 * Minimum, default and maximum number of rounds. Six is the minimum, because with four rounds, the
 * interval at a verdict's confidence is four times as wide as with six.
 */
const [fewestRounds, usualRounds, mostRounds] = [6, 24, 1000]
const [leastSeconds, usualSeconds, mostSeconds] = [0.01, 0.1, 60]

function decimal(
  word: string | undefined,
  name: string,
  usual: number,
  least: number,
  most: number,
) {
  if (word === undefined) return usual
  const value = /^\d+(\.\d+)?$/.test(word) ? Number(word) : NaN
  if (value >= least && value <= most) return value
  throw inputError(
    `${name} ${JSON.stringify(word)} is not a number from ${least} to ${most}.`,
    `For example: ${name} ${usual}.`,
  )
}

function rungIds(list: string): string[] {
  const ids = words(list)
  const wrong = ids.find((id) => !Identifier.safeParse(id).success)
  if (wrong !== undefined) throw inputError(`--rungs: ${JSON.stringify(wrong)} is not a rung id.`)
  if (ids.length === 0)
    throw inputError('--rungs is empty.', 'For example: --rungs 01_naive,02_coalesced.')
  return ids
}

export async function regressCommand(
  setUp: SetUp,
  options: RegressCommandOptions,
  named: readonly NamedOption[],
): Promise<number> {
  if (options.json && options.markdown)
    throw inputError('--json and --markdown both print to stdout.', 'Use one or the other.')
  const request = {
    ladder: options.ladder,
    against: options.against,
    ...(options.rungs === undefined ? {} : { rungs: rungIds(options.rungs) }),
    ...parseChoice(options, named),
    params: parseParams(options.param ?? []),
    thresholdPercent: decimal(options.threshold, '--threshold', leastPercent, 0.1, mostPercent),
    rounds: wholeNumber(
      options.rounds ?? String(usualRounds),
      '--rounds',
      mostRounds,
      fewestRounds,
    ),
    secondsAPair: decimal(options.seconds, '--seconds', usualSeconds, leastSeconds, mostSeconds),
    cacheState: cacheStateOf(options),
    calibrate: options.calibrate ?? false,
  }
  const idleSeconds =
    options.timeout === undefined ? 60 : wholeNumber(options.timeout, '--timeout', 86_400)
  if (options.junit !== undefined) await checkPlace(options.junit)
  const setup = await setUp()
  await askTrust(setup, request.ladder, options)
  const report = await regress(setup, request, {
    signal: abortOnStop('stopping; nothing is decided.'),
    onNote: note,
    idleSeconds,
    waitForGpu: options.wait,
    ...(options.gpu === undefined ? {} : { gpu: gpuNumber(options.gpu) }),
    trust: options.trust ?? false,
  })
  if (options.junit !== undefined) {
    await saveReport(resolve(options.junit), regressJunit(report))
    note(`Wrote ${options.junit}`)
  }
  if (options.json) printJson(regressDocument, report)
  else printText(options.markdown ? regressMarkdown(report).trimEnd() : describe(report))
  // Repeat the headline in the log, because stdout may go to a file that nobody reads.
  note(`Kernel Ladder: ${report.headline}`)
  return report.exitCode
}

const describe = (report: RegressReport): string =>
  [
    `${report.ladder} at ${problemWord(report.problem)} on ${report.gpu.name}, L2 ${inEnglish(message(`cacheState.${report.cacheState}`))}, against ${againstOf(report)}`,
    ...report.notes.map((text) => `warning: ${inEnglish(text)}`),
    table(byVerdict(report.rungs), [
      { header: 'rung', align: 'left', cell: ({ id }) => id },
      { header: 'old', cell: ({ oldMs }) => time(oldMs) },
      { header: 'new', cell: ({ newMs }) => time(newMs) },
      { header: 'change', cell: changeOf },
      { header: 'cycles', cell: cyclesOf },
      { header: 'verdict', align: 'left', cell: ({ verdict }) => verdict },
      {
        header: '',
        align: 'left',
        cell: ({ reason }) => (reason === null ? '' : inEnglish(reason)),
      },
    ]),
    howDecided(report),
  ].join('\n')
