/**
 * Reads and writes the source store that shipped recordings share.
 *
 * The store is one file, `sources.jsonl`, in a folder above the sessions. Each distinct text is
 * stored once, as a line `{"sha256", "text"}`. Each session has a line `{"session", "files"}` that
 * maps paths in `sources/` to hashes.
 */
import { stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { pathExists, readPlainFile } from '../disk/disk'

export const sourceStoreFile = 'sources.jsonl'

const Hash = z.string().regex(/^[0-9a-f]{64}$/)

/** SHA-256 hashes by path relative to `sources/`. */
export const SourceList = z.record(z.string(), Hash)

export type SourceList = z.infer<typeof SourceList>

const StoreLine = z.union([
  /**
   * `session` is the path of the session's folder relative to the store's folder, with `/` as the
   * separator.
   */
  z.object({ session: z.string(), files: SourceList }),
  z.object({ sha256: Hash, text: z.string() }),
])

export interface SourceStore {
  /** Source lists by session. */
  lists: Map<string, SourceList>
  /** File contents by SHA-256 hash. */
  contents: Map<string, string>
}

export const emptyStore = (): SourceStore => ({ lists: new Map(), contents: new Map() })

/** Reads a store. Throws an error if the file is unreadable or damaged. */
export async function readStore(file: string): Promise<SourceStore> {
  const store = emptyStore()
  for (const text of (await readPlainFile(file)).split('\n').filter(Boolean)) {
    const line = StoreLine.parse(JSON.parse(text))
    if ('session' in line) store.lists.set(line.session, line.files)
    else store.contents.set(line.sha256, line.text)
  }
  return store
}

const sorted = <T>(entries: ReadonlyMap<string, T>): [string, T][] =>
  [...entries].sort(([a], [b]) => (a < b ? -1 : 1))

/** Writes a store. Lines are sorted, so that a new entry adds one line to a diff. */
export async function writeStore(file: string, { lists, contents }: SourceStore): Promise<void> {
  const lines: z.infer<typeof StoreLine>[] = [
    ...sorted(lists).map(([session, files]) => ({ session, files })),
    ...sorted(contents).map(([sha256, text]) => ({ sha256, text })),
  ]
  await writeFile(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
}

/** The maximum number of folder levels between a session and its store. */
const storeDistance = 3

/** Returns the nearest store above a session, or null if there is none. */
export async function findStore(folder: string): Promise<string | null> {
  let above = dirname(folder)
  for (let up = 1; up <= storeDistance; up += 1) {
    const file = join(above, sourceStoreFile)
    if (await pathExists(file)) return file
    above = dirname(above)
  }
  return null
}

/** The store that was read last. Listing recordings opens many sessions from the same store. */
let lastStore: { key: string; store: Promise<SourceStore> } | null = null

export async function openStore(file: string): Promise<SourceStore> {
  const { mtimeMs, size } = await stat(file)
  const key = `${file}\0${mtimeMs}\0${size}`
  if (lastStore?.key !== key) lastStore = { key, store: readStore(file) }
  return lastStore.store
}
