/**
 * Upgrades files of older versions to the current one: one upgrader per version, applied in sequence. The files
 * on disk are not changed. Pure.
 */
import {
  deepFrom1,
  frozenReportFrom1,
  labOutcomeFrom1,
  sanitizerVerdictsFrom1,
  sessionFrom1,
} from './from-1'
import { frozenReportFrom2, sessionFrom2 } from './from-2'
import { message, type AnyMessage } from '../../messages/message'

/** From the version it is keyed by to the next. */
type Upgrader = (value: unknown) => unknown

interface Format {
  /** The key of the version in the file; without it, the file is version 1 if `unnumbered`. */
  version: string
  /** What the version is called in messages. */
  word: string
  unnumbered?: true
  upgraders: Readonly<Record<number, Upgrader>>
}

/** The version that this program writes is one above the last upgrader. */
export const formats = {
  session: { version: 'schema', word: 'schema', upgraders: { 1: sessionFrom1, 2: sessionFrom2 } },
  report: {
    version: 'report',
    word: 'version',
    upgraders: { 1: frozenReportFrom1, 2: frozenReportFrom2 },
  },
  deep: { version: 'schema', word: 'schema', upgraders: { 1: deepFrom1 } },
  labOutcome: { version: 'schema', word: 'schema', upgraders: { 1: labOutcomeFrom1 } },
  sanitizerVerdicts: {
    version: 'schema',
    word: 'schema',
    unnumbered: true,
    upgraders: { 1: sanitizerVerdictsFrom1 },
  },
} as const satisfies Record<string, Format>

/** A value of the current version, not yet validated, or why the program cannot read it. */
export function upgraded(
  { version: field, word, unnumbered, upgraders }: Format,
  value: unknown,
): { value: unknown } | { refused: AnyMessage } {
  const said: unknown =
    typeof value === 'object' && value !== null
      ? (value as Record<string, unknown>)[field]
      : undefined
  const version = typeof said === 'number' ? said : unnumbered ? 1 : undefined
  if (version === undefined) return { refused: message('files.noVersion', { field }) }
  const newest = Math.max(...Object.keys(upgraders).map(Number)) + 1
  if (version > newest) return { refused: message('files.newer', { word, version, newest }) }
  if (version !== newest && !Object.hasOwn(upgraders, version))
    return { refused: message('files.neverWritten', { word, version }) }
  let current = value
  for (let at = version; at < newest; at += 1) current = upgraders[at]!(current)
  return { value: current }
}
