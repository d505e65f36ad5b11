/**
 * What an HTML report holds: sessions frozen with all that its screens ask for. Written by the report
 * service, read by the report's own UI and by the import. Its history is in docs/SESSION-FORMAT.md.
 */
import { z } from 'zod'
import { Columns, fromColumns, toColumns } from './columns'
import { DeepProfile } from '../session/deep'
import { Session } from '../session/session'

export const frozenReportVersion = 2

/** Parts of a report that can be left out; the summary and where figures come from always stay. */
export const reportSections = ['ladder', 'charts', 'matrix', 'compare'] as const
export const ReportSection = z.enum(reportSections)
export type ReportSection = z.infer<typeof ReportSection>

export const FrozenSession = z.object({
  /** One of an older version as it reads today. */
  session: Session,
  /** Source text by rung id; scrubbed as the session is. */
  sources: z.record(z.string(), z.string()),
})
export type FrozenSession = z.infer<typeof FrozenSession>

export const FrozenReport = z.object({
  report: z.literal(frozenReportVersion),
  /** The day it was made, where its maker gave one. */
  date: z.string().nullable(),
  sections: z.array(ReportSection),
  /** One session, or two that are set side by side; more only in a page that draws them as one chart. */
  sessions: z.array(FrozenSession).min(1).max(32),
})
export type FrozenReport = z.infer<typeof FrozenReport>

/** The id of the element of the page that holds a FrozenReport as JSON. */
export const frozenElementId = 'kernel-ladder-report'

/** Deep profiles by rung id: megabytes, so that they lie beside, compressed, and are read when asked for. */
export type FrozenDeep = Record<string, DeepProfile>

/** As it is kept: instructions and lines as columns. Its parse gives the profiles back. */
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

/** The id of the element that holds a session's PackedDeep as JSON, compressed by gzip, in base64. */
export const deepElementId = (session: number): string => `kernel-ladder-deep-${session}`

/** `<` only ever as an escape, so that no text can end the element or open another. */
export const frozenText = (report: FrozenReport): string =>
  JSON.stringify(report).replaceAll('<', '\\u003c')

/** A session of which only these rungs are told; an id that it lacks is ignored. */
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
