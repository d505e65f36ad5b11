/**
 * The raw output of a session's tools on disk: `raw.jsonl`, one row per call with its key, argv, outcome and both
 * streams. A row is appended as a whole when its call has ended. A stream of more than 256 KiB (a page of a full
 * report has megabytes) is stored gzipped. A recording has the same rows in one compressed file (`recordedRaw`); older
 * sessions have a folder instead (`rowsOfFolder`).
 */
import { readdir, readFile, open, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, brotliDecompress, constants, gunzip, gzip } from 'node:zlib'
import { z } from 'zod'
import { inputError, schemaFault } from '../../domain/errors'
import { message, type Statement } from '../../domain/messages/message'
import { sha256 } from '../disk/build-cache'
import { diskError, errorCode, mebibyte, readPlainBytes } from '../disk/disk'
import { rowsIn, type RowText, rowsOf } from '../disk/journal'
import { outputLimitBytes } from './process'
import { toolNames, type RawCall, type RawRecorder } from './toolbox'

// The format of raw output before `raw.jsonl`: for a call with key `nvcc/01_naive`, the files
// `raw/nvcc/01_naive.json` (argv, outcome, exit code), `.stdout.txt` and `.stderr.txt`, with long streams gzipped as
// `.stdout.txt.gz`. Converted to current rows; nothing writes these files anymore.

/** An empty stream has no file. */
async function streamOf(base: string, stream: 'stdout' | 'stderr') {
  const path = `${base}.${stream}.txt`
  const plain = await readFile(path, 'utf8').catch(() => null)
  if (plain !== null) return plain
  const gzipped = await readFile(`${path}.gz`).catch(() => null)
  return gzipped === null ? '' : { gzip: gzipped.toString('base64') }
}

async function rowOf(path: string): Promise<RowText & { startedAt: string }> {
  const base = path.slice(0, -'.json'.length)
  let call: Record<string, unknown>
  try {
    call = JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>
  } catch {
    throw inputError(
      message('files.rawDamaged', { file: path, why: message('files.noJson') }),
      message('files.rawLeft'),
    )
  }
  const row = {
    ...call,
    stdout: await streamOf(base, 'stdout'),
    stderr: await streamOf(base, 'stderr'),
  }
  return { text: JSON.stringify(row), place: path, startedAt: String(call.startedAt) }
}

/** The calls in a session's `raw/` in the order they were started; none if there is no such folder. */
export async function rowsOfFolder(folder: string): Promise<RowText[]> {
  const root = join(folder, 'raw')
  const entries = await readdir(root, { recursive: true, encoding: 'utf8' }).catch(() => [])
  const paths = entries.filter((path) => path.endsWith('.json')).sort()
  const rows = await Promise.all(paths.map((path) => rowOf(join(root, path))))
  return rows.sort((a, b) => (a.startedAt < b.startedAt ? -1 : Number(a.startedAt > b.startedAt)))
}

export const rawFile = 'raw.jsonl'

const Stream = z.union([
  z.string(),
  z.object({ gzip: z.string() }),
  z.object({ brotli: z.string() }),
])
type Stream = z.infer<typeof Stream>

const RawRow = z.object({
  key: z.string(),
  tool: z.enum(toolNames),
  argv: z.array(z.string()),
  outcome: z.enum(['exited', 'signalled', 'not-found', 'idle', 'timeout', 'flooded', 'cancelled']),
  exitCode: z.number().nullable(),
  signal: z.string().nullable(),
  seconds: z.number(),
  startedAt: z.string(),
  reused: z.boolean().optional(),
  stdout: Stream.default(''),
  stderr: Stream.default(''),
})

const keyPattern = /^[A-Za-z0-9_.-]+\/[A-Za-z0-9_.-]+$/

function checkKey(key: string): void {
  if (!keyPattern.test(key) || key.includes('..'))
    throw inputError(`${JSON.stringify(key)} is not a valid name for raw output.`)
}

/** A folder on this machine and its placeholder in stored text. */
export interface PathAlias {
  path: string
  alias: string
}

/** Replaces folders of this machine by placeholders, so that stored text names no home and no user. */
export function aliasPaths(text: string, aliases: readonly PathAlias[]): string {
  return aliases.reduce((result, { path, alias }) => result.replaceAll(path, alias), text)
}

const plainLimit = 256 * 1024

/** Smaller and slower than gzip, for what is packed once and shipped. */
const smallest = (text: string): Promise<Buffer> =>
  promisify(brotliCompress)(text, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: Buffer.byteLength(text),
    },
  })

const zip = promisify(gzip)

type Method = 'gzip' | 'brotli'

async function packed(text: string, method: Method = 'gzip'): Promise<Stream> {
  if (text.length <= plainLimit) return text
  return method === 'gzip'
    ? { gzip: (await zip(text)).toString('base64') }
    : { brotli: (await smallest(text)).toString('base64') }
}

/** A partially written row is removed again, so that later rows stay readable. */
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

/** Calls whose raw output could not be stored. */
export interface LostOutput {
  keys: string[]
  why: Statement
}

export interface DiskRecorder extends RawRecorder {
  /** What was recorded but is not in that session folder; null if nothing is missing. */
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
 * Appends calls to a session folder's raw output. Longer paths must come first in `aliases`. Raw output supports the
 * measurements but is not required: disk errors are reported by `lostFrom` and never thrown.
 */
export function rawRecorder(folder: string, aliases: readonly PathAlias[]): DiskRecorder {
  const path = join(folder, rawFile)
  const keys = new Set<string>()
  let why: Statement = deleted
  // Rungs are built in parallel, but their rows are written one after the other.
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

export interface RawOutput {
  call: RawCall
  stdout: string
  stderr: string
}

/** A session's raw output by key; read once, and unpacked only on demand. */
export interface RawOutputs {
  readonly keys: readonly string[]
  /** The stored output of a call, or null if the session has none under that key. */
  get(key: string): Promise<RawOutput | null>
}

const damaged = (file: string, why: Statement) =>
  inputError(message('files.rawDamaged', { file, why }), message('files.rawLeft'))

const decompress = { gzip: promisify(gunzip), brotli: promisify(brotliDecompress) }

/** Unpacks bytes to text; rejects damaged ones and those that expand to more than `limit` bytes. `what` names them. */
async function unpacked(
  method: Method,
  bytes: Buffer,
  limit: number,
  what: string,
): Promise<string> {
  // With Node's chunks of 16 KiB, a page of megabytes takes twice as long.
  const options = { maxOutputLength: limit, chunkSize: 256 * 1024 }
  try {
    return (await decompress[method](bytes, options)).toString('utf8')
  } catch (error) {
    const isTooLarge = errorCode(error) === 'ERR_BUFFER_TOO_LARGE'
    const why = isTooLarge
      ? message('files.unpacksTooLarge', { most: limit / mebibyte })
      : message('files.notUnpacked')
    throw damaged(what, why)
  }
}

/** A tool cannot have printed more than the limit. */
async function textOf(stream: Stream, what: string): Promise<string> {
  if (typeof stream === 'string') return stream
  const [method, base64] =
    'gzip' in stream ? (['gzip', stream.gzip] as const) : (['brotli', stream.brotli] as const)
  return unpacked(method, Buffer.from(base64, 'base64'), outputLimitBytes, what)
}

function parseRow(text: string, what: string): z.infer<typeof RawRow> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw damaged(what, message('files.noJson'))
  }
  const row = RawRow.safeParse(value)
  if (!row.success) throw damaged(what, schemaFault(row.error))
  return row.data
}

// The raw output of a recording: `raw/<name>.jsonl.br` beside where its folder would be. It is one Brotli stream: a line
// with a SHA-256, and the rows of a raw.jsonl. Brotli has no checksum, so without that line a changed byte could become
// another figure. Long streams of a row are compressed by themselves, so that they are unpacked only on demand.

/** The compressed file for the session whose folder would be `folder`. */
export const recordedRaw = (folder: string): string =>
  join(dirname(folder), 'raw', `${basename(folder)}.jsonl.br`)

/** Sixty times the rows of the largest recording. */
const recordedLimitBytes = 64 * mebibyte

const checksumLine = (rows: string): string => `${JSON.stringify({ sha256: sha256(rows) })}\n`

/** The rows of a recording; null if there is no file for it. */
async function recordedRows(folder: string): Promise<readonly RowText[] | null> {
  const path = recordedRaw(folder)
  const bytes = await readPlainBytes(path).catch((error: unknown) => {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) return null
    throw diskError(error, path, 'read')
  })
  if (bytes === null) return null
  const text = await unpacked('brotli', bytes, recordedLimitBytes, path)
  const rowsAt = text.indexOf('\n') + 1
  if (text.slice(0, rowsAt) !== checksumLine(text.slice(rowsAt)))
    throw damaged(path, message('files.wrongChecksum'))
  return rowsIn(text, path).slice(1)
}

/** The rows of a session; none if nothing was stored. */
const rowsOfSession = async (folder: string): Promise<readonly RowText[]> =>
  (await rowsOf(join(folder, rawFile))) ??
  (await recordedRows(folder)) ??
  (await rowsOfFolder(folder))

/** A session folder's raw output; without any, every key yields null. */
export async function openRaw(folder: string): Promise<RawOutputs> {
  // Of two rows with the same key, the later one wins.
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

/** A row whose long streams are packed by this method; `change` edits what a tool printed. */
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
    // Not packed again without need: a page of megabytes takes seconds.
    if (isPacked && changed === text) continue
    call[name] = await packed(changed, method)
    isChanged = true
  }
  return isChanged ? JSON.stringify(call) : row
}

const inLines = (rows: readonly string[]): string => rows.map((row) => `${row}\n`).join('')

/** Copies the raw output of a session or recording to another session folder. */
export async function copyRaw(folder: string, target: string): Promise<void> {
  const rows = await rowsOfSession(folder)
  const copied = await Promise.all(rows.map((row) => repacked(row, 'gzip')))
  if (rows.length > 0) await writeFile(join(target, rawFile), inLines(copied))
}

/**
 * Returns the content of a recording's raw output, made of a session's; equal output yields equal bytes. `change` edits
 * what a tool printed.
 */
export async function packRecordedRaw(
  folder: string,
  change?: (text: string) => string,
): Promise<Buffer> {
  const found = await rowsOfSession(folder)
  const rows = inLines(await Promise.all(found.map((row) => repacked(row, 'brotli', change))))
  return smallest(checksumLine(rows) + rows)
}
