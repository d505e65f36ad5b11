/**
 * Files that sessions share: recordings that ship, and the lab attempts among them, have their `session.json` and
 * `raw.jsonl` as rows of files beside where their folders would be. A row begins with the name of its session:
 * `{"session":"gemm-fp32-h200-4096",…}`. What lies in a folder of that name comes first.
 */
import { mkdir, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { diskError, errorCode, readPlainFile } from './disk'

/** A row and its location, for error messages. */
export interface RowText {
  text: string
  place: string
}

/** The rows of a file; null if there is no such file. */
export async function rowsOf(path: string): Promise<RowText[] | null> {
  try {
    return (await readPlainFile(path))
      .split('\n')
      .map((text, index) => ({ text, place: `${path}:${index + 1}` }))
      .filter(({ text }) => text !== '')
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw diskError(error, path, 'read')
    return null
  }
}

/** Where the `session.json` of each is a row. */
export const sharedSessions = 'sessions.jsonl'

const beginning = (name: string): string => `{"session":${JSON.stringify(name)},`

const nameOf = (row: string): string => /^\{"session":"([^"\\]*)",/.exec(row)?.[1] ?? ''

type BySession = ReadonlyMap<string, readonly RowText[]>

async function readBySession(file: string): Promise<BySession> {
  const found = new Map<string, RowText[]>()
  for (const { text, place } of (await rowsOf(file)) ?? []) {
    const name = nameOf(text)
    const own = { text: `{${text.slice(beginning(name).length)}`, place }
    const known = found.get(name)
    if (known) known.push(own)
    else found.set(name, [own])
  }
  return found
}

/** Each file as it was last read, because a list of recordings opens many sessions of one file. */
const lastRead = new Map<string, { version: string; rows: Promise<BySession> }>()

async function bySession(file: string): Promise<BySession> {
  const path = resolve(file)
  const found = await stat(path).catch(() => null)
  if (found === null) return new Map()
  const version = `${found.mtimeMs} ${found.size}`
  const known = lastRead.get(path)
  if (known?.version === version) return known.rows
  const rows = readBySession(path)
  lastRead.set(path, { version, rows })
  rows.catch(() => lastRead.delete(path))
  return rows
}

/** What the file of this name has of the session whose folder this would be, as if in a file of its own. */
export const sharedRows = async (folder: string, file: string): Promise<readonly RowText[]> =>
  (await bySession(join(dirname(folder), file))).get(basename(folder)) ?? []

/** The sessions that have a row in a file. */
export const sharingSessions = async (file: string): Promise<string[]> => [
  ...(await bySession(file)).keys(),
]

/** In the order of sessions, so that one more adds its rows in one place. */
async function writeRows(file: string, rows: readonly string[]): Promise<void> {
  const named = rows.map((row) => ({ row, name: nameOf(row) }))
  named.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, named.map(({ row }) => `${row}\n`).join(''))
}

const textsOf = async (file: string): Promise<string[]> =>
  ((await rowsOf(file)) ?? []).map(({ text }) => text)

/** Puts a session's rows into a file, each the text of an object, in place of those it had there. */
export async function shareRows(
  folder: string,
  file: string,
  rows: readonly string[],
): Promise<void> {
  const path = join(dirname(folder), file)
  const begin = beginning(basename(folder))
  const others = (await textsOf(path)).filter((row) => !row.startsWith(begin))
  await writeRows(path, [...others, ...rows.map((row) => `${begin}${row.slice(1)}`)])
}

/** Removes the rows of every session but these. */
export async function keepRowsOf(file: string, sessions: readonly string[]): Promise<void> {
  const kept = new Set(sessions)
  await writeRows(
    file,
    (await textsOf(file)).filter((row) => kept.has(nameOf(row))),
  )
}
