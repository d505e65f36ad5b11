/**
 * The sources of a session: in its folder `sources/`, as a run writes them, or, of a recording that ships,
 * in a store that many share. `sources.json` then says which path of `sources/` is which content, by SHA-256;
 * a content is kept once, under the beginning of its hash.
 */
import { cp, mkdir, readFile, realpath, writeFile } from 'node:fs/promises'
import { dirname, join, posix, resolve, sep } from 'node:path'
import { z } from 'zod'
import type { Session } from '../../domain/session/session'
import { sha256 } from '../disk/build-cache'
import { errorCode, pathExists, readPlainBytes } from '../disk/disk'

export const sourcesFolder = 'sources'
export const sourceListFile = 'sources.json'

export const SourceList = z.object({
  schema: z.literal(1),
  /** The store, from the session's folder. */
  store: z.string().regex(/^(\.\.\/){1,8}sources$/),
  /** SHA-256 by path below `sources/`. */
  files: z.record(z.string(), z.string().regex(/^[0-9a-f]{64}$/)),
})
export type SourceList = z.infer<typeof SourceList>

/** The name of a content in the store: long enough to be found by, short enough to be read. */
export function storedName(path: string, hash: string): string {
  const extension = posix.extname(path)
  return hash.slice(0, 16) + (/^\.[A-Za-z0-9]+$/.test(extension) ? extension : '')
}

/** A source's bytes, or why they are not there. A folder's source that is gone has no reason to give. */
type Found = { bytes: Buffer } | { why: string } | null

interface SourceFiles {
  read(path: string): Promise<Found>
  /** The paths there are; null where they are the files of `sources/`. */
  listed: string[] | null
}

function inFolder(folder: string): SourceFiles {
  return {
    listed: null,
    async read(path) {
      const root = join(await realpath(folder).catch(() => resolve(folder)), sourcesFolder)
      const file = await realpath(resolve(root, path)).catch(() => null)
      // A session may have been handed over: neither a path nor a link in it leads out of sources/, so that
      // no file of this machine gets into a report.
      if (!file?.startsWith(root + sep)) return null
      const bytes = await readPlainBytes(file).catch(() => null)
      return bytes && { bytes }
    },
  }
}

const inStore = (folder: string, { store, files }: SourceList): SourceFiles => ({
  listed: Object.keys(files),
  async read(path) {
    const hash = Object.hasOwn(files, path) ? files[path] : undefined
    if (hash === undefined) return null
    const file = resolve(folder, store, storedName(path, hash))
    const why = (what: string) => ({ why: `The source ${path} cannot be shown: ${what}` })
    try {
      const bytes = await readFile(file)
      return sha256(bytes) === hash
        ? { bytes }
        : why(`${file} is not what was recorded, its SHA-256 is another.`)
    } catch (error) {
      const gone = errorCode(error) === 'ENOENT'
      return why(gone ? `there is no ${file}.` : `${file} cannot be read (${String(error)}).`)
    }
  },
})

/** Which paths a session's sources have in the store; null where they lie in its own `sources/`. */
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
    const why = `The sources cannot be shown: ${join(folder, sourceListFile)} is damaged.`
    return { listed: [], read: () => Promise.resolve({ why }) }
  }
}

export interface SessionSources {
  /** Source text by rung id; a source that is gone is left out. */
  texts: Record<string, string>
  /** Why sources that the session names are not there, a sentence each. */
  faults: string[]
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
    faults: [...new Set(faults)],
  }
}

/** Copies every source of a session into `sources/` of another folder; returns why some are not there. */
export async function copySources(folder: string, target: string): Promise<string[]> {
  const { listed, read } = await openFiles(folder)
  const root = resolve(target, sourcesFolder)
  if (listed === null) {
    const from = join(folder, sourcesFolder)
    if (await pathExists(from)) await cp(from, root, { recursive: true })
    return []
  }
  const faults: string[] = []
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
