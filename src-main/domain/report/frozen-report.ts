/**
 * The contents of an HTML report: sessions frozen with everything that its screens need. Written by the report
 * service, read by the report's own UI and by the import. Its history is in docs/reference/session-format.md.
 */
import { z } from 'zod'
import { Next } from '../next/next'
import { DeepProfile } from '../session/deep'
import { Session } from '../session/session'
import { Columns, toColumns, fromColumns } from './columns'

export const frozenReportVersion = 3

/** The optional sections of a report; the summary and the provenance are always included. */
export const reportSections = ['ladder', 'charts', 'matrix', 'compare'] as const
export const ReportSection = z.enum(reportSections)
export type ReportSection = z.infer<typeof ReportSection>

export const FrozenSession = z.object({
  /** A session of an older version is stored upgraded. */
  session: Session,
  /** Source text by rung id; scrubbed like the session. */
  sources: z.record(z.string(), z.string()),
  /** Advice by rung id; scrubbed. Absent from older reports. */
  next: z.record(z.string(), Next).optional(),
})
export type FrozenSession = z.infer<typeof FrozenSession>

export const FrozenReport = z.object({
  report: z.literal(frozenReportVersion),
  /** The date of the report, if one was given. */
  date: z.string().nullable(),
  sections: z.array(ReportSection),
  /** One session, or two to compare; more only in a page that draws them as one chart. */
  sessions: z.array(FrozenSession).min(1).max(32),
})
export type FrozenReport = z.infer<typeof FrozenReport>

/** The id of the page element that contains a FrozenReport as JSON. */
export const frozenElementId = 'kernel-ladder-report'

/** Deep profiles by rung id: megabytes, so they are stored separately, compressed, and read on demand. */
export type FrozenDeep = Record<string, DeepProfile>

/** The stored form: instructions and lines as columns. Parsing it restores the profiles. */
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

/** The id of the element that contains a session's PackedDeep as gzip-compressed JSON in base64. */
export const deepElementId = (session: number): string => `kernel-ladder-deep-${session}`

/** `<` is always escaped, so that no text can end the element or open another. */
export const frozenText = (report: FrozenReport): string =>
  JSON.stringify(report).replaceAll('<', '\\u003c')

/** A session reduced to these rungs; unknown ids are ignored. */
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
