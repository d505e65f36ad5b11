/**
 * What a list shows of each session of a store, kept in the cache: ten thousand sessions are listed without reading
 * one. An entry is valid as long as its folder and its session.json are those that it was made from.
 */
import { statSync } from 'node:fs'
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { randomBytes } from 'node:crypto'
import { dirname, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import { makeFolder } from '../disk/disk'
import { sha256 } from '../disk/build-cache'
import { sessionFile } from './session-store'

export interface Described<T> {
  value: T
  /** false: it is described again next time, as for a session that cannot be read. */
  keep: boolean
}

export interface IndexRequest<T> {
  /** The folder of the sessions. */
  root: string
  cache: string
  /** What is kept: an index of another content has another name. */
  name: string
  /** Entries that another version of the program made are made again. */
  version: string
  schema: z.ZodType<T>
  describe: (name: string, folder: string) => Promise<Described<T>>
}

/** Reading is what costs memory; several at once hide the disk's latency. */
const readers = 4
/** Asked synchronously, which is ten times faster than through the thread pool; between slices others have their turn. */
const slice = 250

/** Null if there is no such folder. */
function stampOf(folder: string): string | null {
  const own = statSync(folder, { throwIfNoEntry: false })
  const file = own && statSync(join(folder, sessionFile), { throwIfNoEntry: false })
  return own?.isDirectory() ? [own.mtimeMs, file?.mtimeMs, file?.size].join(':') : null
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
  const Kept = z.object({
    version: z.literal(version),
    sessions: z.record(z.string(), z.object({ stamp: z.string(), value: schema })),
  })
  const kept = await readFile(file, 'utf8')
    .then((text) => new Map(Object.entries(Kept.parse(JSON.parse(text)).sessions)))
    // Absent, damaged or of another version.
    .catch(() => new Map<string, { stamp: string; value: T }>())
  const stamps = await stampsOf(root)
  const found = new Map<string, T>()
  const next = new Map<string, { stamp: string; value: T }>()
  const unknown: string[] = []
  for (const [name, stamp] of stamps) {
    const known = kept.get(name)
    if (known?.stamp === stamp) {
      next.set(name, known)
      found.set(name, known.value)
    } else unknown.push(name)
  }
  const read = async (): Promise<void> => {
    for (let name = unknown.pop(); name !== undefined; name = unknown.pop()) {
      const { value, keep } = await describe(name, join(root, name))
      found.set(name, value)
      if (keep) next.set(name, { stamp: stamps.get(name)!, value })
    }
  }
  await Promise.all(Array.from({ length: readers }, read))
  const isSame = next.size === kept.size && [...next].every(([name, one]) => kept.get(name) === one)
  if (!isSame) await write(file, { version, sessions: Object.fromEntries(next) })
  return found
}

/** A cache that cannot be written costs only time. */
async function write(file: string, index: unknown): Promise<void> {
  const temporary = `${file}.${randomBytes(4).toString('hex')}`
  try {
    await makeFolder(dirname(file))
    await writeFile(temporary, JSON.stringify(index))
    await rename(temporary, file)
  } catch {
    await rm(temporary, { force: true }).catch(() => undefined)
  }
}
