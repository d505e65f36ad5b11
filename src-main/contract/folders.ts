/** Calls that open, edit, build and watch ladder folders. */
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

/** File path relative to the folder, with `/` as separator. */
const FolderFileName = z
  .string()
  .max(300)
  .regex(/^(?!.*(?:^|\/)\.\.?(?:\/|$))[^/\\:\0][^\\:\0]*$/, {
    error: 'A file is named from its folder on, without "..".',
  })

/** SHA-256 of a file in hex; null if the file does not exist. */
const FileVersion = z.string().length(64).nullable()

/** Maximum length of a file's text, chosen below the hosts' size limit for a call. */
const maxText = 300_000

/** An error in a folder, with its location if known. Lines and columns count from 1. */
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
  /** One sentence that explains why the file is read-only; null if the file is writable. */
  locked: z.string().nullable(),
})
export type FolderFile = z.infer<typeof FolderFile>

export const FolderView = z.object({
  path: FolderPath,
  trusted: z.boolean(),
  /** The ladder; null if an error makes the ladder unusable. */
  ladder: Ladder.nullable(),
  faults: z.array(FolderFault),
  /** All files, with the ladder file first. */
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
  /**
   * Nothing was saved because another program changed the file. `text` is the current text; null if
   * the file was removed.
   */
  z.object({ state: z.literal('changed'), version: FileVersion, text: z.string().nullable() }),
])
export type SaveAnswer = z.infer<typeof SaveAnswer>

/** The result of compiling one of the folder's sources. */
export const BuiltSource = z.object({
  /** The source's name in the folder, and its rung's id. The id is null for the reference. */
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
  /**
   * False if no GPU was found. Without a GPU, the code is compiled for the GPU that the built-in
   * recordings were made on.
   */
  ownGpu: z.boolean(),
  sources: z.array(BuiltSource),
})
export type FolderBuild = z.infer<typeof FolderBuild>

/**
 * State of a folder watch. `waiting`: waiting for the next save. `running`: running the ladder
 * after a save. `gone`: the folder is missing.
 */
export const WatchState = z.discriminatedUnion('on', [
  z.object({ on: z.literal(false) }),
  z.object({
    on: z.literal(true),
    path: FolderPath,
    phase: z.enum(['waiting', 'running', 'gone', 'faulty', 'failed']),
    /** The error behind `faulty` or `failed`. */
    error: ErrorShape.nullable(),
    /** Number of runs since the watch started. */
    rounds: z.number().int(),
    /** Each rung's latest result, compared with its last successful run. */
    rungs: z.array(WatchedRung),
    session: SessionRef.nullable(),
  }),
])
export type WatchState = z.infer<typeof WatchState>

const one = z.object({ path: FolderPath })
const none = z.object({})

export const folderCalls = {
  /** Recently opened folders, most recent first. */
  'folders.list': { input: none, output: z.object({ folders: z.array(RecentFolder) }) },
  /** Reads the ladder file and its sources without building or running anything. */
  'folders.open': { input: one, output: FolderView },
  /** Removes the folder from the list but keeps the files. */
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
  /** Writes a file in an opened folder, unless the file has changed since `version`. */
  'folders.save': {
    input: one.extend({
      file: FolderFileName,
      text: z.string().max(maxText),
      /** The version that the edit started from. */
      version: FileVersion,
    }),
    output: SaveAnswer,
  },
  /**
   * Builds the given source as saved on disk. Builds all sources if the given file is not a source.
   * Requires nvcc but no GPU.
   */
  'folders.build': { input: one.extend({ file: FolderFileName }), output: FolderBuild },
  /**
   * Collects the counters of an edited, unsaved rung in a trusted folder. A new call cancels the
   * previous call if that call is still running.
   */
  'folders.counters': {
    input: one.extend({ file: FolderFileName, text: z.string().max(maxText) }),
    output: RungCounters,
  },
  /** Starts a normal run now and after every save, until the watch is stopped. */
  'watch.start': { input: RunRequest, output: none },
  'watch.stop': { input: none, output: none },
  'watch.current': { input: none, output: WatchState },
} as const
