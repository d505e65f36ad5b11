/** Calls for reports on one session, or on two side by side, to be saved as a file. */
import { z } from 'zod'
import { Identifier } from '../domain/ladder/rung'
import { ReportSection } from '../domain/report/frozen-report'
import { reportFormats } from '../domain/report/report-format'
import { SessionRef } from '../domain/session/session-ref'

export const ReportRequest = z.object({
  ref: SessionRef,
  /** A second session to show side by side with the first. */
  compare: SessionRef.optional(),
  format: z.enum(reportFormats),
  /** CSV with one row per rung instead of one row per figure. */
  wide: z.boolean().optional(),
  /** All by default; the summary and the provenance are in every report. */
  sections: z.array(ReportSection).optional(),
  /** All by default. */
  rungs: z.array(Identifier).min(1).optional(),
  /** Markdown: with its pictures, all in one zip. */
  pictures: z.boolean().optional(),
  /** Replaces the default title, which then becomes a subtitle. */
  title: z.string().trim().min(1).max(300).optional(),
  /** The author's paragraphs below the title. */
  notes: z.array(z.string().trim().min(1).max(5000)).max(50).optional(),
  /**
   * Charts of the Charts screen such as `roofline:l2`, `throughput`, and counters as bars; a few of each by default.
   */
  charts: z.array(z.string().min(1).max(200)).min(1).max(100).optional(),
  /** Captions by chart word. */
  captions: z.record(z.string(), z.string().trim().min(1).max(2000)).optional(),
  /** A date to print, such as 2026-11-21. */
  date: z.iso.date().optional(),
})

export type ReportRequest = z.infer<typeof ReportRequest>

/** The stage of a report in progress: its content, the draft that determines its pages, or the print. */
const reportStages = ['content', 'layout', 'print'] as const

export const ReportStage = z.enum(reportStages)

export type ReportStage = z.infer<typeof ReportStage>

/** Null if no report is in progress. */
export const ReportProgress = z.object({ stage: ReportStage.nullable() })

export const ReportAnswer = z.object({
  /** The suggested file name. */
  name: z.string(),
  mediaType: z.string(),
  /** The encoding of `content`: the text itself, or bytes. */
  encoding: z.enum(['text', 'base64']),
  content: z.string(),
})

export type ReportAnswer = z.infer<typeof ReportAnswer>
