/**
 * The sources of a session: in its folder `sources/`, as written by a run, or, for a shipped recording, in a shared
 * store. `sources.json` then maps each path of `sources/` to its content by SHA-256. The store is one file,
 * `sources.jsonl`, with each content once as a line `{"sha256", "text"}`.
 */
import { cp, mkdir, readFile, realpath, stat, writeFile } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import { z } from 'zod'
import type { Session } from '../../domain/session/session'
import { sha256 } from '../disk/build-cache'
import { errorCode, pathExists, readPlainBytes } from '../disk/disk'
import { message, type Statement } from '../../domain/messages/message'
import { distinct } from '../../domain/text/wording'

export const sourcesFolder = 'sources'
export const sourceListFile = 'sources.json'
export const sourceStoreFile = 'sources.jsonl'

export const SourceList = z.object({
  schema: z.literal(2),
  /** The store's path relative to the session's folder. */
  store: z.string().regex(/^(\.\.\/){1,8}sources\.jsonl$/),
  /** SHA-256 by path relative to `sources/`. */
  files: z.record(z.string(), z.string().regex(/^[0-9a-f]{64}$/)),
})
export type SourceList = z.infer<typeof SourceList>

const StoredSource = z.object({ sha256: z.string(), text: z.string() })

/** The contents of a store by SHA-256; throws if the file cannot be read or is damaged. */
export async function readStore(file: string): Promise<Map<string, string>> {
  const lines = (await readFile(file, 'utf8')).split('\n').filter(Boolean)
  return new Map(
    lines.map((line) => {
      const { sha256, text } = StoredSource.parse(JSON.parse(line))
      return [sha256, text]
    }),
  )
}

/** Writes a store, sorted, so that adding an entry adds one line. */
export async function writeStore(file: string, contents: ReadonlyMap<string, string>) {
  const lines = [...contents].sort(([a], [b]) => (a < b ? -1 : 1))
  const text = lines.map(([sha256, text]) => `${JSON.stringify({ sha256, text })}\n`).join('')
  await writeFile(file, text)
}

/** The most recently read store, because a list of recordings opens many sessions of one store. */
let lastStore: { key: string; contents: Promise<Map<string, string>> } | null = null

async function openStore(file: string): Promise<Map<string, string>> {
  const { mtimeMs, size } = await stat(file)
  const key = `${file}\0${mtimeMs}\0${size}`
  if (lastStore?.key !== key) lastStore = { key, contents: readStore(file) }
  return lastStore.contents
}

/** A source's bytes, or why they are missing; null if the file is simply gone from a folder. */
type Found = { bytes: Buffer } | { why: Statement } | null

interface SourceFiles {
  read(path: string): Promise<Found>
  /** The available paths; null if they are the files of `sources/`. */
  listed: string[] | null
}

function inFolder(folder: string): SourceFiles {
  return {
    listed: null,
    async read(path) {
      const root = join(await realpath(folder).catch(() => resolve(folder)), sourcesFolder)
      const file = await realpath(resolve(root, path)).catch(() => null)
      // A session may come from someone else: neither paths nor links may lead out of sources/, so that no file of this
      // machine gets into a report.
      if (!file?.startsWith(root + sep)) return null
      const bytes = await readPlainBytes(file).catch(() => null)
      return bytes && { bytes }
    },
  }
}

function storeFault(error: unknown, file: string): Statement {
  if (errorCode(error) === 'ENOENT') return message('sessions.sourcesMissing', { file })
  return errorCode(error)
    ? message('sessions.sourcesUnreadable', { file, text: String(error) })
    : message('sessions.sourcesDamaged', { file })
}

const inStore = (folder: string, { store, files }: SourceList): SourceFiles => ({
  listed: Object.keys(files),
  async read(path) {
    const hash = Object.hasOwn(files, path) ? files[path] : undefined
    if (hash === undefined) return null
    const file = resolve(folder, store)
    let contents
    try {
      contents = await openStore(file)
    } catch (error) {
      return { why: storeFault(error, file) }
    }
    const text = contents.get(hash)
    const which = { source: path, file }
    if (text === undefined) return { why: message('sessions.sourceMissing', which) }
    const bytes = Buffer.from(text, 'utf8')
    return sha256(bytes) === hash ? { bytes } : { why: message('sessions.sourceChanged', which) }
  },
})

/** Maps a session's source paths to contents of the store; null if they are in its own `sources/`. */
export async function readSourceList(folder: string): Promise<SourceList | null> {
  const text = await readFile(join(folder, sourceListFile), 'utf8').catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return null
    throw error
  })
  return text === null ? null : SourceList.parse(JSON.parse(text))
}

const openFiles = async (folder: string): Promise<SourceFiles> => {
  try {
    const list = await readSourceList(folder)
    return list ? inStore(folder, list) : inFolder(folder)
  } catch {
    const why = message('sessions.sourcesDamaged', { file: join(folder, sourceListFile) })
    return { listed: [], read: () => Promise.resolve({ why }) }
  }
}

export interface SessionSources {
  /** Source text by rung id; missing sources are skipped. */
  texts: Record<string, string>
  /** Why sources named in the session are missing. */
  faults: Statement[]
}

export async function readSources(
  folder: string,
  session: Pick<Session, 'rungs'>,
): Promise<SessionSources> {
  const files = await openFiles(folder)
  const found = await Promise.all(
    session.rungs.map(async ({ id, file }) => ({ id, source: await files.read(file) })),
  )
  const faults = found.flatMap(({ source }) => (source && 'why' in source ? [source.why] : []))
  return {
    texts: Object.fromEntries(
      found.flatMap(({ id, source }) =>
        source && 'bytes' in source ? [[id, source.bytes.toString('utf8')] as const] : [],
      ),
    ),
    faults: distinct(faults),
  }
}

/** Copies every source of a session to `sources/` in another folder; returns the reasons for missing ones. */
export async function copySources(folder: string, target: string): Promise<Statement[]> {
  const { listed, read } = await openFiles(folder)
  const root = resolve(target, sourcesFolder)
  if (listed === null) {
    const from = join(folder, sourcesFolder)
    if (await pathExists(from)) await cp(from, root, { recursive: true })
    return []
  }
  const faults: Statement[] = []
  for (const path of listed) {
    const source = await read(path)
    const file = resolve(root, path)
    if (source && 'why' in source) faults.push(source.why)
    else if (source && file.startsWith(root + sep)) {
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, source.bytes)
    }
  }
  return faults
}
