/**
 * The content of an HTML report: sessions with all data that their screens need. The report service
 * writes this content, and the report's UI and the import read it. docs/reference/session-format.md
 * describes the format's history.
 */
import { z } from 'zod'
import { Next } from '../next/next'
import { DeepProfile } from '../session/deep'
import { Session } from '../session/session'
import { Columns, toColumns, fromColumns } from './columns'

export const frozenReportVersion = 3

/** A report's optional sections. The summary and the provenance are always included. */
export const reportSections = ['ladder', 'charts', 'matrix', 'compare'] as const
export const ReportSection = z.enum(reportSections)
export type ReportSection = z.infer<typeof ReportSection>

export const FrozenSession = z.object({
  /** The session. Older versions are upgraded before they are stored. */
  session: Session,
  /** Source text by rung id, with private data removed as in the session. */
  sources: z.record(z.string(), z.string()),
  /** Recommendations by rung id, with private data removed. Absent in older reports. */
  next: z.record(z.string(), Next).optional(),
})
export type FrozenSession = z.infer<typeof FrozenSession>

export const FrozenReport = z.object({
  report: z.literal(frozenReportVersion),
  /** Date of the report; null if the report has no date. */
  date: z.string().nullable(),
  sections: z.array(ReportSection),
  /**
   * One session, or two for a comparison. Only a page with a combined chart has more than two
   * sessions.
   */
  sessions: z.array(FrozenSession).min(1).max(32),
})
export type FrozenReport = z.infer<typeof FrozenReport>

/** Id of the page element that contains the FrozenReport as JSON. */
export const frozenElementId = 'kernel-ladder-report'

/**
 * Deep profiles by rung id. The profiles are several megabytes, so they are compressed, stored
 * separately and loaded on demand.
 */
export type FrozenDeep = Record<string, DeepProfile>

/**
 * The stored form of deep profiles, with instructions and lines as columns. Parsing converts the
 * columns back to profiles.
 */
export const PackedDeep = z
  .record(
    z.string(),
    z.looseObject({
      kernels: z.array(z.looseObject({ instructions: Columns, lines: Columns })),
    }),
  )
  .transform((profiles) =>
    Object.fromEntries(
      Object.entries(profiles).map(([rung, profile]) => [
        rung,
        {
          ...profile,
          kernels: profile.kernels.map((kernel) => ({
            ...kernel,
            instructions: fromColumns(kernel.instructions),
            lines: fromColumns(kernel.lines),
          })),
        },
      ]),
    ),
  )
  .pipe(z.record(z.string(), DeepProfile))

export const packDeep = (profiles: FrozenDeep): z.input<typeof PackedDeep> =>
  Object.fromEntries(
    Object.entries(profiles).map(([rung, profile]) => [
      rung,
      {
        ...profile,
        kernels: profile.kernels.map((kernel) => ({
          ...kernel,
          instructions: toColumns(kernel.instructions),
          lines: toColumns(kernel.lines),
        })),
      },
    ]),
  )

/**
 * Returns the id of the page element that contains a session's PackedDeep, as gzip-compressed JSON
 * in base64.
 */
export const deepElementId = (session: number): string => `kernel-ladder-deep-${session}`

/**
 * Returns the report as JSON for an HTML page. Every `<` is escaped, so the text cannot close its
 * element or open another element.
 */
export const frozenText = (report: FrozenReport): string =>
  JSON.stringify(report).replaceAll('<', '\\u003c')

/** Returns the session with only the given rungs. Unknown ids are ignored. */
export function withRungs(session: Session, ids: readonly string[]): Session {
  const keep = new Set(ids)
  const named = <T>(record: Record<string, T>): Record<string, T> =>
    Object.fromEntries(Object.entries(record).filter(([id]) => keep.has(id)))
  const { published } = session.ladder
  return {
    ...session,
    ladder: {
      ...session.ladder,
      rungs: session.ladder.rungs.filter(({ id }) => keep.has(id)),
      ...(published
        ? {
            published: {
              ...published,
              gflops: named(published.gflops),
              ...(published.threadsPerBlock && {
                threadsPerBlock: named(published.threadsPerBlock),
              }),
              metrics: named(published.metrics),
            },
          }
        : {}),
    },
    rungs: session.rungs.filter(({ id }) => keep.has(id)),
  }
}
