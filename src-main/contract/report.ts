/** A report on a session, or on two side by side, to be kept as a file. */
import { z } from 'zod'
import { ReportSection } from '../domain/report/frozen-report'
import { reportFormats } from '../domain/report/report-format'
import { Identifier } from '../domain/ladder/rung'
import { SessionRef } from './session-ref'

export const ReportRequest = z.object({
  ref: SessionRef,
  /** A second session, set beside the first. */
  compare: SessionRef.optional(),
  format: z.enum(reportFormats),
  /** CSV with a line a rung in place of a line a figure. */
  wide: z.boolean().optional(),
  /** All where absent; the summary and the provenance are in every report. */
  sections: z.array(ReportSection).optional(),
  /** All where absent. */
  rungs: z.array(Identifier).min(1).optional(),
  /** Markdown: with the pictures that it shows, all in one zip. */
  pictures: z.boolean().optional(),
  /** A day to print in it, as 2026-11-21. */
  date: z.iso.date().optional(),
})
export type ReportRequest = z.infer<typeof ReportRequest>

/** What a report that is being made is at: its content, the draft that tells its pages, or the print. */
export const reportStages = ['content', 'layout', 'print'] as const
export const ReportStage = z.enum(reportStages)
export type ReportStage = z.infer<typeof ReportStage>

/** Null where no report is being made. */
export const ReportProgress = z.object({ stage: ReportStage.nullable() })

export const ReportAnswer = z.object({
  /** A name for the file. */
  name: z.string(),
  mediaType: z.string(),
  /** What `content` is: the text itself, or bytes. */
  encoding: z.enum(['text', 'base64']),
  content: z.string(),
})
export type ReportAnswer = z.infer<typeof ReportAnswer>
