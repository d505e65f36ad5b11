/** `kernel-ladder run`: a ladder on one target, on several at once, or again at every save. */
import { resolve } from 'node:path'
import { readKernelLibrary } from '../../../adapters/kernels/kernel-library'
import { shownPath } from '../../../adapters/kernels/ladder-folder'
import type { Setup, SetUp } from '../../../adapters/machine/machine'
import type { RunRequest } from '../../../contract/index'
import type { MetricDelta } from '../../../domain/analysis/compare'
import type { WatchedRung } from '../../../domain/analysis/watched'
import { percentChange } from '../../../domain/analysis/time-change'
import { inputError, exitCodes, toErrorShape, type ErrorShape } from '../../../domain/errors'
import { formatMs, formatValue } from '../../../domain/metrics/units'
import { isBuiltOnly, can, parseTarget } from '../../../domain/target/targets'
import { inEnglish } from '../../../domain/text/text'
import { openTrustedLadder } from '../../../services/ladder-library/open'
import { watchFolder, type WatchNews } from '../../../services/run/watch'
import type { StartRunOptions, FinishedRun } from '../../../services/targets/saved-run'
import { startRun } from '../../../services/targets/start-run'
import { sessionText } from '../describe/describe-sessions'
import { note, printError, printText, printJson, table } from '../output'
import { progressPrinter } from '../progress'
import type { CommitsRequest } from '../../../services/ladder-library/commits'
import type { RunSettings } from '../../../services/run/run-settings'
import { appVersion } from '../../../services/version'
import {
  parseRunRequest,
  wholeNumber,
  type RunOptions,
  type NamedOption,
  words,
  cacheStateOf,
} from '../arguments'
import { runDocument, sessionFields, runSeveralDocument } from '../documents/sessions'
import { abortOnStop, askTrust } from '../terminal'
import { across, acrossPipe, type AcrossSide } from '../../../domain/analysis/comparability'
import { rateText, shareText } from '../../../domain/analysis/lead-figure'
import { metricDefinition } from '../../../domain/metrics/metrics'
import type { Session } from '../../../domain/session/session'
import { describeOrigin, metric } from '../describe/describe-ladder'

// `kernel-ladder run --watch`: on every save, runs the rungs that changed and prints the effect.

/** `  Shared-memory loads: 4.10 k → 1.02 k, better` */
const describeCounter = ({ label, a, b, verdict }: MetricDelta): string =>
  `  ${label}: ${metric(a ?? undefined)} → ${metric(b ?? undefined)}, ${verdict}`

/** `02_tile: 1.31 ms → 0.98 ms, −25.2 %: faster.`, and a line per counter that changed. */
export function describeChange({
  id,
  status,
  verdict,
  reasons,
  beforeMs,
  nowMs,
  change,
  counters,
}: WatchedRung): string {
  const times = [beforeMs, nowMs].map((ms) => (ms === null ? null : formatMs(ms)))
  const time = times[0] && times[1] ? `${times[0]} → ${times[1]}` : (times[1] ?? times[0] ?? status)
  const by = change === null ? '' : `, ${percentChange(change.ratio)}`
  const why = status === 'ok' ? '' : ` ${reasons.map(inEnglish).join(' ')}`
  // Without times, the counters are the result.
  const isCounted = counters !== null && status === 'ok' && times[0] === null && times[1] === null
  if (isCounted && counters.length === 0) return `${id}: ${time}. No counter changed.`
  return [
    `${id}: ${time}${by}${isCounted ? '' : `: ${verdict}`}.${why}`.trimEnd(),
    ...(counters ?? []).map(describeCounter),
  ].join('\n')
}

const phases: Partial<Record<WatchNews['phase'], string>> = {
  waiting: 'Waiting for a change. Press Ctrl+C to stop.',
  gone: 'The folder no longer exists; waiting for it to come back.',
}

/** Returns 0 when stopped. */
export async function watchRun(
  setup: Setup,
  request: RunRequest,
  options: Omit<StartRunOptions, 'emit'>,
): Promise<number> {
  const { own } = await openTrustedLadder(setup, request.ladder)
  if (!own)
    throw inputError(
      `${request.ladder} ships with the program and does not change.`,
      'Only a ladder folder can be watched; `kernel-ladder init DIR` creates one.',
    )
  let rounds = 0
  await watchFolder({
    folder: own.folder,
    shipped: await readKernelLibrary(setup.assets.kernelsDir),
    rungs: request.rungs,
    async run(rungs) {
      const { session, folder, missing, unsaved } = await startRun(
        { ...request, ladder: own.folder, rungs },
        { ...options, emit: progressPrinter() },
      )
      // The first round has nothing to compare with. Without times, the table is the result.
      if (rounds === 0 || !can(session.target).times) printText(sessionText(session))
      if (folder !== null) note(`Saved in ${shownPath(folder)}`)
      for (const error of [missing, unsaved]) if (error) printError(error)
      return session
    },
    onNews({ phase, error, rounds: done, rungs }) {
      if (done > 1 && done > rounds)
        for (const rung of rungs)
          if (rung.fresh && rung.status !== 'not-run') printText(describeChange(rung))
      rounds = done
      if (error) printError(error)
      const words = phases[phase]
      if (words) note(words)
    },
    signal: options.signal,
  })
  return 0
}

// `kernel-ladder run`: runs a ladder, prints the session, and exits with the contract's exit code.

/** 1 if a rung is wrong, failed or was not reached, 3 if the GPU was lost during the run; an unsupported rung is not a failure. */
export function exitCodeOf({ session, missing, unsaved }: FinishedRun): number {
  if (unsaved) return exitCodes[unsaved.kind]
  // A build-only target runs nothing by design.
  const bad = isBuiltOnly(session.target) ? ['failed'] : ['wrong', 'failed', 'not-run']
  const failed = session.rungs.some(({ status }) => bad.includes(status))
  // A problem of this machine kept rungs from running, however the earlier ones ended.
  const notRun = session.rungs.some(({ status }) => status === 'not-run')
  if (missing && notRun && session.completion !== 'cancelled') return exitCodes.missing
  if (session.completion === 'cancelled' || failed) return exitCodes.failed
  return missing ? exitCodes.missing : 0
}

function commitsOf({ rung, commits, rungs, watch, target }: RunOptions): CommitsRequest | null {
  if (rung === undefined && commits === undefined) return null
  if (rung === undefined || commits === undefined)
    throw inputError(
      '--rung and --commits go together.',
      'For example: --rung 05_tile --commits v1..HEAD.',
    )
  const other = rungs === undefined ? (watch ? '--watch' : null) : '--rungs'
  if (other) throw inputError(`${other} does not go with --commits, which names the rungs.`)
  if (can(parseTarget(target)!).replays)
    throw inputError('A recording has no commits: leave --target out, or name a GPU to build for.')
  return { rung, range: commits }
}

/** How rungs are run, whatever is run. */
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
    if (given) throw inputError(`${given} does not go with --watch, which runs again and again.`)
    const { kind } = parseTarget(request.target)!
    if (can({ kind }).replays) throw inputError('A recording is not watched: it does not change.')
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
    signal: abortOnStop('stopping and saving what has finished.'),
  }
  if (options.watch) return watchRun(setup, request, runOptions)
  const result = await startRun(request, { ...runOptions, emit: progressPrinter() })
  return printRun(result, options.json)
}

/** Prints a finished run; returns its exit code. */
export function printRun(result: FinishedRun, json = false): number {
  const { session, folder, missing, unsaved } = result
  if (json) printJson(runDocument, sessionFields(session, folder))
  else printText(sessionText(session))
  if (folder !== null && !can(session.target).replays) note(`Saved in ${folder}`)
  if (folder === null && !unsaved) note('Nothing finished, so nothing was saved.')
  for (const error of [missing, unsaved]) if (error) printError(error)
  return exitCodeOf(result)
}

// `kernel-ladder run --target A,B`: one ladder on several targets at once, a session each, and their rungs side by side.

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
  if (twice !== undefined) throw inputError(`--target names ${twice} twice.`)
  const alone = (['watch', 'commits', 'out', 'gpu'] as const).find(
    (name) => options[name] !== undefined && options[name] !== false,
  )
  if (alone !== undefined)
    throw inputError(
      `--${alone} goes with one target.`,
      'Leave it out, or run on one target at a time.',
    )
  const requests = targets.map((target) => parseRunRequest({ ...options, target }, named))
  const replayed = targets.find((target) => can(parseTarget(target)!).replays)
  if (replayed !== undefined)
    throw inputError(
      `${replayed} runs nothing, so it is not one of several.`,
      'Compare a recording with a session: kernel-ladder compare recorded SESSION.',
    )
  const setup = await setUp()
  await askTrust(setup, options.ladder, options)
  const signal = abortOnStop('stopping on all targets and saving what has finished.')
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
    ...(timesComparable ? ['These are GPUs of one kind: times can be compared.'] : []),
    ...reasons.map((reason) => `note: ${inEnglish(reason)}`),
  ].join('\n')
}
