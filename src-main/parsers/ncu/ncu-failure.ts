/**
 * What ncu says beside its table, and why it did not profile: from its `==ERROR==` and `==WARNING==`
 * lines and its exit code, in words a reader can act on. The exit code says little: it is 0 when no
 * kernel was profiled, and (ncu 2025.3) when a metric is unknown.
 */
import { english } from '../../domain/messages/message'

export interface NcuMessage {
  level: 'error' | 'warning' | 'info'
  text: string
}

const levels = { ERROR: 'error', WARNING: 'warning', PROF: 'info' } as const

/** ncu's own lines in a text, `==ERROR==` and its like. */
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
  message: string
  remedy: string
}

interface Pattern {
  kind: NcuFailureKind
  pattern: RegExp
  message: (match: RegExpExecArray) => string
  remedy: string
}

/** Causes, in the order in which one hides another. */
const causes: readonly Pattern[] = [
  {
    kind: 'counter-permission',
    pattern: /ERR_NVGPUCTRPERM/,
    message: () => english('tools.ncuPermission'),
    remedy: english('tools.allowCounters'),
  },
  {
    kind: 'counters-busy',
    pattern: /driver resource was unavailable/i,
    message: () => english('tools.ncuBusy'),
    remedy: english('tools.pauseDcgm'),
  },
  {
    kind: 'lock-file',
    pattern: /nsight-compute-lock/,
    message: () => english('tools.ncuLock'),
    remedy: english('tools.ownTmp'),
  },
  {
    kind: 'driver-incompatible',
    pattern: /Cuda driver is not compatible with Nsight Compute/i,
    message: () => english('tools.ncuOldDriver'),
    remedy: english('tools.updateDriver'),
  },
  {
    kind: 'driver-library',
    pattern: /LibraryNotLoaded|failed to connect to the CUDA driver/i,
    message: () => english('tools.ncuLibrary'),
    remedy: english('tools.sameLibraries'),
  },
  {
    kind: 'unknown-metric',
    pattern: /Failed to find metric (?:regex:\^)?([\w.]+)?/,
    message: ([, name]) =>
      name ? english('tools.ncuUnknown', { metricName: name }) : english('tools.ncuUnknownOne'),
    remedy: english('tools.lowerLevel'),
  },
  {
    kind: 'not-executable',
    pattern: /'(.*?)' does not exist or is not an executable/,
    message: ([, file]) => english('tools.ncuNotExecutable', { file: file ?? '' }),
    remedy: english('tools.buildAgain'),
  },
]

/**
 * The metrics that ncu refuses to profile because it does not know them, as it names them: a counter's base
 * name (`sm__nope`, from the pattern that older versions print) or a whole name.
 */
export const unknownMetrics = (text: string): string[] => [
  ...new Set(
    ncuMessages(text).flatMap(({ level, text: line }) => {
      const [, name] = /^Failed to find metric (?:regex:\^)?(\w+(?:\.\w+)*)/.exec(line) ?? []
      return level === 'error' && name ? [name] : []
    }),
  ),
]

/** What ncu says whatever the cause was; these explain nothing by themselves. */
const consequences: readonly Pattern[] = [
  {
    kind: 'application-failed',
    pattern: /The application returned an error code(?: \((-?\d+)\))?/,
    message: ([, code]) =>
      code === undefined
        ? english('tools.programFailed')
        : english('tools.programFailedWith', { exitCode: code }),
    remedy: english('tools.runWithout'),
  },
  {
    kind: 'no-kernels',
    pattern: /No kernels were profiled/,
    message: () => english('tools.noKernels'),
    remedy: english('tools.seeLaunch'),
  },
]

const uninformative =
  /^An error (was reported by|occurred while)|^Failed to profile|^The application returned/

/**
 * Why ncu's run gave no (or not every) profile; null when nothing is wrong. `text` is stdout and
 * stderr together; `exitCode` null when a signal ended ncu.
 */
export function recognizeNcuFailure(text: string, exitCode: number | null): NcuFailure | null {
  const said = ncuMessages(text).filter(({ level }) => level !== 'info')
  const first = (patterns: readonly Pattern[]): NcuFailure | null => {
    for (const { kind, pattern, message, remedy } of patterns)
      for (const { text: line } of said) {
        const match = pattern.exec(line)
        if (match) return { kind, message: message(match), remedy }
      }
    return null
  }
  const cause = first(causes)
  if (cause) return cause

  const errors = said.filter(({ level }) => level === 'error').map(({ text: line }) => line)
  const unexplained = errors.find((line) => !uninformative.test(line))
  if (unexplained) return other(`ncu failed: ${unexplained}`)
  const consequence = first(consequences)
  if (consequence) return consequence
  if (errors[0]) return other(`ncu failed: ${errors[0]}`)
  if (exitCode === 0) return null
  return other(
    exitCode === null ? 'ncu was ended by a signal.' : `ncu ended with exit code ${exitCode}.`,
  )
}

const other = (message: string): NcuFailure => ({
  kind: 'other',
  message,
  remedy: "Read ncu's output in the session's raw folder.",
})
