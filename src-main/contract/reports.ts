/** Calls that create a report on one session, or that compare two sessions side by side. */
import { z } from 'zod'
import { Identifier } from '../domain/ladder/rung'
import { ReportSection } from '../domain/report/frozen-report'
import { reportFormats } from '../domain/report/report-format'
import { SessionRef } from '../domain/session/session-ref'

export const ReportRequest = z.object({
  ref: SessionRef,
  /** A second session to compare with the report's session. */
  compare: SessionRef.optional(),
  format: z.enum(reportFormats),
  /** Writes CSV with one row per rung instead of one row per value. */
  wide: z.boolean().optional(),
  /** Sections to include; all by default. Every report contains the summary and the provenance. */
  sections: z.array(ReportSection).optional(),
  /** Rungs to include; all by default. */
  rungs: z.array(Identifier).min(1).optional(),
  /** Writes Markdown and its pictures into one zip file. */
  pictures: z.boolean().optional(),
  /** Replaces the default title. The default title becomes a subtitle. */
  title: z.string().trim().min(1).max(300).optional(),
  /** The author's paragraphs below the title. */
  notes: z.array(z.string().trim().min(1).max(5000)).max(50).optional(),
  /**
   * Charts to include, such as `roofline:l2`, `throughput`, or a counter's bar chart. By default,
   * the report has a few charts of each kind.
   */
  charts: z.array(z.string().min(1).max(200)).min(1).max(100).optional(),
  /** Captions by chart id. */
  captions: z.record(z.string(), z.string().trim().min(1).max(2000)).optional(),
  /** Date to print, such as 2026-11-21. */
  date: z.iso.date().optional(),
})

export type ReportRequest = z.infer<typeof ReportRequest>

/**
 * Stages of creating a report: collecting its content, determining its page numbers with a draft
 * layout, and printing.
 */
const reportStages = ['content', 'layout', 'print'] as const

export const ReportStage = z.enum(reportStages)

export type ReportStage = z.infer<typeof ReportStage>

/** Progress of the current report. The stage is null if no report is being created. */
export const ReportProgress = z.object({ stage: ReportStage.nullable() })

export const ReportAnswer = z.object({
  /** The suggested file name. */
  name: z.string(),
  mediaType: z.string(),
  /** Encoding of `content`: plain text, or base64 for bytes. */
  encoding: z.enum(['text', 'base64']),
  content: z.string(),
})

export type ReportAnswer = z.infer<typeof ReportAnswer>
