/**
 * Stores the raw output of a session's tools in `raw.jsonl`, with one row per call.
 *
 * A row contains the key, argv, the outcome, and the stdout and stderr streams. A row is appended
 * after the call has finished. A stream of more than 256 KiB is gzipped, because a page of a full
 * report can take several megabytes.
 *
 * A recording has the same rows in one compressed file (./recorded-raw.ts). Older sessions have a
 * folder of raw output instead (./raw-folder.ts).
 */
import { open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inputError } from '../../domain/errors'
import { message, type Statement } from '../../domain/messages/message'
import { errorCode } from '../disk/disk'
import { type RawCall, type RawRecorder } from './toolbox'
import { rowsOf, type RowText } from '../disk/json-lines'
import { rowsOfFolder } from './raw-folder'
import { Stream, plainLimit, smallest, packed, textOf, parseRow, type Method } from './raw-rows'
import { checksumLine, recordedRows } from './recorded-raw'

export const rawFile = 'raw.jsonl'

const keyPattern = /^[A-Za-z0-9_.-]+\/[A-Za-z0-9_.-]+$/

function checkKey(key: string): void {
  if (!keyPattern.test(key) || key.includes('..'))
    throw inputError(`${JSON.stringify(key)} is not a valid name for raw output.`)
}

/** A folder on this machine, and the placeholder that replaces it in stored text. */
export interface PathAlias {
  path: string
  alias: string
}

/**
 * Replaces this machine's folders with placeholders, so that stored text contains no home folder or
 * user name.
 */
function aliasPaths(text: string, aliases: readonly PathAlias[]): string {
  return aliases.reduce((result, { path, alias }) => result.replaceAll(path, alias), text)
}

/** Appends a row. Removes a partially written row, so that later rows stay readable. */
async function append(path: string, row: string): Promise<void> {
  const file = await open(path, 'a')
  try {
    const { size } = await file.stat()
    await file.appendFile(row).catch(async (error: unknown) => {
      await file.truncate(size).catch(() => undefined)
      throw error
    })
  } finally {
    await file.close()
  }
}

/** Keys of the calls whose raw output could not be stored. */
export interface LostOutput {
  keys: string[]
  why: Statement
}

export interface DiskRecorder extends RawRecorder {
  /**
   * Returns the calls whose raw output is missing from the session folder, or null if nothing is
   * missing.
   */
  lostFrom(folder: string): Promise<LostOutput | null>
}

const deleted = message('files.rawDeleted')

const whyLost = (error: unknown): Statement => {
  const code = errorCode(error)
  if (code === 'ENOENT') return deleted
  return code === 'ENOSPC' || code === 'EDQUOT'
    ? message('files.rawFull')
    : message('files.rawNotWritten', { text: code ?? String(error) })
}

/**
 * Returns a recorder that appends calls to a session folder's raw output. In `aliases`, longer
 * paths must come first.
 *
 * Raw output is optional, so disk errors are never thrown. `lostFrom` reports them.
 */
export function rawRecorder(folder: string, aliases: readonly PathAlias[]): DiskRecorder {
  const path = join(folder, rawFile)
  const keys = new Set<string>()
  let why: Statement = deleted
  // Rungs are built in parallel, but rows are written one at a time.
  let last: Promise<void> = Promise.resolve()
  return {
    async record(call: RawCall, stdout: string, stderr: string) {
      checkKey(call.key)
      keys.add(call.key)
      const row = {
        ...call,
        argv: call.argv.map((word) => aliasPaths(word, aliases)),
        stdout: await packed(aliasPaths(stdout, aliases)),
        stderr: await packed(aliasPaths(stderr, aliases)),
      }
      last = last
        .then(() => append(path, `${JSON.stringify(row)}\n`))
        .catch((error: unknown) => {
          why = whyLost(error)
        })
      await last
    },
    async lostFrom(kept) {
      const there = await openRaw(kept).then(
        (raw) => new Set(raw.keys),
        () => new Set<string>(),
      )
      const lost = [...keys].filter((key) => !there.has(key))
      return lost.length > 0 ? { keys: lost, why } : null
    },
  }
}

interface RawOutput {
  call: RawCall
  stdout: string
  stderr: string
}

/**
 * A session's raw output, by key. The file is read once, and streams are decompressed on demand.
 */
export interface RawOutputs {
  readonly keys: readonly string[]
  /** Returns the stored output of a call, or null if the session has no output with that key. */
  get(key: string): Promise<RawOutput | null>
}

/** Returns a session's rows. Returns an empty list if nothing was stored. */
const rowsOfSession = async (folder: string): Promise<readonly RowText[]> =>
  (await rowsOf(join(folder, rawFile))) ??
  (await recordedRows(folder)) ??
  (await rowsOfFolder(folder))

/** Opens a session folder's raw output. If the folder has no raw output, every key yields null. */
export async function openRaw(folder: string): Promise<RawOutputs> {
  // If two rows have the same key, use the later row.
  const rows = new Map(
    (await rowsOfSession(folder)).map(({ text, place }) => {
      const row = parseRow(text, place)
      return [row.key, { row, place }] as const
    }),
  )
  return {
    keys: [...rows.keys()],
    async get(key) {
      checkKey(key)
      const found = rows.get(key)
      if (!found) return null
      const { stdout, stderr, reused, ...call } = found.row
      return {
        call: { ...call, ...(reused === undefined ? {} : { reused }) },
        stdout: await textOf(stdout, `stdout of ${key} in ${found.place}`),
        stderr: await textOf(stderr, `stderr of ${key} in ${found.place}`),
      }
    },
  }
}

export const readRaw = async (folder: string, key: string): Promise<RawOutput | null> =>
  (await openRaw(folder)).get(key)

/**
 * Returns a row whose long streams are compressed with the given method. `change` is applied to
 * each tool output.
 */
async function repacked(
  { text: row, place }: RowText,
  method: Method,
  change?: (text: string) => string,
): Promise<string> {
  const call = JSON.parse(row) as Record<string, unknown>
  let isChanged = false
  for (const name of ['stdout', 'stderr']) {
    const stream = Stream.optional().parse(call[name])
    if (stream === undefined) continue
    const isPacked = typeof stream === 'string' ? stream.length <= plainLimit : method in stream
    if (isPacked && !change) continue
    const text = await textOf(stream, `${name} in ${place}`)
    const changed = change?.(text) ?? text
    // Skip unchanged streams, because compressing megabytes takes seconds.
    if (isPacked && changed === text) continue
    call[name] = await packed(changed, method)
    isChanged = true
  }
  return isChanged ? JSON.stringify(call) : row
}

const inLines = (rows: readonly string[]): string => rows.map((row) => `${row}\n`).join('')

/** Copies a session's or recording's raw output to another session folder. */
export async function copyRaw(folder: string, target: string): Promise<void> {
  const rows = await rowsOfSession(folder)
  const copied = await Promise.all(rows.map((row) => repacked(row, 'gzip')))
  if (rows.length > 0) await writeFile(join(target, rawFile), inLines(copied))
}

/**
 * Compresses a session's raw output for a recording. The same output always yields the same bytes.
 * `change` is applied to each tool output.
 */
export async function packRecordedRaw(
  folder: string,
  change?: (text: string) => string,
): Promise<Buffer> {
  const found = await rowsOfSession(folder)
  const rows = inLines(await Promise.all(found.map((row) => repacked(row, 'brotli', change))))
  return smallest(checksumLine(rows) + rows)
}
