/** Ladder folders: opened, edited in place, built and watched. A request names one by its absolute path. */
import { z } from 'zod'
import { ErrorShape } from '../domain/errors'
import { Ladder } from '../domain/ladder/ladder'
import { Identifier } from '../domain/ladder/rung'
import { SessionRef } from './session-ref'
import { DraftBuild } from './drafts'
import { RungChange } from './watch'

const Folder = z.string().min(1).max(4096)
/** Relative to the folder, with `/`. */
const File = z.string().min(1).max(300)
export const maxTextLength = 1024 * 1024
const Text = z.string().max(maxTextLength)
/** SHA-256 of a text, hex. */
const Hash = z.string().regex(/^[0-9a-f]{64}$/)

export const FolderFile = z.object({
  path: File,
  kind: z.enum(['ladder', 'reference', 'rung', 'header']),
  /** A rung's id; null for what is none, and for a .cu file that the ladder does not name. */
  rung: Identifier.nullable(),
})
export type FolderFile = z.infer<typeof FolderFile>

export const FolderFault = z.object({
  /** Relative to the folder; null where the fault is of no file. */
  file: File.nullable(),
  /** From 1. */
  line: z.number().int().nullable(),
  column: z.number().int().nullable(),
  message: z.string(),
})
export type FolderFault = z.infer<typeof FolderFault>

export const FolderView = z.object({
  folder: Folder,
  /** Its code may be built and run. */
  trusted: z.boolean(),
  /** Of all its files: what `folders.trust` says was seen. */
  contentHash: Hash,
  /** null while it cannot be used; a rung with a fault is left out of it. */
  ladder: Ladder.nullable(),
  faults: z.array(FolderFault),
  files: z.array(FolderFile),
})
export type FolderView = z.infer<typeof FolderView>

export const RecentFolder = z.object({
  folder: Folder,
  id: Identifier.nullable(),
  title: z.string().nullable(),
  /** ISO 8601. */
  openedAt: z.string(),
  exists: z.boolean(),
  trusted: z.boolean(),
})
export type RecentFolder = z.infer<typeof RecentFolder>

export const FolderText = z.object({ text: Text, hash: Hash })

export const SavedFile = z.discriminatedUnion('saved', [
  z.object({ saved: z.literal(true), hash: Hash }),
  /** It was changed on disk since it was read: nothing was written. */
  z.object({ saved: z.literal(false), disk: FolderText }),
])
export type SavedFile = z.infer<typeof SavedFile>

export const WatchRound = z.object({
  /** ISO 8601. */
  at: z.string(),
  /** null where nothing was saved. */
  session: SessionRef.nullable(),
  changes: z.array(RungChange),
})

export const WatchState = z.object({
  /** null while no folder is watched. */
  folder: Folder.nullable(),
  state: z.enum(['off', 'running', 'waiting']),
  /** Newest last. */
  rounds: z.array(WatchRound),
  /** Why the folder cannot be run as it is. */
  fault: ErrorShape.nullable(),
})
export type WatchState = z.infer<typeof WatchState>

const none = z.object({})
const one = z.object({ folder: Folder })

export const folderCalls = {
  /** Newest first. */
  'folders.recent': { input: none, output: z.array(RecentFolder) },
  /** Joins the recent ones. A ladder with faults can be opened, to be mended. */
  'folders.open': { input: one, output: FolderView },
  /** Leaves the recent ones; nothing is deleted. */
  'folders.forget': { input: one, output: none },
  /** Names of the templates for `folders.init`. */
  'folders.templates': { input: none, output: z.array(z.string()) },
  /** A new ladder in a folder that is new or empty. */
  'folders.init': { input: one.extend({ template: z.string() }), output: FolderView },
  /** The user has seen these files and wants them built and run. */
  'folders.trust': { input: one.extend({ contentHash: Hash }), output: none },
  'folders.read': { input: one.extend({ file: File }), output: FolderText },
  /** `hash` is that of the text as it was read; null for a file that is new. */
  'folders.save': {
    input: one.extend({ file: File, text: Text, hash: Hash.nullable() }),
    output: SavedFile,
  },
  /** A rung or the reference, as it is on disk or as `text` has it. Needs nvcc and no GPU. */
  'folders.build': { input: one.extend({ file: File, text: Text.optional() }), output: DraftBuild },
  /** Runs what changed at each save, one run after the other, whose events come like any run's. */
  'watch.start': {
    input: one.extend({
      target: z.string(),
      at: z.record(z.string(), z.union([z.number(), z.string()])).optional(),
    }),
    output: none,
  },
  'watch.stop': { input: none, output: none },
  'watch.current': { input: none, output: WatchState },
} as const
