/** Reads a session's sources from its `sources/` folder or from the shipped recordings' store. */
import { cp, mkdir, readdir, realpath, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { inputError } from '../../domain/errors'
import type { Session } from '../../domain/session/session'
import { sha256 } from '../disk/build-cache'
import { errorCode, pathExists, readPlainBytes } from '../disk/disk'
import { message, type Statement } from '../../domain/messages/message'
import { distinct } from '../../domain/text/english'
import { SourceList, findStore, openStore, type SourceStore } from './source-store'

export const sourcesFolder = 'sources'

/**
 * A source's bytes, or the reason why the source is missing. Null if the session does not list the
 * file.
 */
type Found = { bytes: Buffer } | { why: Statement } | null

type ReadSource = (path: string) => Promise<Found>

/**
 * Location of a session's sources, which is the folder `sources/` or a store. If there are no
 * sources, the value contains the reason.
 */
type SourceFiles =
  | { in: 'folder'; read: ReadSource }
  | { in: 'store'; read: ReadSource; listed: string[] }
  | { in: 'none'; why: Statement }

const inFolder =
  (folder: string): ReadSource =>
  async (path) => {
    const root = join(await realpath(folder).catch(() => resolve(folder)), sourcesFolder)
    const file = await realpath(resolve(root, path)).catch(() => null)
    // A session is untrusted input. Its paths and links must not lead out of sources/, because a
    // report could otherwise include local files.
    if (!file?.startsWith(root + sep)) return null
    const bytes = await readPlainBytes(file).catch(() => null)
    return bytes && { bytes }
  }

const inStore =
  (file: string, contents: SourceStore['contents'], files: SourceList): ReadSource =>
  (path) => {
    const find = (): Found => {
      const hash = Object.hasOwn(files, path) ? files[path] : undefined
      if (hash === undefined) return null
      const text = contents.get(hash)
      const which = { source: path, file }
      if (text === undefined) return { why: message('sessions.sourceMissing', which) }
      const bytes = Buffer.from(text, 'utf8')
      return sha256(bytes) === hash ? { bytes } : { why: message('sessions.sourceChanged', which) }
    }
    return Promise.resolve(find())
  }

async function openFiles(session: string): Promise<SourceFiles> {
  const folder = resolve(session)
  const own = join(folder, sourcesFolder)
  if (await pathExists(own)) return { in: 'folder', read: inFolder(folder) }
  const missing = message('sessions.sourcesMissing', { file: own })
  const file = await findStore(folder)
  if (file === null) return { in: 'none', why: missing }
  try {
    const { lists, contents } = await openStore(file)
    const files = lists.get(relative(dirname(file), folder).replaceAll(sep, '/'))
    return files
      ? { in: 'store', read: inStore(file, contents, files), listed: Object.keys(files) }
      : { in: 'none', why: missing }
  } catch (error) {
    const why = errorCode(error)
      ? message('sessions.sourcesUnreadable', { file, text: String(error) })
      : message('sessions.sourcesDamaged', { file })
    return { in: 'none', why }
  }
}

interface SessionSources {
  /** Source texts by rung id. Missing sources are omitted. */
  texts: Record<string, string>
  /** Reasons why some of the session's sources are missing. */
  faults: Statement[]
}

export async function readSources(
  folder: string,
  session: Pick<Session, 'rungs'>,
): Promise<SessionSources> {
  // An imported rung may have no source file.
  const named = session.rungs.filter(({ file }) => file !== '')
  const files = await openFiles(folder)
  if (files.in === 'none') return { texts: {}, faults: named.length > 0 ? [files.why] : [] }
  const found = await Promise.all(
    named.map(async ({ id, file }) => ({ id, source: await files.read(file) })),
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

/**
 * Returns all of a session's sources (rungs, headers, and the reference) by path relative to
 * `sources/`. Throws an error if the session has no sources.
 */
export async function readAllSources(folder: string): Promise<Map<string, string>> {
  const files = await openFiles(folder)
  if (files.in === 'none') throw inputError(files.why)
  const paths =
    files.in === 'store' ? files.listed : await pathsBelow(join(resolve(folder), sourcesFolder))
  const texts = new Map<string, string>()
  for (const path of paths) {
    const source = await files.read(path)
    if (source && 'why' in source) throw inputError(source.why)
    if (source) texts.set(path, source.bytes.toString('utf8'))
  }
  return texts
}

/** Returns the paths of regular files in a folder and its subfolders, with `/` as the separator. */
async function pathsBelow(root: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll(sep, '/'))
    .sort()
}

/**
 * Copies all of a session's sources to `sources/` in another folder. Returns the reasons why
 * sources are missing.
 */
export async function copySources(folder: string, target: string): Promise<Statement[]> {
  const files = await openFiles(folder)
  if (files.in === 'none') return [files.why]
  const root = resolve(target, sourcesFolder)
  if (files.in === 'folder') {
    await cp(join(folder, sourcesFolder), root, { recursive: true })
    return []
  }
  const faults: Statement[] = []
  for (const path of files.listed) {
    const source = await files.read(path)
    const file = resolve(root, path)
    if (source && 'why' in source) faults.push(source.why)
    else if (source && file.startsWith(root + sep)) {
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, source.bytes)
    }
  }
  return faults
}
