/**
 * compute-sanitizer's findings for a rung, with source locations. Identical findings are merged.
 */
import { z } from 'zod'
import { Statement } from '../messages/message'
import { Problem } from '../task/problem'
import { Identifier } from '../ladder/rung'

/** compute-sanitizer's tools, in the order in which they run. */
export const sanitizerTools = ['memcheck', 'racecheck', 'initcheck', 'synccheck'] as const
export const SanitizerTool = z.enum(sanitizerTools)
export type SanitizerTool = z.infer<typeof SanitizerTool>

/**
 * Time limit per rung in seconds. racecheck slows kernels down a hundredfold or more. Checking a
 * rung at the default size takes a few seconds.
 */
export const defaultSecondsARung = 120

const triple = z.tuple([z.number().int(), z.number().int(), z.number().int()])

/**
 * A source location. Parts that the tool did not report are null, as for host code or if line
 * information is missing.
 */
export const SourcePlace = z.object({
  file: z.string().nullable(),
  line: z.number().int().nullable(),
  function: z.string().nullable(),
})
export type SourcePlace = z.infer<typeof SourcePlace>

/** One record in a compute-sanitizer report. */
export const SanitizerRecord = z.object({
  /**
   * Kind of finding as compute-sanitizer reports it: `Precise`, `Api`, `Analysis`, `Initcheck`, …
   */
  kind: z.string(),
  severity: z.enum(['error', 'warning', 'info']),
  message: z.string(),
  place: SourcePlace,
  /** For a race, the second access and the kinds of both accesses (`Write`, `Read`). */
  conflict: z.object({ place: SourcePlace, first: z.string(), second: z.string() }).nullable(),
  /** Number of hazards for a race, otherwise 1. */
  count: z.number().int().min(1),
  thread: triple.nullable(),
  block: triple.nullable(),
  /** Address as printed by the tool, such as `0x7f81a5400100`. */
  address: z.string().nullable(),
})
export type SanitizerRecord = z.infer<typeof SanitizerRecord>

/** Source lines around a finding. `from` is the first line number. */
export const SourceExcerpt = z.object({ from: z.number().int(), lines: z.array(z.string()) })
export type SourceExcerpt = z.infer<typeof SourceExcerpt>

/**
 * Merged records with the same message on the same line. Thread, block and address are from the
 * first record.
 */
export const SanitizerFinding = SanitizerRecord.extend({
  excerpt: SourceExcerpt.nullable(),
})
export type SanitizerFinding = z.infer<typeof SanitizerFinding>

export const SanitizerCheck = z.object({
  tool: SanitizerTool,
  /** `failed`: the tool ended without a verdict. `clean`: the tool finished without findings. */
  status: z.enum(['clean', 'found', 'failed', 'unsupported', 'not-run']),
  reason: Statement.optional(),
  /**
   * Number of errors and warnings, or hazards, from the tool's summary. Null if the tool printed no
   * count.
   */
  total: z.number().int().nullable(),
  /** Number of records that the tool's report omits. */
  notPrinted: z.number().int(),
  findings: z.array(SanitizerFinding),
})
export type SanitizerCheck = z.infer<typeof SanitizerCheck>

export const SanitizedRung = z.object({
  id: Identifier,
  title: z.string(),
  file: z.string(),
  checks: z.array(SanitizerCheck),
  /**
   * The kernels' printf output, one string per call. Present only for emulated kernels that use
   * printf.
   */
  printed: z.array(Statement).min(1).optional(),
})
export type SanitizedRung = z.infer<typeof SanitizedRung>

export const sanitizeReportVersion = 2
export const SanitizeReport = z.object({
  schema: z.literal(sanitizeReportVersion),
  ladder: Identifier,
  problem: Problem,
  device: z.object({ name: z.string(), computeCapability: z.string() }),
  /** compute-sanitizer version; null if the tool does not report its version. */
  sanitizer: z.string().nullable(),
  /**
   * True if the emulator ran the checks instead of compute-sanitizer on a GPU. Otherwise absent.
   */
  emulated: z.literal(true).optional(),
  completion: z.enum(['complete', 'cancelled']),
  rungs: z.array(SanitizedRung),
})
export type SanitizeReport = z.infer<typeof SanitizeReport>

const placeKey = ({ file, line }: SourcePlace): string => `${file ?? ''}:${line ?? ''}`

/** Merges identical records, in order of first occurrence. */
export function groupRecords(records: readonly SanitizerRecord[]): SanitizerRecord[] {
  const groups = new Map<string, SanitizerRecord>()
  for (const record of records) {
    const { kind, severity, message, place, conflict } = record
    const key = JSON.stringify([
      kind,
      severity,
      message,
      placeKey(place),
      conflict && placeKey(conflict.place),
    ])
    const known = groups.get(key)
    if (known) known.count += record.count
    else groups.set(key, { ...record })
  }
  return [...groups.values()]
}

/** Formats a source location such as `gemm/05_tile.cu:31`, omitting unknown parts. */
export const placeLabel = ({ file, line, function: name }: SourcePlace): string =>
  file === null ? (name ?? '') : line === null ? file : `${file}:${line}`
