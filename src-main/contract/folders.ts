/** Ladder folders: opened, edited in place, built, and run again at each save. */
import { z } from 'zod'
import { WatchedRung } from '../domain/analysis/watched'
import { Ladder } from '../domain/ladder/ladder'
import { Identifier } from '../domain/ladder/rung'
import { Statement } from '../domain/messages/message'
import { Build, Diagnostic } from '../domain/session/session'
import { ErrorShape } from '../domain/errors'
import { RunRequest } from './run-request'
import { SessionRef } from './session-ref'

/** The absolute path of a ladder folder. */
export const FolderPath = z
  .string()
  .min(1)
  .max(4096)
  .refine((path) => !path.includes('\0'), { error: 'A path holds no zero.' })

/** A file of the folder by its path from there, with `/`. */
export const FolderFileName = z
  .string()
  .max(300)
  .regex(/^(?!.*(?:^|\/)\.\.?(?:\/|$))[^/\\:\0][^\\:\0]*$/, {
    error: 'A file is named from its folder on, without "..".',
  })

/** SHA-256 of a file's bytes, hex; null while there is no such file. */
export const FileVersion = z.string().length(64).nullable()

/** More than a person edits here, and less than what a host takes in a call. */
const maxText = 300_000

/** What is wrong with a folder, at its place where that is known; lines and columns from 1. */
export const FolderFault = z.object({
  file: z.string().nullable(),
  line: z.number().int().nullable(),
  column: z.number().int().nullable(),
  message: z.string(),
})
export type FolderFault = z.infer<typeof FolderFault>

export const FolderFile = z.object({
  name: z.string(),
  kind: z.enum(['ladder', 'reference', 'rung', 'header']),
  text: z.string(),
  version: FileVersion,
  /** Why it is shown and cannot be saved, as a sentence. */
  locked: z.string().nullable(),
})
export type FolderFile = z.infer<typeof FolderFile>

export const FolderView = z.object({
  path: FolderPath,
  trusted: z.boolean(),
  /** null while something keeps the whole ladder from being used. */
  ladder: Ladder.nullable(),
  faults: z.array(FolderFault),
  /** The ladder file first. */
  files: z.array(FolderFile),
})
export type FolderView = z.infer<typeof FolderView>

export const RecentFolder = z.object({
  path: FolderPath,
  openedAt: z.string(),
  /** `gone`: there is no ladder file at the path any more. */
  state: z.enum(['ready', 'faulty', 'gone']),
  trusted: z.boolean(),
  ladder: Ladder.nullable(),
})
export type RecentFolder = z.infer<typeof RecentFolder>

export const SaveAnswer = z.discriminatedUnion('state', [
  z.object({ state: z.literal('saved'), version: FileVersion }),
  /** Another program wrote the file since; nothing was saved. `text` is what it holds now, null when removed. */
  z.object({ state: z.literal('changed'), version: FileVersion, text: z.string().nullable() }),
])
export type SaveAnswer = z.infer<typeof SaveAnswer>

/** What nvcc made of one of the folder's sources. */
export const BuiltSource = z.object({
  /** The file by its name in the folder, and the rung that it is built as; null for the reference. */
  file: z.string(),
  rung: Identifier.nullable(),
  built: z.boolean(),
  reason: Statement.nullable(),
  diagnostics: z.array(Diagnostic),
  build: Build.nullable(),
})
export type BuiltSource = z.infer<typeof BuiltSource>

export const FolderBuild = z.object({
  /** The target architecture: `sm_90`. */
  architecture: z.string(),
  /** false if there is no GPU here, and it was compiled for the recordings' GPU. */
  ownGpu: z.boolean(),
  sources: z.array(BuiltSource),
})
export type FolderBuild = z.infer<typeof FolderBuild>

/** `waiting` for the next save, `running` since the last one; `gone`: the folder is not there just now. */
export const WatchState = z.discriminatedUnion('on', [
  z.object({ on: z.literal(false) }),
  z.object({
    on: z.literal(true),
    path: FolderPath,
    phase: z.enum(['waiting', 'running', 'gone', 'faulty', 'failed']),
    /** Why it is `faulty` or `failed`. */
    error: ErrorShape.nullable(),
    /** How often rungs were run. */
    rounds: z.number().int(),
    /** Each rung's time of the last round beside the one before it. */
    rungs: z.array(WatchedRung),
    session: SessionRef.nullable(),
  }),
])
export type WatchState = z.infer<typeof WatchState>

const one = z.object({ path: FolderPath })
const none = z.object({})

export const folderCalls = {
  /** Those that were opened, the latest first. */
  'folders.list': { input: none, output: z.object({ folders: z.array(RecentFolder) }) },
  /** Reads the ladder file and what it names. Nothing is built or run. */
  'folders.open': { input: one, output: FolderView },
  /** Off the list; nothing is removed from the disk. */
  'folders.forget': { input: one, output: none },
  /** The user has seen its files and wants them built and run. */
  'folders.trust': { input: one, output: none },
  /** Folders below the user's own whose path begins so. */
  'folders.complete': {
    input: z.object({ typed: z.string().max(4096) }),
    output: z.object({
      folders: z.array(z.object({ path: z.string(), isLadder: z.boolean() })),
    }),
  },
  /** Writes a file of an opened folder, unless it is not the version that was edited any more. */
  'folders.save': {
    input: one.extend({
      file: FolderFileName,
      text: z.string().max(maxText),
      /** That the text was made from. */
      version: FileVersion,
    }),
    output: SaveAnswer,
  },
  /** As the files are on the disk; all sources where the file is none. Requires nvcc but no GPU. */
  'folders.build': { input: one.extend({ file: FolderFileName }), output: FolderBuild },
  /** Runs the request now and again at each save, until it is stopped; each run is one as any other. */
  'watch.start': { input: RunRequest, output: none },
  'watch.stop': { input: none, output: none },
  'watch.current': { input: none, output: WatchState },
} as const
