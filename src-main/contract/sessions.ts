/** Sessions: how one is referred to, listed, renamed, deleted, restored, imported, and reported on. */
import { z } from 'zod'
import {
  can,
  gpuOfTarget,
  kindOf,
  parseTarget,
  printTarget,
  Target,
} from '../domain/target/targets'
import { CacheState, type Session } from '../domain/session/session'
import {
  named,
  optionsWord,
  Problem,
  problemLabel,
  Scalars,
  unusualScalars,
} from '../domain/task/problem'
import { DeepProfile } from '../domain/session/deep'
import { Identifier } from '../domain/ladder/rung'
import { ReportSection } from '../domain/report/frozen-report'
import { reportFormats } from '../domain/report/report-format'
import { ErrorShape } from '../domain/errors'
import { Statement } from '../domain/messages/message'
import { ProfileLevel } from '../domain/metrics/metric-definition'

/** The name of the recording that a ref refers to; null for a session in the store. */
export const recordingOf = (ref: string): string | null => {
  const target = parseTarget(ref)
  return target && can(target).replays ? target.name : null
}

export const recordedRef = (name: string): string => printTarget({ kind: 'recorded', name })

const folderName = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,119}$/

/** `recorded:<name>` for a shipped recording, like its target, else the folder name in the session store. */
export const SessionRef = z.string().refine((ref) => folderName.test(recordingOf(ref) ?? ref), {
  error: 'It is not the name of a session.',
})

// A session's entry in a list, the same from a folder and from a report.

export const SessionSummary = z.object({
  ref: SessionRef,
  kind: z.enum(['live', 'recorded', 'imported']),
  name: z.string(),
  /** The user's name for it; null if none was given. */
  title: z.string().nullable(),
  createdAt: z.string(),
  ladder: z.object({ id: z.string(), title: z.string() }),
  /** null if unknown, as for counters imported from ncu. */
  problem: Problem.nullable(),
  /** Scalars of the problem that are not the task's own; absent where all are. */
  unusual: Scalars.optional(),
  deviceName: z.string().nullable(),
  /** Of a session without a device that is for a GPU of the built-in table. */
  target: Target.optional(),
  profile: ProfileLevel,
  /** What L2 held when its launches were timed; absent where nothing was timed. */
  cacheState: CacheState.optional(),
  rungCount: z.number().int(),
  /** Set if the folder cannot be read; the other fields are then guessed from its name. */
  damaged: Statement.optional(),
})
export type SessionSummary = z.infer<typeof SessionSummary>

/** The section of the list that a session belongs to. */
export const listedKind = ({ target }: Session): SessionSummary['kind'] => kindOf(target).listed

type Listed = Pick<SessionSummary, 'kind'>

/** Whether it was made by a run on this machine. */
export const isOwnRun = ({ kind }: Listed): boolean => kind === 'live'
/** Whether it ships with the program. */
export const isRecording = ({ kind }: Listed): boolean => kind === 'recorded'
/** Whether it came from a file: ncu's, or a report. */
export const isImport = ({ kind }: Listed): boolean => kind === 'imported'

export const summaryOf = (
  ref: string,
  kind: SessionSummary['kind'],
  name: string,
  session: Session,
  title: string | null = null,
): SessionSummary => {
  const unusual = session.problem && unusualScalars(session.ladder.task, session.problem)
  return {
    ref,
    kind,
    name,
    title,
    createdAt: session.createdAt,
    ladder: { id: session.ladder.id, title: session.ladder.title },
    problem: session.problem,
    ...(unusual && Object.keys(unusual).length > 0 ? { unusual } : {}),
    deviceName: session.device?.name ?? null,
    ...(gpuOfTarget(session.target) ? { target: session.target } : {}),
    profile: session.settings.profile,
    ...(session.settings.cacheState ? { cacheState: session.settings.cacheState } : {}),
    rungCount: session.rungs.length,
  }
}

// Selects the sessions that show one ladder over several problem sizes, for the UI and the command line.

type Sized = Pick<SessionSummary, 'problem'>
const volume = ({ problem }: Sized): number =>
  Object.values(problem?.sizes ?? {}).reduce((product, size) => product * size, 1)
/** By the product of the sizes. */
export const bySize = (a: Sized, b: Sized): number => volume(a) - volume(b)

/** What has to be alike besides the sizes. */
const restOf = ({ problem }: Sized): string | null =>
  problem && `${optionsWord(problem)} ${named(problem.scalars)}`

/** Readable sessions of the same ladder, GPU, options and scalars, smallest problem first. */
export function sweepCandidates(
  list: readonly SessionSummary[],
  of: SessionSummary,
): SessionSummary[] {
  return list
    .filter(
      (item) =>
        item.damaged === undefined &&
        item.problem !== null &&
        item.ladder.id === of.ladder.id &&
        item.deviceName === of.deviceName &&
        restOf(item) === restOf(of),
    )
    .sort((a, b) => bySize(a, b) || b.createdAt.localeCompare(a.createdAt))
}

/**
 * One per size: the session on screen for its own size, the newest for all others, if possible one whose times can be
 * ranked with it.
 */
export function firstChoice(candidates: readonly SessionSummary[], ref: string): string[] {
  const own = candidates.find((item) => item.ref === ref)
  const isRanked = ({ cacheState }: SessionSummary): boolean => cacheState === own?.cacheState
  const chosen = new Map<string, string>()
  for (const item of [...candidates].sort((a, b) => Number(isRanked(b)) - Number(isRanked(a)))) {
    if (!item.problem) continue
    const size = problemLabel(item.problem)
    if (!chosen.has(size) || item.ref === ref) chosen.set(size, item.ref)
  }
  return [...chosen.values()]
}

// Managing saved sessions: renaming, deleting and restoring them, and importing one from a file.

/** One line of text; null removes the name. */
export const SessionTitle = z
  .string()
  .trim()
  .min(1)
  .max(120)
  // No line breaks or other control characters, because it is shown on one line everywhere.
  .regex(/^\P{Cc}*$/u)

export const RenameRequest = z.object({ ref: SessionRef, title: SessionTitle.nullable() })
export const RefRequest = z.object({ ref: SessionRef })

export const DeletedSession = z.object({
  ref: SessionRef,
  /** The user's name for it, else the ladder's; null if it cannot be read. */
  title: z.string().nullable(),
  /** ISO 8601. */
  deletedAt: z.string(),
})
export type DeletedSession = z.infer<typeof DeletedSession>

/** The reply to a file handed over through a host. */
export const ImportAnswer = z.object({ ref: SessionRef })
export type ImportAnswer = z.infer<typeof ImportAnswer>

/** The maximum size of a file uploaded from a browser, which is also the largest report that is read at once. */
export const maxUploadBytes = 2 ** 30

// A rung's deep profile, on request: too large to be sent with the session.

export const DeepRequest = z.object({
  ref: SessionRef,
  rung: Identifier,
})

/** Null if the session, or this rung of it, was not profiled at the deep level. */
export const DeepAnswer = DeepProfile.nullable()

// A report on a session, or on two side by side, to be saved as a file.

export const ReportRequest = z.object({
  ref: SessionRef,
  /** A second session to show beside the first. */
  compare: SessionRef.optional(),
  format: z.enum(reportFormats),
  /** CSV with one row per rung instead of one row per figure. */
  wide: z.boolean().optional(),
  /** By default all; the summary and the provenance are in every report. */
  sections: z.array(ReportSection).optional(),
  /** By default all. */
  rungs: z.array(Identifier).min(1).optional(),
  /** Markdown: with its pictures, all in one zip. */
  pictures: z.boolean().optional(),
  /** In place of the title that says what was measured, which then follows it. */
  title: z.string().trim().min(1).max(300).optional(),
  /** Paragraphs of its author's, below the title. */
  notes: z.array(z.string().trim().min(1).max(5000)).max(50).optional(),
  /** Charts of the Charts screen as `roofline:l2`, `throughput`, and counters as bars; by default a few of each. */
  charts: z.array(z.string().min(1).max(200)).min(1).max(100).optional(),
  /** Under charts, by their words. */
  captions: z.record(z.string(), z.string().trim().min(1).max(2000)).optional(),
  /** A date to print in it, as 2026-11-21. */
  date: z.iso.date().optional(),
})
export type ReportRequest = z.infer<typeof ReportRequest>

/** The stage of a report in progress: its content, the draft that determines its pages, or the print. */
export const reportStages = ['content', 'layout', 'print'] as const
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

// The calls about ncu's own report of a session, which may still be on the machine that made it.

const Ref = z.object({ ref: SessionRef })

export const ncuReportCalls = {
  'ncuReport.state': {
    input: Ref,
    output: z.object({
      /** `there`: on the machine that it was made on; `fetching`: on its way. */
      state: z.enum(['none', 'here', 'there', 'fetching']),
      bytes: z.number().int(),
      /** How many bytes are here. */
      done: z.number().int(),
      machine: z.string().nullable(),
      /** Why it was not fetched when it was last asked for. */
      error: ErrorShape.nullable(),
    }),
  },
  /** Begins to fetch it, from where an earlier fetch was cut. */
  'ncuReport.fetch': { input: Ref, output: z.object({}) },
  /** Opens it in the Nsight Compute of the program's machine. */
  'ncuReport.open': { input: Ref, output: z.object({}) },
  /** Its bytes from one on, as many as fit into an answer; `bytes` is its size. */
  'ncuReport.part': {
    input: Ref.extend({ from: z.number().int().nonnegative() }),
    output: z.object({ base64: z.string(), bytes: z.number().int() }),
  },
} as const
