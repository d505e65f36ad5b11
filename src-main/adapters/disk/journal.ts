/** Files of JSON lines: one that only grows while a long job works, and those that sessions share. */
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

// Files that sessions share: recordings that ship, and the lab attempts among them, have their `session.json` and
// `raw.jsonl` as rows of files beside where their folders would be. A row begins with the name of its session:
// `{"session":"gemm-fp32-h200-4096",…}`. What lies in a folder of that name comes first.

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
