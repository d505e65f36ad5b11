/**
 * Runs ncu on a user's program. A preview times every launch in one pass. A profile collects the
 * counters of chosen launches in a report.
 *
 * ncu writes its own output to a file, so the program's stdout and stderr stay unchanged.
 */
import { message } from '../../domain/messages/message'
import { inputError, KernelLadderError } from '../../domain/errors'
import type { NcuLaunch } from '../../parsers/ncu/ncu-csv'
import { readNcuCsv } from '../../parsers/ncu/ncu-csv-stream'
import { recognizeNcuFailure, unknownMetrics, type NcuFailure } from '../../parsers/ncu/ncu-failure'
import {
  requestedMetrics,
  cacheControl,
  clockControl,
  type CollectingLevel,
  deepOptions,
} from './ncu'
import type { ProcessResult, PassOn } from './process'
import type { Scratch, Toolbox } from './toolbox'

export interface LaunchFilters {
  /**
   * Regular expression for function names. As in ncu, the expression can match any part of a name.
   */
  kernels: string | null
  /** A push/pop range in NVTX's default domain. */
  nvtx: string | null
  /** The number of matching launches to skip. */
  skip: number
  count: number | null
}

export interface ProgramCall {
  ncu: string
  /**
   * Key under which the raw output is stored. A session with several programs needs a key for each
   * program.
   */
  key?: string
  /** The program's working directory. The default is this process's working directory. */
  cwd?: string
  /** The program and its arguments, passed unchanged. */
  command: readonly [string, ...string[]]
  filters: LaunchFilters
  /** Milliseconds after which the program is stopped. */
  timeoutMs: number
  /**
   * Milliseconds that a launch may continue after ncu warns that the launch does not finish. The
   * default is 20 s.
   */
  stuckAfterMs?: number
  signal: AbortSignal
  /** Receives the program's output. */
  onOutput: PassOn
}

interface ProgramAnswer {
  outcome: ProcessResult['outcome']
  /** The program's exit code. Null if the program was stopped or killed by a signal. */
  exitCode: number | null
  /**
   * Reason why ncu did not profile. A program that fails or launches nothing does not count as an
   * ncu failure.
   */
  failure: NcuFailure | null
  /** Kernel that did not finish while ncu ran no other kernel, so the program was stopped. */
  stuckKernel: string | null
}

export interface Preview extends ProgramAnswer {
  launches: NcuLaunch[]
  /**
   * Whether `launches` includes all matching launches of the program.
   */
  whole: boolean
  /** Functions that the program launched, if none matched the filter. */
  available: string[]
}

/** Number of characters to store in the session from the start of the program's output. */
const keptOutput = 64 * 1024
/**
 * Maximum size of the log in bytes, which leaves room for one line per launch. The last lines of
 * the log show why the program exited.
 */
const mostLogBytes = 2 ** 24
const logName = 'ncu.log'
/**
 * Milliseconds for ncu to print its times after the program was stopped early. For 200 launches,
 * ncu needed less than a second.
 */
const patienceMs = 10_000

/**
 * Time limit in milliseconds for ncu to print a report. Printing thousands of launches takes a
 * second.
 */
const printTimeoutMs = 5 * 60_000

/** Returns an NVTX range in ncu's syntax. A trailing slash marks a push/pop range. */
const rangeWord = (nvtx: string): string => (/[/@]/.test(nvtx) ? nvtx : `${nvtx}/`)

const filterArgs = ({ kernels, nvtx, skip, count }: LaunchFilters): string[] => [
  ...(kernels === null ? [] : ['--kernel-name', `regex:${kernels}`]),
  ...(nvtx === null ? [] : ['--nvtx-include', rangeWord(nvtx)]),
  ...(skip > 0 ? ['--launch-skip', String(skip)] : []),
  ...(count === null ? [] : ['--launch-count', String(count)]),
]

const common = [
  ...['--target-processes', 'all'],
  '--nvtx',
  // Use full function names, as in a report, because short names in the table would omit
  // namespaces.
  ...['--rename-kernels', 'no'],
  ...['--clock-control', clockControl],
] as const

/** Returns the function names that ncu lists if a filter matched no function, as in `1. scale`. */
const availableIn = (log: string): string[] =>
  [...log.matchAll(/^\d+\. (\S.*)$/gm)].map(([, name]) => name!.trim())

/**
 * Milliseconds to wait after ncu warns that a launch takes long. Some kernels are slow, so the
 * warning does not prove that a kernel waits for another kernel.
 */
const patienceAfterWarningMs = 20_000

/**
 * Returns the kernel whose unfinished launch ncu warns about, or null if there is no such warning.
 */
function unendingKernel(log: string): string | null {
  const warning = log.lastIndexOf('Launching the workload is taking more time than expected')
  const launch = log.lastIndexOf('==PROF== Profiling "')
  return warning > launch ? (/"([^"]*)"/.exec(log.slice(launch))?.[1] ?? null) : null
}

/** Calls `onStuck` if a launch takes too long. Returns a function that stops watching. */
function watchForStuckLaunch(
  scratch: Scratch,
  stuckAfterMs: number,
  onStuck: () => void,
): () => void {
  let [since, seen] = [Date.now(), '']
  const timer = setInterval(() => {
    void scratch.readLog(logName, mostLogBytes).then(({ text }) => {
      if (text !== seen || unendingKernel(text) === null) [since, seen] = [Date.now(), text]
      else if (Date.now() - since >= stuckAfterMs) onStuck()
    })
  }, stuckAfterMs / 20)
  return () => clearInterval(timer)
}

async function runProgram(
  toolbox: Toolbox,
  key: string,
  {
    ncu,
    cwd,
    command,
    timeoutMs,
    stuckAfterMs = patienceAfterWarningMs,
    signal,
    onOutput,
  }: ProgramCall,
  args: readonly string[] | ((scratch: string) => readonly string[]),
  /** Called with the folder before it is removed, unless ncu failed. */
  read: (scratch: string) => Promise<void> = () => Promise.resolve(),
): Promise<{ answer: ProgramAnswer; log: string; output: string }> {
  const scratch = await toolbox.scratch()
  const stuck = new AbortController()
  const stopWatching = watchForStuckLaunch(scratch, stuckAfterMs, () => stuck.abort())
  try {
    const result = await toolbox.exec({
      tool: 'ncu',
      key,
      file: ncu,
      args: [
        ...['--log-file', `${scratch.path}/${logName}`, ...common],
        ...(typeof args === 'function' ? args(scratch.path) : args),
        ...command,
      ],
      ...(cwd === undefined ? {} : { cwd }),
      // Use a private temporary folder, because another user's lock file in the shared folder would
      // stop ncu.
      env: { TMPDIR: scratch.path },
      timeoutMs,
      signal: AbortSignal.any([signal, stuck.signal]),
      passOn: { to: onOutput, keep: keptOutput },
      lastWords: { name: 'ncu', ms: patienceMs },
    })
    const { text: log } = await scratch.readLog(logName, mostLogBytes)
    // The recorder already has the program's output, so ncu's output is stored separately.
    if (log !== '')
      await toolbox.recorder?.record(
        {
          ...{ key: `${key}-log`, tool: 'ncu', argv: [], outcome: result.outcome },
          ...{ exitCode: result.exitCode, signal: result.signal, seconds: result.seconds },
          startedAt: new Date().toISOString(),
        },
        log,
        '',
      )
    const output = `${log}\n${result.stdout}`
    const failure = recognizeNcuFailure(output, result.exitCode)
    const [program] = command
    if (failure?.kind === 'not-executable')
      throw inputError(
        message('programs.noSuchProgram', { program }),
        message('programs.checkPath'),
      )
    if (/target application is not an executable binary/.test(log))
      throw inputError(
        message('programs.notBinary', { program }),
        message('programs.nameInterpreter', { program }),
      )
    const ofProgram = failure?.kind === 'application-failed' || failure?.kind === 'no-kernels'
    if (failure === null || ofProgram) await read(scratch.path)
    const exitCode = /error code \((-?\d+)\)/.exec(log)?.[1]
    return {
      answer: {
        outcome: result.outcome,
        exitCode: exitCode === undefined ? result.exitCode : Number(exitCode),
        failure: result.outcome !== 'exited' || ofProgram ? null : failure,
        stuckKernel: signal.aborted || result.outcome === 'exited' ? null : unendingKernel(log),
      },
      ...{ log, output },
    }
  } finally {
    stopWatching()
    await scratch.remove()
  }
}

async function* once(text: string): AsyncGenerator<string> {
  yield await Promise.resolve(text)
}

/**
 * Times the first `most` matching launches without collecting other metrics. The table of times is
 * printed from a report, because ncu prints which launch is running only while it writes a report.
 */
export async function previewProgram(
  toolbox: Toolbox,
  call: ProgramCall,
  most: number,
): Promise<Preview> {
  const key = call.key ?? 'ncu/preview'
  const count = Math.min(call.filters.count ?? Infinity, most)
  const report = (scratch: string): string => `${scratch}/preview.ncu-rep`
  let table = ''
  const { answer, log } = await runProgram(
    toolbox,
    key,
    call,
    (scratch) => [
      ...['--metrics', 'gpu__time_duration.sum'],
      // Don't flush the caches. The metric needs only a single pass, so the caches have the state
      // in which the program left them.
      ...['--cache-control', 'none'],
      ...filterArgs({ ...call.filters, count }),
      ...['--export', report(scratch)],
    ],
    async (scratch) => {
      const printed = await toolbox.exec({
        ...{ tool: 'ncu', key: `${key}-table`, file: call.ncu },
        args: [
          ...['--import', report(scratch), '--rename-kernels', 'no'],
          ...['--csv', '--page', 'details', '--print-units', 'base'],
        ],
        env: { TMPDIR: scratch },
        timeoutMs: printTimeoutMs,
      })
      table = printed.stdout
    },
  )
  const launches: NcuLaunch[] = []
  const wanted = call.filters.count ?? Infinity
  await readNcuCsv(once(table), (launch) => launches.push(launch) < most)
  return {
    ...{ ...answer, launches },
    whole: launches.length < most || wanted <= most,
    available: launches.length > 0 ? [] : availableIn(log),
  }
}

interface ReportCall extends ProgramCall {
  level: CollectingLevel
  /** Names of the metrics that this ncu version does not recognize. */
  without?: ReadonlySet<string>
  reportPath: string
}

/** Profiles launches and writes a report. `unknown` lists the metrics that prevented profiling. */
export async function profileProgram(
  toolbox: Toolbox,
  call: ReportCall,
): Promise<ProgramAnswer & { unknown: string[] }> {
  const report = await toolbox.output(call.reportPath)
  const { answer, output } = await runProgram(toolbox, 'ncu/profile', call, [
    ...(call.level === 'deep' ? deepOptions : []),
    ...['--metrics', requestedMetrics(call).join(',')],
    ...['--cache-control', cacheControl],
    ...filterArgs(call.filters),
    ...['--export', report.path],
  ])
  await report.take()
  return { ...answer, unknown: unknownMetrics(output) }
}

/** Returns the error for a missing ncu or a missing permission to read counters. */
export const asError = ({ message, remedy }: NcuFailure): KernelLadderError =>
  new KernelLadderError('missing', message, remedy)
