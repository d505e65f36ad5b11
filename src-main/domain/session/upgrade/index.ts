/**
 * Upgrades files from older versions to the current version, one version at a time. The files on
 * disk do not change. Pure.
 */
import { message, type AnyMessage } from '../../messages/message'
import { frozenReportFrom2, sessionFrom2 } from './from-2'
import { isRecord } from './json'

/** A function that upgrades a file from one version to the next. */
type Upgrader = (value: unknown) => unknown

interface Format {
  /** Name of the version field in the file. */
  version: string
  /** Name of the version field in messages. */
  word: string
  /** The version that this program writes. */
  newest: number
  /**
   * Upgraders, keyed by old version. Versions without an upgrader were never released and are
   * rejected.
   */
  upgraders: Readonly<Record<number, Upgrader>>
}

export const formats = {
  session: { version: 'schema', word: 'schema', newest: 3, upgraders: { 2: sessionFrom2 } },
  report: { version: 'report', word: 'version', newest: 3, upgraders: { 2: frozenReportFrom2 } },
  deep: { version: 'schema', word: 'schema', newest: 2, upgraders: {} },
  labOutcome: { version: 'schema', word: 'schema', newest: 2, upgraders: {} },
  sanitizerVerdicts: { version: 'schema', word: 'schema', newest: 2, upgraders: {} },
} as const satisfies Record<string, Format>

/**
 * Returns the upgraded value, which is not yet validated, or the reason why the program cannot read
 * it.
 */
export function upgraded(
  { version: field, word, newest, upgraders }: Format,
  value: unknown,
): { value: unknown } | { refused: AnyMessage } {
  const version = isRecord(value) ? value[field] : undefined
  if (typeof version !== 'number') return { refused: message('files.noVersion', { field }) }
  if (version > newest) return { refused: message('files.newer', { word, version, newest }) }
  if (version !== newest && !Object.hasOwn(upgraders, version)) {
    const isOlder = Number.isInteger(version) && version > 0
    return { refused: message(isOlder ? 'files.tooOld' : 'files.neverWritten', { word, version }) }
  }
  let current = value
  for (let at = version; at < newest; at += 1) current = upgraders[at]!(current)
  return { value: current }
}
