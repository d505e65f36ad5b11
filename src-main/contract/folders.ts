/** Calls about ladder folders: opening, editing in place, building, and running again on every save. */
import { z } from 'zod'
import { Statement } from '../domain/messages/message'
import { Build, Diagnostic } from '../domain/session/session'
import { WatchedRung } from '../domain/analysis/watched'
import { Ladder } from '../domain/ladder/ladder'
import { Identifier } from '../domain/ladder/rung'
import { ErrorShape } from '../domain/errors'
import { RunRequest } from './runs'
import { RungCounters } from './rung-builds'
import { SessionRef } from '../domain/session/session-ref'

/** The absolute path of a ladder folder. */
export const FolderPath = z
  .string()
  .min(1)
  .max(4096)
  .refine((path) => !path.includes('\0'), { error: 'A path cannot contain a null character.' })

/** Path of a file relative to the folder, with `/`. */
const FolderFileName = z
  .string()
  .max(300)
  .regex(/^(?!.*(?:^|\/)\.\.?(?:\/|$))[^/\\:\0][^\\:\0]*$/, {
    error: 'A file is named from its folder on, without "..".',
  })

/** SHA-256 of a file's bytes, in hex; null if there is no such file. */
const FileVersion = z.string().length(64).nullable()

/** Limit of a file's text, below the hosts' limit for a call. */
const maxText = 300_000

/** A fault in a folder, with its location if known; lines and columns from 1. */
export const FolderFault = z.object({
  file: z.string().nullable(),
  line: z.number().int().nullable(),
  column: z.number().int().nullable(),
  message: Statement,
})
export type FolderFault = z.infer<typeof FolderFault>

export const FolderFile = z.object({
  name: z.string(),
  kind: z.enum(['ladder', 'reference', 'rung', 'header']),
  text: z.string(),
  version: FileVersion,
  /** Why the file is read-only here, as a sentence. */
  locked: z.string().nullable(),
})
export type FolderFile = z.infer<typeof FolderFile>

export const FolderView = z.object({
  path: FolderPath,
  trusted: z.boolean(),
  /** null if a fault makes the whole ladder unusable. */
  ladder: Ladder.nullable(),
  faults: z.array(FolderFault),
  /** The ladder file is first. */
  files: z.array(FolderFile),
})
export type FolderView = z.infer<typeof FolderView>

export const RecentFolder = z.object({
  path: FolderPath,
  openedAt: z.string(),
  /** `gone`: the path no longer contains a ladder file. */
  state: z.enum(['ready', 'faulty', 'gone']),
  trusted: z.boolean(),
  ladder: Ladder.nullable(),
})
export type RecentFolder = z.infer<typeof RecentFolder>

export const SaveAnswer = z.discriminatedUnion('state', [
  z.object({ state: z.literal('saved'), version: FileVersion }),
  /** Another program has changed the file, so nothing was saved. `text` is its current text, null if removed. */
  z.object({ state: z.literal('changed'), version: FileVersion, text: z.string().nullable() }),
])
export type SaveAnswer = z.infer<typeof SaveAnswer>

/** The result of compiling one of the folder's sources. */
export const BuiltSource = z.object({
  /** The file's name in the folder, and the id of its rung; null for the reference. */
  file: z.string(),
  rung: Identifier.nullable(),
  built: z.boolean(),
  reason: Statement.nullable(),
  diagnostics: z.array(Diagnostic),
  build: Build.nullable(),
})
export type BuiltSource = z.infer<typeof BuiltSource>

export const FolderBuild = z.object({
  /** The target architecture, such as `sm_90`. */
  architecture: z.string(),
  /** false if there is no GPU, and the code was compiled for the recordings' GPU. */
  ownGpu: z.boolean(),
  sources: z.array(BuiltSource),
})
export type FolderBuild = z.infer<typeof FolderBuild>

/** `waiting` for the next save, `running` since the last one; `gone`: the folder does not exist at the moment. */
export const WatchState = z.discriminatedUnion('on', [
  z.object({ on: z.literal(false) }),
  z.object({
    on: z.literal(true),
    path: FolderPath,
    phase: z.enum(['waiting', 'running', 'gone', 'faulty', 'failed']),
    /** The reason if `faulty` or `failed`. */
    error: ErrorShape.nullable(),
    /** Number of rounds so far. */
    rounds: z.number().int(),
    /** Each rung's time in the last round and the one before. */
    rungs: z.array(WatchedRung),
    session: SessionRef.nullable(),
  }),
])
export type WatchState = z.infer<typeof WatchState>

const one = z.object({ path: FolderPath })
const none = z.object({})

export const folderCalls = {
  /** Recently opened folders, latest first. */
  'folders.list': { input: none, output: z.object({ folders: z.array(RecentFolder) }) },
  /** Reads the ladder file and the files it names, without building or running anything. */
  'folders.open': { input: one, output: FolderView },
  /** Removes the folder from the list, not from the disk. */
  'folders.forget': { input: one, output: none },
  /** Records that the user has reviewed the files and allows building and running them. */
  'folders.trust': { input: one, output: none },
  /** Returns subfolders of the home directory whose paths start with `typed`. */
  'folders.complete': {
    input: z.object({ typed: z.string().max(4096) }),
    output: z.object({
      folders: z.array(z.object({ path: z.string(), isLadder: z.boolean() })),
    }),
  },
  /** Writes a file of an opened folder, unless it has changed since `version`. */
  'folders.save': {
    input: one.extend({
      file: FolderFileName,
      text: z.string().max(maxText),
      /** The version that the edit started from. */
      version: FileVersion,
    }),
    output: SaveAnswer,
  },
  /** Builds from the files on disk; all sources if the file is not a source. Requires nvcc but no GPU. */
  'folders.build': { input: one.extend({ file: FolderFileName }), output: FolderBuild },
  /** Counts an edited rung of a trusted folder before it is saved. A later call cancels the current one. */
  'folders.counters': {
    input: one.extend({ file: FolderFileName, text: z.string().max(maxText) }),
    output: RungCounters,
  },
  /** Runs the request now and on every save until stopped. Each is a normal run. */
  'watch.start': { input: RunRequest, output: none },
  'watch.stop': { input: none, output: none },
  'watch.current': { input: none, output: WatchState },
} as const
