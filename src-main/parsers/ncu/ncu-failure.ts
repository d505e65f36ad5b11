/**
 * Explains why ncu did not profile everything. The explanation is based on ncu's exit code and its
 * `==ERROR==` and `==WARNING==` lines.
 *
 * The exit code alone is unreliable. The exit code is 0 if no kernel was profiled and, in ncu
 * 2025.3, if a metric is unknown.
 */
import { message, type Statement } from '../../domain/messages/message'

export interface NcuMessage {
  level: 'error' | 'warning' | 'info'
  text: string
}

const levels = { ERROR: 'error', WARNING: 'warning', PROF: 'info' } as const

/** Returns the lines that come from ncu itself, such as `==ERROR==` lines. */
export function ncuMessages(text: string): NcuMessage[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const [, level, message] = /^==(ERROR|WARNING|PROF)== ?(.*)$/.exec(line) ?? []
    return level && message ? [{ level: levels[level as keyof typeof levels], text: message }] : []
  })
}

export type NcuFailureKind =
  | 'counter-permission'
  | 'counters-busy'
  | 'lock-file'
  | 'driver-incompatible'
  | 'driver-library'
  | 'unknown-metric'
  | 'not-executable'
  | 'application-failed'
  | 'no-kernels'
  | 'other'

export interface NcuFailure {
  kind: NcuFailureKind
  message: Statement
  remedy: Statement
}

interface Pattern {
  kind: NcuFailureKind
  pattern: RegExp
  statement: (match: RegExpExecArray) => Statement
  remedy: Statement
}

/** Failure causes, highest precedence first. */
const causes: readonly Pattern[] = [
  {
    kind: 'counter-permission',
    pattern: /ERR_NVGPUCTRPERM/,
    statement: () => message('tools.ncuPermission'),
    remedy: message('tools.allowCounters'),
  },
  {
    kind: 'counters-busy',
    pattern: /driver resource was unavailable/i,
    statement: () => message('tools.ncuBusy'),
    remedy: message('tools.pauseDcgm'),
  },
  {
    kind: 'lock-file',
    pattern: /nsight-compute-lock/,
    statement: () => message('tools.ncuLock'),
    remedy: message('tools.ownTmp'),
  },
  {
    kind: 'driver-incompatible',
    pattern: /Cuda driver is not compatible with Nsight Compute/i,
    statement: () => message('tools.ncuOldDriver'),
    remedy: message('tools.updateDriver'),
  },
  {
    kind: 'driver-library',
    pattern: /LibraryNotLoaded|failed to connect to the CUDA driver/i,
    statement: () => message('tools.ncuLibrary'),
    remedy: message('tools.sameLibraries'),
  },
  {
    kind: 'unknown-metric',
    pattern: /Failed to find metric (?:regex:\^)?([\w.]+)?/,
    statement: ([, name]) =>
      name ? message('tools.ncuUnknown', { metricName: name }) : message('tools.ncuUnknownOne'),
    remedy: message('tools.lowerLevel'),
  },
  {
    kind: 'not-executable',
    pattern: /'([^']*)' does not exist or is not an executable/,
    statement: ([, file]) => message('tools.ncuNotExecutable', { file: file ?? '' }),
    remedy: message('tools.buildAgain'),
  },
]

/**
 * Returns the ncu names of the metrics that ncu rejected as unknown. Older versions of ncu print
 * only a counter's base name (`sm__nope`).
 */
export const unknownMetrics = (text: string): string[] => [
  ...new Set(
    ncuMessages(text).flatMap(({ level, text: line }) => {
      const [, name] = /^Failed to find metric (?:regex:\^)?(\w+(?:\.\w+)*)/.exec(line) ?? []
      return level === 'error' && name ? [name] : []
    }),
  ),
]

/** Messages that ncu prints after any failure and that do not explain the failure. */
const consequences: readonly Pattern[] = [
  {
    kind: 'application-failed',
    pattern: /The application returned an error code(?: \((-?\d+)\))?/,
    statement: ([, code]) =>
      code === undefined
        ? message('tools.programFailed')
        : message('tools.programFailedWith', { exitCode: code }),
    remedy: message('tools.runWithout'),
  },
  {
    kind: 'no-kernels',
    pattern: /No kernels were profiled/,
    statement: () => message('tools.noKernels'),
    remedy: message('tools.seeLaunch'),
  },
]

const uninformative =
  /^An error (was reported by|occurred while)|^Failed to profile|^The application returned/

/**
 * Returns the reason that ncu did not profile everything, or null if ncu succeeded. `text` is
 * stdout and stderr combined. If a signal terminated ncu, `exitCode` is null.
 */
export function recognizeNcuFailure(text: string, exitCode: number | null): NcuFailure | null {
  const problems = ncuMessages(text).filter(({ level }) => level !== 'info')
  const first = (patterns: readonly Pattern[]): NcuFailure | null => {
    for (const { kind, pattern, statement: words, remedy } of patterns)
      for (const { text: line } of problems) {
        const match = pattern.exec(line)
        if (match) return { kind, message: words(match), remedy }
      }
    return null
  }
  const cause = first(causes)
  if (cause) return cause

  const errors = problems.filter(({ level }) => level === 'error').map(({ text: line }) => line)
  const unexplained = errors.find((line) => !uninformative.test(line))
  if (unexplained) return other(message('tools.ncuFailed', { text: unexplained }))
  const consequence = first(consequences)
  if (consequence) return consequence
  if (errors[0]) return other(message('tools.ncuFailed', { text: errors[0] }))
  if (exitCode === 0) return null
  return other(
    exitCode === null ? message('tools.ncuKilled') : message('tools.ncuEnded', { exitCode }),
  )
}

const other = (statement: Statement): NcuFailure => ({
  kind: 'other',
  message: statement,
  remedy: message('tools.readRaw'),
})
