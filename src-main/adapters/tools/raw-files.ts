/**
 * The raw output of a session's tools on disk: `raw.jsonl`, one row per call with its key, argv, outcome and both
 * streams. A row is appended as a whole when its call has ended. A stream of more than 256 KiB (a page of a full
 * report has megabytes) is stored gzipped. Recordings share such files, one for each task (disk/journal.ts); older
 * sessions have a folder instead (`rowsOfFolder`).
 */
import { readdir, readFile, open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { z } from 'zod'
import { inputError, schemaFault } from '../../domain/errors'
import { message, type Statement } from '../../domain/messages/message'
import { type RowText, rowsOf, sharedRows, sharedSessions, shareRows } from '../disk/journal'
import { errorCode } from '../disk/disk'
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

/** Where recordings share their raw output: one file per task that ships, so that a recording is opened without
 * reading what all others printed, and one for what has no such task: ladder folders, programs, commits. */
export const sharedRaw = 'raw'
export const rawOfOthers = `${sharedRaw}/others.jsonl`
export const rawOfTask = (task: string): string =>
  `${sharedRaw}/${task.replaceAll(/[^\w.-]/g, '_')}.jsonl`

const Stream = z.union([z.string(), z.object({ gzip: z.string() })])
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
const zip = promisify(gzip)
const unzip = promisify(gunzip)

const packed = async (text: string): Promise<Stream> =>
  text.length <= plainLimit ? text : { gzip: (await zip(text)).toString('base64') }

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

/** Rejects streams that cannot be unpacked, or that expand to more than a tool may print. */
async function textOf(stream: Stream, what: string): Promise<string> {
  if (typeof stream === 'string') return stream
  try {
    const bytes = Buffer.from(stream.gzip, 'base64')
    return (await unzip(bytes, { maxOutputLength: outputLimitBytes })).toString('utf8')
  } catch {
    throw damaged(what, message('files.notUnpacked'))
  }
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

/**
 * The task of a session as its text has it, in every version: the folder of `sources/` that its rungs are in. Null where
 * no rung has a source, and where the text is damaged, which is reported to whoever reads the session.
 */
export function taskFolderIn(session: string): string | null {
  try {
    const { rungs } = JSON.parse(session) as { rungs: { file: string }[] }
    return /^([^/]+)\//.exec(rungs[0]?.file ?? '')?.[1] ?? null
  } catch {
    return null
  }
}

/** The files that may have the raw output of a session, by the row of its session.json. */
async function sharedRawFiles(folder: string): Promise<string[]> {
  const [session] = await sharedRows(folder, sharedSessions)
  if (!session) return [rawFile]
  const task = taskFolderIn(session.text)
  return [...(task === null ? [] : [rawOfTask(task)]), rawOfOthers, rawFile]
}

/** The rows of a session; none if nothing was stored. */
async function rowsIn(folder: string): Promise<readonly RowText[]> {
  const own = await rowsOf(join(folder, rawFile))
  if (own) return own
  for (const file of await sharedRawFiles(folder)) {
    const shared = await sharedRows(folder, file)
    if (shared.length > 0) return shared
  }
  return rowsOfFolder(folder)
}

/** A session folder's raw output; without any, every key yields null. */
export async function openRaw(folder: string): Promise<RawOutputs> {
  // Of two rows with the same key, the later one wins.
  const rows = new Map(
    (await rowsIn(folder)).map(({ text, place }) => {
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

/** Copies the raw output to another folder; rows of a `raw.jsonl` are unchanged. */
export async function copyRaw(folder: string, target: string): Promise<void> {
  const rows = await rowsIn(folder)
  if (rows.length > 0)
    await writeFile(join(target, rawFile), rows.map(({ text }) => `${text}\n`).join(''))
}

async function rowWith(row: string, change: (text: string) => string): Promise<string> {
  const call = JSON.parse(row) as Record<string, unknown>
  let isChanged = false
  for (const name of ['stdout', 'stderr']) {
    if (call[name] === undefined) continue
    const text = await textOf(Stream.parse(call[name]), name)
    const changed = change(text)
    if (changed === text) continue
    call[name] = await packed(changed)
    isChanged = true
  }
  return isChanged ? JSON.stringify(call) : row
}

/**
 * Puts a session's raw output into a file that sessions beside `target` share. `change`: of what a tool printed, what is
 * kept in its place.
 */
export const shareRaw = async (
  folder: string,
  target: string,
  file = rawFile,
  change: (text: string) => string = (text) => text,
): Promise<void> =>
  shareRows(
    target,
    file,
    await Promise.all((await rowsIn(folder)).map(({ text }) => rowWith(text, change))),
  )
