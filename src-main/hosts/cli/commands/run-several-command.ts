/**
 * `kernel-ladder run --target A,B`: runs one ladder on several targets simultaneously, and saves
 * one session per target.
 */
import type { SetUp } from '../../../adapters/machine/machine'
import { inputError, exitCodes, toErrorShape, type ErrorShape } from '../../../domain/errors'
import { formatMs, formatValue } from '../../../domain/metrics/units'
import { can, parseTarget } from '../../../domain/targets/targets'
import { inEnglish } from '../../../domain/text/english'
import { startRun } from '../../../services/targets/start-run'
import { note, printError, printText, printJson } from '../output'
import { table } from '../table'
import { progressPrinter } from '../progress'
import { appVersion } from '../../../services/version'
import { parseRunRequest, type RunOptions } from '../parse-run-request'
import { abortOnStop } from '../stop-signals'
import { rateText, shareText } from '../../../domain/analysis/lead-figure'
import { metricDefinition } from '../../../domain/metrics/metrics'
import type { Session } from '../../../domain/session/session'
import { describeOrigin } from '../describe/describe-ladder'
import { across, acrossPipe, type AcrossSide } from '../../../domain/analysis/across-machines'
import type { NamedOption } from '../task-options'
import { words } from '../option-values'
import { askTrust } from '../ask'
import { exitCodeOf, settingsOf } from './run-command'
import { runSeveralDocument } from '../documents/run-several'

interface Ended {
  target: string
  session: Session | null
  folder: string | null
  code: number
  error: ErrorShape | null
}

export async function runSeveralCommand(
  setUp: SetUp,
  options: RunOptions,
  named: readonly NamedOption[],
): Promise<number> {
  const targets = words(options.target)
  const twice = targets.find((target, index) => targets.indexOf(target) < index)
  if (twice !== undefined) throw inputError(`--target lists ${twice} twice.`)
  const alone = (['watch', 'commits', 'out', 'gpu'] as const).find(
    (name) => options[name] !== undefined && options[name] !== false,
  )
  if (alone !== undefined)
    throw inputError(
      `--${alone} works with only one target.`,
      'Leave it out, or run on one target at a time.',
    )
  const requests = targets.map((target) => parseRunRequest({ ...options, target }, named))
  const replayed = targets.find((target) => can(parseTarget(target)!).replays)
  if (replayed !== undefined)
    throw inputError(
      `${replayed} runs nothing, so it cannot be one of several targets.`,
      'Compare a recording with a session: kernel-ladder compare recorded SESSION.',
    )
  const setup = await setUp()
  await askTrust(setup, options.ladder, options)
  const signal = abortOnStop('stopping on all targets and saving the finished results.')
  const settings = settingsOf(options)
  const ended = await Promise.all(
    requests.map(async (request): Promise<Ended> => {
      const { target } = request
      const say = (text: string): void => note(text.replaceAll(/^/gm, `${target}: `))
      try {
        const result = await startRun(request, {
          ...{ ...setup, appVersion, settings, signal },
          emit: progressPrinter(say),
        })
        for (const error of [result.missing, result.unsaved]) if (error) printError(error)
        const { session, folder } = result
        if (folder !== null) say(`Saved in ${folder}`)
        return { target, session, folder, code: exitCodeOf(result), error: null }
      } catch (error) {
        const shape = toErrorShape(error)
        say('No session:')
        printError(shape)
        return { target, session: null, folder: null, code: exitCodes[shape.kind], error: shape }
      }
    }),
  )
  const done = ended.filter((one): one is Ended & { session: Session } => one.session !== null)
  if (options.json)
    printJson(runSeveralDocument, {
      targets: ended.map(({ target, session, folder, code, error }) => ({
        ...{ target, code, error },
        session: folder,
        gpu: session?.device?.name ?? null,
      })),
      ...across(done.map(({ session }) => session)),
    })
  else if (done.length > 0) printText(describe(done))
  return Math.max(...ended.map(({ code }) => code))
}

function describe(done: readonly { target: string; session: Session }[]): string {
  const sessions = done.map(({ session }) => session)
  const { rungs, reasons, timesComparable } = across(sessions)
  const pipe = acrossPipe(sessions)
  const cells: { header: string; of: (side: AcrossSide) => string }[] = [
    { header: '', of: ({ timeMs, status }) => (timeMs === null ? status : formatMs(timeMs)) },
    { header: 'rate', of: ({ rate }) => rateText(rate && { rate }) },
    { header: 'of its peak', of: ({ share }) => shareText({ share }) },
    {
      header: metricDefinition(pipe)?.label ?? pipe,
      of: ({ metrics }) =>
        metrics[pipe]?.value == null ? '' : formatValue(metrics[pipe].value, metrics[pipe].unit),
    },
  ]
  return [
    ...done.map(({ target, session }) => `${target}: ${describeOrigin(session)}`),
    '',
    table(rungs, [
      { header: 'rung', align: 'left', cell: ({ id }) => id },
      ...cells.flatMap(({ header, of }) =>
        done.map(({ target }, index) => ({
          header: `${target} ${header}`.trim(),
          cell: ({ on }: (typeof rungs)[number]) => (on[index] ? of(on[index]) : '–'),
        })),
      ),
    ]),
    '',
    ...(timesComparable ? ['These GPUs are the same model, so times can be compared.'] : []),
    ...reasons.map((reason) => `note: ${inEnglish(reason)}`),
  ].join('\n')
}
