/**
 * Caches the data that a list shows for each session in a store. With this index, the program lists
 * ten thousand sessions without opening any of them. An entry is valid until its folder or
 * session.json changes.
 */
import { createReadStream, statSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import { makeFolder, replaceFile } from '../disk/disk'
import { sha256 } from '../disk/build-cache'
import { sessionFile } from './session-store'

export interface Described<T> {
  value: T
  /**
   * Whether to store the entry in the index. False for an unreadable session, so that the next call
   * tries to read it again.
   */
  keep: boolean
}

interface IndexRequest<T> {
  /** The folder that contains the sessions. */
  root: string
  cache: string
  /** The index's name. Indexes with different content need different names. */
  name: string
  /**
   * The program's version. Sessions are read again if another version of the program wrote their
   * entries.
   */
  version: string
  /** Schema of the cached values. If the schema changes, the index is rebuilt. */
  schema: z.ZodType<T>
  describe: (name: string, folder: string) => Promise<Described<T>>
  /** Called with the number of sessions to read, if reading takes seconds. */
  onMany?: ((count: number) => void) | undefined
}

/** Number of sessions that can be read in about a second. */
const many = 300

/**
 * Number of parallel readers. A few readers hide the disk's latency, and more readers would only
 * use more memory.
 */
const readers = 4
/**
 * Number of folders to check synchronously in one group. Synchronous checks are ten times faster
 * than the thread pool. Other work can run between the groups.
 */
const slice = 250

/** Returns the folder's time stamp, or null if the folder does not exist. */
function stampOf(folder: string): string | null {
  const own = statSync(folder, { throwIfNoEntry: false })
  if (!own?.isDirectory()) return null
  const file = statSync(join(folder, sessionFile), { throwIfNoEntry: false })
  return [own.mtimeMs, file?.mtimeMs, file?.size].join(':')
}

async function stampsOf(root: string): Promise<Map<string, string>> {
  const names = (await readdir(root).catch(() => [])).filter((name) => !name.startsWith('.'))
  const stamps = new Map<string, string>()
  for (const [index, name] of names.entries()) {
    if (index % slice === slice - 1) await setImmediate()
    try {
      const stamp = stampOf(join(root, name))
      if (stamp !== null) stamps.set(name, stamp)
    } catch {
      // Permission was denied. Reading the session reports the error.
      stamps.set(name, '')
    }
  }
  return stamps
}

/** Returns the list data of every session folder in `root`, by folder name. */
export async function indexed<T>(request: IndexRequest<T>): Promise<Map<string, T>> {
  const { root, version, schema, describe } = request
  const file = join(request.cache, `${request.name}-${sha256(root).slice(0, 16)}.json`)
  const head = headOf(version, schema)
  const kept = await entriesIn<T>(file, head).catch(() => new Map<string, Entry<T>>())
  const stamps = await stampsOf(root)
  const found = new Map<string, T>()
  const next = new Map<string, Entry<T>>()
  const unknown: string[] = []
  for (const [name, stamp] of stamps) {
    const known = kept.get(name)
    if (known?.stamp === stamp) {
      next.set(name, known)
      found.set(name, known.value)
    } else unknown.push(name)
  }
  if (unknown.length > many) request.onMany?.(unknown.length)
  const read = async (): Promise<void> => {
    for (let name = unknown.pop(); name !== undefined; name = unknown.pop()) {
      const { value, keep } = await describe(name, join(root, name))
      found.set(name, value)
      if (keep) next.set(name, { stamp: stamps.get(name)!, value })
    }
  }
  await Promise.all(Array.from({ length: readers }, read))
  const isSame = next.size === kept.size && [...next].every(([name, one]) => kept.get(name) === one)
  if (!isSame) await write(file, head, next)
  return found
}

interface Entry<T> {
  stamp: string
  value: T
}

/** Returns the first line of an index with this version and value schema. */
const headOf = (version: string, schema: z.ZodType): string =>
  sha256(JSON.stringify([version, z.toJSONSchema(schema)]))

/**
 * Returns an index's entries. Returns no entries if the index is damaged or was written by another
 * version.
 *
 * The file has a header line, one line per entry, and a final hash of the previous lines. Entries
 * were validated when they were written, so an intact file needs no schema check. The file is read
 * line by line, because reading the whole text would double the memory use.
 */
async function entriesIn<T>(file: string, head: string): Promise<Map<string, Entry<T>>> {
  const entries = new Map<string, Entry<T>>()
  const hash = createHash('sha256')
  let line: string | null = null
  for await (const next of linesOf(file)) {
    if (line === null) {
      if (next !== head) return new Map()
    } else {
      if (line !== head) entries.set(...(JSON.parse(line) as [string, Entry<T>]))
      hash.update(`${line}\n`)
    }
    line = next
  }
  return line === hash.digest('hex') ? entries : new Map()
}

/** Yields a file's complete lines, without line endings. */
async function* linesOf(file: string): AsyncGenerator<string> {
  let rest = ''
  for await (const part of createReadStream(file, 'utf8') as AsyncIterable<string>) {
    const lines = (rest + part).split('\n')
    rest = lines.pop()!
    yield* lines
  }
}

/** Writes the index. Ignores errors, because their only cost is a slower listing later. */
async function write<T>(
  file: string,
  head: string,
  entries: ReadonlyMap<string, Entry<T>>,
): Promise<void> {
  try {
    await makeFolder(dirname(file))
    await replaceFile(file, blocksOf(head, [...entries]))
  } catch {
    // Ignore the error. The next call reads the sessions again.
  }
}

/**
 * Yields the text of an index in parts of a few thousand characters, which are written one at a
 * time.
 */
function* blocksOf<T>(head: string, entries: readonly (readonly [string, T])[]): Generator<string> {
  const hash = createHash('sha256')
  const signed = (text: string): string => (hash.update(text), text)
  yield signed(`${head}\n`)
  for (let at = 0; at < entries.length; at += slice)
    yield signed(
      entries
        .slice(at, at + slice)
        .map((entry) => `${JSON.stringify(entry)}\n`)
        .join(''),
    )
  yield `${hash.digest('hex')}\n`
}
