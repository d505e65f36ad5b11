/**
 * A journal is a JSON Lines file that records the finished parts of a long job.
 *
 * Opening the journal drops a line that was truncated because the process was killed or the disk
 * was full. A file with a different first line is discarded.
 */
import { open, readFile, rm, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { z } from 'zod'
import { diskError, makeFolder } from './disk'

interface Journal<Row> {
  /** Rows that were in the file when it was opened. */
  readonly rows: readonly Row[]
  /**
   * Appends a row. Resolves once the operating system has accepted the row. Throws an error if the
   * disk is full or not writable.
   */
  append(row: Row): Promise<void>
  close(): Promise<void>
}

interface JournalRequest<Row> {
  path: string
  /** The first line. A file with a different first line is discarded. */
  header: object
  row: z.ZodType<Row>
  /** Whether to discard existing rows. */
  fresh?: boolean
}

/** Returns the rows, and the length of all complete lines in bytes. */
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

/** Returns the complete rows of a journal that another process is writing. */
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
  /** Each write starts where the previous write ended, so writes run one at a time. */
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
