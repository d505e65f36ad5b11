/**
 * What a list shows of each session of a store, kept in the cache: ten thousand sessions are listed without reading
 * one. An entry is valid as long as its folder and its session.json are those that it was made from.
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
  /** false: it is described again next time, as for a session that cannot be read. */
  keep: boolean
}

interface IndexRequest<T> {
  /** The folder of the sessions. */
  root: string
  cache: string
  /** What is kept: an index of another content has another name. */
  name: string
  /** Entries that another version of the program made are made again. */
  version: string
  /** What a value is; another shape makes the index anew. */
  schema: z.ZodType<T>
  describe: (name: string, folder: string) => Promise<Described<T>>
  /** Told of so many sessions that reading them takes seconds. */
  onMany?: ((count: number) => void) | undefined
}

/** A file this large is read in about a second. */
const many = 300

/** Reading is what costs memory; several at once hide the disk's latency. */
const readers = 4
/** Asked synchronously, which is ten times faster than through the thread pool; between slices others have their turn. */
const slice = 250

/** Null if there is no such folder. */
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
      // Not permitted: reading it says so.
      stamps.set(name, '')
    }
  }
  return stamps
}

/** What a list shows of every session folder in `root`, by name. */
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

/** What entries must have been made by: this version, for values of this shape. */
const headOf = (version: string, schema: z.ZodType): string =>
  sha256(JSON.stringify([version, z.toJSONSchema(schema)]))

/**
 * An index is a line with its head, a line for each entry, and a line with the hash of those before. An entry was checked when it was
 * made, so that what is here to the letter needs no schema. It is read line by line, since the whole text would take as much memory
 * again as the entries do. None where it is damaged or of another version.
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

/** The lines of a file that end, without their ends. */
async function* linesOf(file: string): AsyncGenerator<string> {
  let rest = ''
  for await (const part of createReadStream(file, 'utf8') as AsyncIterable<string>) {
    const lines = (rest + part).split('\n')
    rest = lines.pop()!
    yield* lines
  }
}

/** A cache that cannot be written costs only time. */
async function write<T>(
  file: string,
  head: string,
  entries: ReadonlyMap<string, Entry<T>>,
): Promise<void> {
  try {
    await makeFolder(dirname(file))
    await replaceFile(file, blocksOf(head, [...entries]))
  } catch {
    // The sessions are described again next time.
  }
}

/** An index in parts of some thousand characters, which are written one at a time. */
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
