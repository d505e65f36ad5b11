/** `kernel-ladder tune`: measures a rung with different parameter values and ranks these values. */
import { message } from '../../../domain/messages/message'
import { resolve } from 'node:path'
import { z } from 'zod'
import { readPlainFile } from '../../../adapters/disk/disk'
import type { Setup, SetUp } from '../../../adapters/machine/machine'
import {
  ErrorShape,
  exitCodes,
  inputError,
  KernelLadderError,
  toErrorShape,
} from '../../../domain/errors'
import { Identifier } from '../../../domain/ladder/rung'
import { formatMs } from '../../../domain/metrics/units'
import { problemWord } from '../../../domain/task/problem'
import { maxSize } from '../../../domain/task/task'
import { timesOnGpu } from '../../../domain/targets/targets'
import { inEnglish } from '../../../domain/text/english'
import { tuneShape, type TuneReport, type TuneRow } from '../../../domain/tune/report'
import { strategyNames, type StrategyName } from '../../../domain/tune/search-strategy'
import { openLadder } from '../../../services/folders/open'
import { checkPlace, saveReport } from '../../../services/report/save'
import { applyWinner, requireOwnFolder } from '../../../services/tune/apply'
import type { TuneRequest } from '../../../services/tune/request'
import { keepReport } from '../../../services/tune/kept-tunings'
import { plannedRung, tune, type TuneOptions } from '../../../services/tune/tune'
import { parseChoice, type ProblemOptions } from '../parse-run-request'
import { ladderCommandThere, ladderTasksThere, machineOf, withOption } from '../elsewhere'
import { note, printJson, printText } from '../output'
import { table } from '../table'
import { abortOnStop } from '../stop-signals'
import { pointsOfT4, T4Results, toT4 } from '../../../domain/tune/t4'
import type { Axis, Point } from '../../../domain/tune/search-space'
import type { NamedOption } from '../task-options'
import { cacheStateOf } from '../shared-options'
import { gpuNumber, parsePart, wholeNumber, words } from '../option-values'
import { askTrust } from '../ask'
import { tuneDocument } from '../documents/tune'

export interface TuneCommandOptions extends ProblemOptions {
  ladder: string
  rung: string
  param?: string[]
  constraint?: string[]
  strategy?: string
  budget?: string
  seed?: string
  seconds?: string
  gpu?: string
  target?: string
  /** Number of tasks in the Slurm array. */
  tasks?: string
  /** Part of the search space that one task measures, such as `3/40`. */
  part?: string
  /**
   * Whether to store the report. `--no-keep` sets this to false, for example if the machine that
   * started the command stores the report.
   */
  keep: boolean
  fresh?: boolean
  apply?: boolean
  t4?: string
  from?: string
  warm?: boolean
  timeout?: string
  wait: boolean
  trust?: boolean
  json?: boolean
}

const mostValues = 1000
/** Slurm's default limit on the number of array tasks. */
const mostTasks = 1000

function parseAxes(given: readonly string[]): Axis[] {
  const axes = given.map((word): Axis => {
    const [, name, list] = /^([A-Za-z_]\w*)=(.+)$/.exec(word) ?? []
    if (name === undefined || list === undefined)
      throw inputError(
        `--param ${JSON.stringify(word)} is not of the form NAME=value,value,….`,
        'For example: --param BM=64,128.',
      )
    const values = words(list).map((value) =>
      wholeNumber(value, `--param ${name}`, maxSize, -maxSize),
    )
    if (new Set(values).size < values.length)
      throw inputError(`--param ${name} lists a value twice.`)
    if (values.length > mostValues)
      throw inputError(`--param ${name} lists ${values.length} values; the limit is ${mostValues}.`)
    return { name, values }
  })
  const twice = axes.find(({ name }, index) => axes.findIndex((axis) => axis.name === name) < index)
  if (twice) throw inputError(`--param ${twice.name} is given twice.`)
  return axes
}

const unitSeconds = new Map([
  ['s', 1],
  ['m', 60],
  ['h', 3600],
])

/** Parses a budget: a number of points such as `200`, or a time such as `90s`, `10m` or `2h`. */
function parseBudget(word: string | undefined): TuneRequest['budget'] {
  if (word === undefined) return { points: null, seconds: null }
  const [, number, unit] = /^(\d{1,9})([smh]?)$/.exec(word) ?? []
  const value = Number(number)
  if (number === undefined || value === 0)
    throw inputError(
      `--budget ${JSON.stringify(word)} is neither a number of points nor a time.`,
      'For example: --budget 200, --budget 10m.',
    )
  return unit
    ? { points: null, seconds: value * unitSeconds.get(unit)! }
    : { points: value, seconds: null }
}

function parseStrategy(word: string): StrategyName {
  const known = strategyNames.find((name) => name === word)
  if (known) return known
  throw inputError(
    `--strategy ${JSON.stringify(word)} is not a strategy.`,
    `Strategies: ${strategyNames.join(', ')}.`,
  )
}

/**
 * Returns a function that selects points from a T4 file. The function gets the parameter names
 * later, when they are known.
 */
async function firstPoints(file: string | undefined): Promise<TuneRequest['first']> {
  if (file === undefined) return () => []
  let document
  try {
    document = T4Results.safeParse(JSON.parse(await readPlainFile(file)))
  } catch (error) {
    throw inputError(
      `--from ${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
  if (!document.success)
    throw inputError(
      `--from ${file} is not a T4 results file: ${document.error.issues[0]?.path.join('.') ?? ''} ${document.error.issues[0]?.message ?? ''}`,
      '`tune --t4 FILE` and other autotuners write T4 files.',
    )
  const { data } = document
  return (names): Point[] => pointsOfT4(data, names)
}

function seconds(word: string | undefined): number {
  if (word === undefined) return 0.1
  const value = /^\d+(\.\d+)?$/.test(word) ? Number(word) : NaN
  if (value >= 0.01 && value <= 60) return value
  throw inputError(
    `--seconds ${JSON.stringify(word)} is not a number from 0.01 to 60.`,
    'For example: --seconds 0.1.',
  )
}

export async function tuneCommand(
  setUp: SetUp,
  options: TuneCommandOptions,
  named: readonly NamedOption[],
  given: readonly string[],
): Promise<number> {
  if (!Identifier.safeParse(options.rung).success)
    throw inputError(`--rung: ${JSON.stringify(options.rung)} is not a rung id.`)
  const request: TuneRequest = {
    ladder: options.ladder,
    rung: options.rung,
    ...parseChoice(options, named),
    axes: parseAxes(options.param ?? []),
    rules: options.constraint ?? [],
    ...(options.strategy === undefined ? {} : { strategy: parseStrategy(options.strategy) }),
    seed: options.seed === undefined ? 1 : wholeNumber(options.seed, '--seed', maxSize, 0),
    budget: parseBudget(options.budget),
    secondsAPoint: seconds(options.seconds),
    ...(options.gpu === undefined
      ? {}
      : { gpus: options.gpu === 'all' ? 'all' : words(options.gpu).map(gpuNumber) }),
    cacheState: cacheStateOf(options),
    fresh: options.fresh ?? false,
    first: await firstPoints(options.from),
    ...(options.part === undefined ? {} : { part: parsePart(options.part) }),
  }
  const elsewhere = machineOf(options.target)
  if (options.target !== undefined && !timesOnGpu(options.target))
    throw inputError(
      `--target ${JSON.stringify(options.target)} has no GPU to tune on.`,
      'Use local, or a machine of `kernel-ladder machine list`.',
    )
  const tasks =
    options.tasks === undefined ? null : wholeNumber(options.tasks, '--tasks', mostTasks, 2)
  if (tasks !== null && elsewhere === null)
    throw inputError(
      '--tasks requires --target and a machine with Slurm.',
      'On this machine, --gpu all uses all of its GPUs.',
    )
  const idleSeconds =
    options.timeout === undefined ? 60 : wholeNumber(options.timeout, '--timeout', 86_400)
  if (options.t4 !== undefined) await checkPlace(options.t4)
  const setup = await setUp()
  const { own, id } = await openLadder(setup, request.ladder)
  const folder = options.apply ? requireOwnFolder(own, id) : null
  await askTrust(setup, request.ladder, options)
  const signal = abortOnStop('stopping; the same command resumes the sweep.')
  const { report, t4 } =
    elsewhere === null
      ? await tuneHere(setup, request, { signal, idleSeconds, waitForGpu: options.wait })
      : await tuneThere(setup, elsewhere, { ...options, parts: tasks }, given, signal)
  if (options.t4 !== undefined) {
    await saveReport(resolve(options.t4), t4)
    note(`Wrote ${options.t4}`)
  }
  // Don't store the report of one part, because it contains only some of the sweep's points.
  if (!request.part && options.keep)
    await keepReport(setup, report, { machine: elsewhere, folder: own?.folder ?? null }).then(
      (kept) => note(`Saved as ${kept}: \`kernel-ladder serve\` shows it under Run, Tunings.`),
      (error: unknown) => note(`warning: ${inEnglish(toErrorShape(error).message)}`),
    )
  if (options.json) printJson(tuneDocument, report)
  else printText(describe(report))
  if (folder && report.winner) {
    const variant = await applyWinner(folder, await plannedRung(setup, request), report)
    note(`Added ${variant} to ${folder.files[0]} in ${folder.folder}.`)
  }
  if (report.completion === 'cancelled') return exitCodes.failed
  // A part has no final measurements and can be empty, so having no winner is not a failure.
  return report.winner || request.part ? 0 : exitCodes.failed
}

interface Ranking {
  report: TuneReport
  /** All results in the T4 exchange format. */
  t4: string
}

async function tuneHere(
  setup: Setup,
  request: TuneRequest,
  options: Pick<TuneOptions, 'signal' | 'idleSeconds' | 'waitForGpu'>,
): Promise<Ranking> {
  const { report, rows } = await tune(setup, request, {
    ...options,
    onNote: note,
    onPoint(row, { done, total, bestMs, known }) {
      if (known) return
      const of = total === null ? '' : `/${total}`
      const best = bestMs === null ? '' : `, best ${formatMs(bestMs)}`
      note(
        `  ${done}${of} ${shortParams(row.params, varied(request, row))}  ${outcome(row)}${best}`,
      )
    },
  })
  return { report, t4: `${JSON.stringify(toT4(rows), null, 1)}\n` }
}

/** Runs the same command on a remote machine, which stores the journal. */
async function tuneThere(
  setup: Setup,
  machine: string,
  options: TuneCommandOptions & { parts: number | null },
  given: readonly string[],
  signal: AbortSignal,
): Promise<Ranking> {
  if (options.parts !== null) {
    const inParts = (words: readonly string[]): string[] =>
      withOption(alone(words), '--part', `{task}/${options.parts}`)
    await ladderTasksThere(setup, machine, given, options, signal, {
      tasks: options.parts,
      change: inParts,
    })
  }
  const t4 = options.t4 === undefined ? null : 't4.json'
  const { code, stdout, file } = await ladderCommandThere(setup, machine, given, options, signal, {
    ...(t4 === null ? {} : { file: t4 }),
    documented: true,
    change(words, job) {
      // The final sweep must reuse the results that the array tasks have just measured.
      const kept = options.parts === null ? words : withOption(words, '--fresh', null, false)
      return t4 === null ? alone(kept) : withOption(alone(kept), '--t4', `${job}/${t4}`)
    },
  })
  const document: unknown = stdout === '' ? null : JSON.parse(stdout)
  const failed = tuneError.safeParse(document)
  if (failed.success) {
    const { kind, message, remedy } = failed.data.error
    throw new KernelLadderError(kind, message, remedy)
  }
  const report = z.object(tuneShape).safeParse(document)
  if (report.success && (t4 === null || file !== null))
    return { report: report.data, t4: `${file ?? ''}\n` }
  throw new KernelLadderError(
    'failed',
    `The sweep on ${machine} ended with ${code} and without a ranking.`,
    'The same command continues after the finished points.',
  )
}

/** Returns the arguments with --json and without the options that the local machine handles. */
const alone = (words: readonly string[]): string[] =>
  [
    ['--apply', null, false] as const,
    ['--t4', null, true] as const,
    ['--tasks', null, true] as const,
    ['--json', true, false] as const,
    ['--no-keep', true, false] as const,
  ].reduce<string[]>(
    (own, [name, value, hasValue]) => withOption(own, name, value, hasValue),
    [...words],
  )

/** JSON output from a failed command. */
const tuneError = z.object({ error: ErrorShape })

const varied = ({ axes }: TuneRequest, { params }: TuneRow): string[] =>
  axes.length > 0 ? axes.map(({ name }) => name) : Object.keys(params)

const shortParams = (params: Point, names: readonly string[]): string =>
  names.map((name) => `${name}=${params[name]}`).join(' ')

const outcome = ({ status, medianMs, reason }: TuneRow): string =>
  medianMs === null ? `${status}. ${inEnglish(reason ?? '')}` : formatMs(medianMs)

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`

const shownRows = 20

function describe(report: TuneReport): string {
  const { rows, finalists, baseline, space, byParameter, gpus, winner } = report
  const names = space.axes.map(({ name }) => name)
  const timed = rows.filter(({ medianMs }) => medianMs !== null)
  const failed = rows.length - timed.length
  const columns = names.map((name) => ({
    header: name,
    cell: ({ params }: { params: Point }) => String(params[name]),
  }))
  const busy = gpus
    .map(({ number, busySeconds }) => `GPU ${number} ${percent(busySeconds / report.sweepSeconds)}`)
    .join(', ')
  return [
    `${report.ladder} ${report.rung} at ${problemWord(report.problem)} on ${gpus.length === 1 ? '' : `${gpus.length} × `}${gpus[0]?.name ?? 'no GPU'}, L2 ${inEnglish(message(`cacheState.${report.cacheState}`))}`,
    `${rows.length} points in ${report.sweepSeconds.toFixed(1)} s${report.resumed > 0 ? `, ${report.resumed} of them reused` : ''}; ${failed} without a time. Measuring: ${busy}.`,
    ...report.notes.map((text) => `warning: ${inEnglish(text)}`),
    ...(finalists.length > 0
      ? [
          '',
          'The best, timed again alternately:',
          table(
            [...finalists, ...(baseline ? [{ ...baseline, reason: 'the rung’s own values' }] : [])],
            [
              ...columns,
              {
                header: 'time',
                cell: ({ medianMs }) => (medianMs === null ? '–' : formatMs(medianMs)),
              },
              {
                header: 'to its own',
                cell: ({ ratio }) =>
                  ratio
                    ? `${(1 / ratio.ratio).toFixed(3)}× (${(1 / ratio.high).toFixed(3)} to ${(1 / ratio.low).toFixed(3)})`
                    : '',
              },
              {
                header: '',
                align: 'left' as const,
                cell: ({ reason }) => (reason === null ? '' : inEnglish(reason)),
              },
            ],
          ),
        ]
      : []),
    '',
    'The sweep, each configuration timed once:',
    table(rows.slice(0, shownRows), [
      ...columns,
      { header: 'time', cell: ({ medianMs }) => (medianMs === null ? '–' : formatMs(medianMs)) },
      { header: 'spread', cell: ({ spread }) => (spread === null ? '' : percent(spread)) },
      { header: 'GPU', cell: ({ gpu }) => (gpu === null ? '' : String(gpu)) },
      {
        header: '',
        align: 'left',
        cell: (row) => (row.medianMs === null ? outcome(row) : ''),
      },
    ]),
    ...(rows.length > shownRows ? [`… ${rows.length - shownRows} more; --json has all.`] : []),
    '',
    'The best time with each value:',
    ...names.map(
      (name) =>
        `  ${name}: ${byParameter[name]!.map(({ value, bestMs }) => `${value} ${bestMs === null ? '–' : formatMs(bestMs)}`).join(', ')}`,
    ),
    ...(winner
      ? [
          '',
          `Best: ${names.map((name) => `--param ${report.rung}.${name}=${winner[name]}`).join(' ')}`,
        ]
      : []),
  ].join('\n')
}
