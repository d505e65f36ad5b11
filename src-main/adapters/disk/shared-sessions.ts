/**
 * Reads and writes the file that contains the `session.json` of every shipped recording, one per
 * row.
 *
 * The file also has a row for each shipped lab attempt. A row begins with its session's name:
 * `{"session":"gemm-fp32-h200-4096",…}`. A separate `session.json` in a folder with the session's
 * name takes precedence.
 */
import { mkdir, stat, writeFile } from 'node:fs/promises'
import { dirname, basename, join, resolve } from 'node:path'
import { rowsOf, type RowText } from './json-lines'

export const sharedSessions = 'sessions.jsonl'

const beginning = (name: string): string => `{"session":${JSON.stringify(name)},`

const nameOf = (row: string): string => /^\{"session":"([^"\\]*)",/.exec(row)?.[1] ?? ''

type BySession = ReadonlyMap<string, RowText>

/**
 * Returns the rows by session name. The name is removed from each row, so the row equals a separate
 * `session.json`.
 */
async function readBySession(file: string): Promise<BySession> {
  const found = new Map<string, RowText>()
  for (const { text, place } of (await rowsOf(file)) ?? []) {
    const name = nameOf(text)
    found.set(name, { text: `{${text.slice(beginning(name).length)}`, place })
  }
  return found
}

/**
 * The content of each shared file as of the last read. Listing recordings opens many sessions from
 * the same file.
 */
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

/**
 * Returns a session's row in the shared file, or null if there is no such row. Without the file,
 * the session would be in `folder`.
 */
export const sharedSession = async (folder: string): Promise<RowText | null> =>
  (await bySession(join(dirname(folder), sharedSessions))).get(basename(folder)) ?? null

/** Returns the names of the sessions that have a row in the file. */
export const sharingSessions = async (file: string): Promise<string[]> => [
  ...(await bySession(file)).keys(),
]

/**
 * Adds or replaces a session's row in the shared file. Rows are sorted by name, so that a new
 * session adds one line to a diff.
 */
export async function shareSessionRow(folder: string, row: string): Promise<void> {
  const file = join(dirname(folder), sharedSessions)
  const name = basename(folder)
  const rows = new Map(((await rowsOf(file)) ?? []).map(({ text }) => [nameOf(text), text]))
  rows.set(name, `${beginning(name)}${row.slice(1)}`)
  const sorted = [...rows].sort(([a], [b]) => (a < b ? -1 : 1))
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, sorted.map(([, text]) => `${text}\n`).join(''))
}
