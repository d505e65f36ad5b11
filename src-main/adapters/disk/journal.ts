/** Files of JSON lines: one that only grows while a long job works, and the one that sessions share. */
import { open, readFile, rm, type FileHandle, mkdir, stat, writeFile } from 'node:fs/promises'
import { dirname, basename, join, resolve } from 'node:path'
import type { z } from 'zod'
import { diskError, makeFolder, errorCode, readPlainFile } from './disk'

// A file of JSON lines that only grows: what a long job has finished so far. A line that was cut off by a kill or a
// full disk is dropped when the file is opened again, and so is a file that begins with anything but our first line.

export interface Journal<Row> {
  /** The rows that were there when it was opened. */
  readonly rows: readonly Row[]
  /** Resolves when the row has been handed to the system; throws a sentence if the disk refuses. */
  append(row: Row): Promise<void>
  close(): Promise<void>
}

export interface JournalRequest<Row> {
  path: string
  /** The first line; a file that begins otherwise is begun anew. */
  header: object
  row: z.ZodType<Row>
  /** Forget what is there. */
  fresh?: boolean
}

/** The rows, and the length in bytes of what is whole. */
function readRows<Row>(text: string, { header, row }: JournalRequest<Row>) {
  const rows: Row[] = []
  const first = `${JSON.stringify(header)}\n`
  if (!text.startsWith(first)) return { rows, bytes: 0 }
  let end = first.length
  for (;;) {
    const next = text.indexOf('\n', end)
    if (next < 0) break
    let parsed
    try {
      parsed = row.safeParse(JSON.parse(text.slice(end, next)))
    } catch {
      break
    }
    if (!parsed.success) break
    rows.push(parsed.data)
    end = next + 1
  }
  return { rows, bytes: Buffer.byteLength(text.slice(0, end)) }
}

/** The rows of a journal that another program writes, as far as it is written. */
export const journalRows = async <Row>(request: JournalRequest<Row>): Promise<Row[]> =>
  readRows(await readFile(request.path, 'utf8').catch(() => ''), request).rows

export async function openJournal<Row>(request: JournalRequest<Row>): Promise<Journal<Row>> {
  const { path, header } = request
  const guard = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw diskError(error, path, 'write', 'other')
    })
  await guard(makeFolder(dirname(path)))
  if (request.fresh) await guard(rm(path, { force: true }))
  const text = await readFile(path, 'utf8').catch(() => '')
  const { rows, bytes } = readRows(text, request)
  const begun = bytes > 0
  const file: FileHandle = await guard(open(path, begun ? 'r+' : 'w', 0o600))
  if (begun) await guard(file.truncate(bytes))
  let at = bytes
  /** One after another: each knows where the one before ended. */
  let last: Promise<void> = Promise.resolve()
  const write = (line: string): Promise<void> => {
    const bytesOfLine = Buffer.from(line)
    const own = last.then(async () => {
      await file.write(bytesOfLine, 0, bytesOfLine.length, at)
      at += bytesOfLine.length
    })
    last = own.catch(() => undefined)
    return guard(own)
  }
  if (!begun) await write(`${JSON.stringify(header)}\n`)
  return {
    rows,
    append: (row) => write(`${JSON.stringify(row)}\n`),
    async close() {
      await last
      await file.close()
    },
  }
}

/** A row and its location, for error messages. */
export interface RowText {
  text: string
  place: string
}

/** The rows of a file's text. */
export const rowsIn = (text: string, path: string): RowText[] =>
  text
    .split('\n')
    .map((row, index) => ({ text: row, place: `${path}:${index + 1}` }))
    .filter((row) => row.text !== '')

/** The rows of a file; null if there is no such file. */
export async function rowsOf(path: string): Promise<RowText[] | null> {
  try {
    return rowsIn(await readPlainFile(path), path)
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw diskError(error, path, 'read')
    return null
  }
}

// The file that sessions share: the recordings that ship have their `session.json` as rows of one file beside where
// their folders would be, and so have the lab attempts among them. A row begins with the name of its session:
// `{"session":"gemm-fp32-h200-4096",…}`. A `session.json` in a folder of that name takes precedence.

export const sharedSessions = 'sessions.jsonl'

const beginning = (name: string): string => `{"session":${JSON.stringify(name)},`

const nameOf = (row: string): string => /^\{"session":"([^"\\]*)",/.exec(row)?.[1] ?? ''

type BySession = ReadonlyMap<string, RowText>

/** The rows by session, each as if in a file of its own. */
async function readBySession(file: string): Promise<BySession> {
  const found = new Map<string, RowText>()
  for (const { text, place } of (await rowsOf(file)) ?? []) {
    const name = nameOf(text)
    found.set(name, { text: `{${text.slice(beginning(name).length)}`, place })
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

/** The shared `session.json` of the session whose folder would be `folder`. */
export const sharedSession = async (folder: string): Promise<RowText | null> =>
  (await bySession(join(dirname(folder), sharedSessions))).get(basename(folder)) ?? null

/** The sessions that have a row in a file. */
export const sharingSessions = async (file: string): Promise<string[]> => [
  ...(await bySession(file)).keys(),
]

/**
 * Adds a session's row to those of the sessions beside it, or replaces it. Rows are sorted by name, so that one more
 * session is one more line.
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
