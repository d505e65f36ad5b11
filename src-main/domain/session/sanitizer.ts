/** compute-sanitizer's findings for a rung, each with its source location, identical ones merged. */
import { z } from 'zod'
import { Statement } from '../messages/message'
import { Problem } from '../task/problem'
import { Identifier } from '../ladder/rung'

/** compute-sanitizer's tools, in the order they are run. */
export const sanitizerTools = ['memcheck', 'racecheck', 'initcheck', 'synccheck'] as const
export const SanitizerTool = z.enum(sanitizerTools)
export type SanitizerTool = z.infer<typeof SanitizerTool>

/** Time limit per rung in seconds. racecheck slows kernels down a hundredfold or more; a rung at the default size takes seconds. */
export const defaultSecondsARung = 120

const triple = z.tuple([z.number().int(), z.number().int(), z.number().int()])

/** A source location; parts that the tool did not report are null (host code, code without line information). */
export const SourcePlace = z.object({
  file: z.string().nullable(),
  line: z.number().int().nullable(),
  function: z.string().nullable(),
})
export type SourcePlace = z.infer<typeof SourcePlace>

/** One record of the tool's report. */
export const SanitizerRecord = z.object({
  /** The tool's own word: `Precise`, `Api`, `Analysis`, `Initcheck`, … */
  kind: z.string(),
  severity: z.enum(['error', 'warning', 'info']),
  message: z.string(),
  place: SourcePlace,
  /** The second access of a race, and the kinds of both: `Write`, `Read`. */
  conflict: z.object({ place: SourcePlace, first: z.string(), second: z.string() }).nullable(),
  /** The number of hazards for a race, otherwise 1. */
  count: z.number().int().min(1),
  thread: triple.nullable(),
  block: triple.nullable(),
  /** As written by the tool, `0x7f81a5400100`. */
  address: z.string().nullable(),
})
export type SanitizerRecord = z.infer<typeof SanitizerRecord>

/** Source lines around a finding; `from` is the number of the first. */
export const SourceExcerpt = z.object({ from: z.number().int(), lines: z.array(z.string()) })
export type SourceExcerpt = z.infer<typeof SourceExcerpt>

/** Records with the same message at the same line, counted; thread, block and address are those of the first. */
export const SanitizerFinding = SanitizerRecord.extend({
  excerpt: SourceExcerpt.nullable(),
})
export type SanitizerFinding = z.infer<typeof SanitizerFinding>

export const SanitizerCheck = z.object({
  tool: SanitizerTool,
  /** `failed`: the tool reached no verdict, which is not the same as finding nothing. */
  status: z.enum(['clean', 'found', 'failed', 'unsupported', 'not-run']),
  reason: Statement.optional(),
  /** The count in the tool's own summary: errors and warnings, or hazards; null if it printed none. */
  total: z.number().int().nullable(),
  /** How many of these its report omits. */
  notPrinted: z.number().int(),
  findings: z.array(SanitizerFinding),
})
export type SanitizerCheck = z.infer<typeof SanitizerCheck>

export const SanitizedRung = z.object({
  id: Identifier,
  title: z.string(),
  file: z.string(),
  checks: z.array(SanitizerCheck),
  /** printf output of its kernels, one sentence per call; only present for emulated kernels that print. */
  printed: z.array(Statement).min(1).optional(),
})
export type SanitizedRung = z.infer<typeof SanitizedRung>

export const sanitizeReportVersion = 2
export const SanitizeReport = z.object({
  schema: z.literal(sanitizeReportVersion),
  ladder: Identifier,
  problem: Problem,
  device: z.object({ name: z.string(), computeCapability: z.string() }),
  /** compute-sanitizer's version; null if it does not report one. */
  sanitizer: z.string().nullable(),
  /** true if the emulator did the checks instead of compute-sanitizer on a GPU; absent otherwise. */
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

/** Returns a place such as `gemm/05_tile.cu:31`, or as much of it as is known. */
export const placeLabel = ({ file, line, function: name }: SourcePlace): string =>
  file === null ? (name ?? '') : line === null ? file : `${file}:${line}`
