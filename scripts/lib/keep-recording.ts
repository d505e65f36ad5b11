/**
 * Converts a session folder to a shipped recording.
 *
 * A recording has a row in sessions.jsonl, without the path of the ladder folder. The recording's
 * raw output is compressed as raw/<name>.jsonl.br, and its sources are in sources.jsonl. ncu's
 * report is omitted, because a replay does not read it. The folder deep/ is omitted, because its
 * content is parsed again from the raw output. A lab attempt is stored like a recording, but in
 * labs/ and with a row in labs/attempts.jsonl. The attempt's lab.cu is omitted, because the session
 * contains the same text.
 */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { sha256 } from '../../src-main/adapters/disk/build-cache'
import { readAttempt, sessionFolder } from '../../src-main/adapters/labs/attempt'
import { pathExists } from '../../src-main/adapters/disk/disk'
import { openRaw, packRecordedRaw } from '../../src-main/adapters/tools/raw-files'
import { copySources, sourcesFolder } from '../../src-main/adapters/sessions/session-sources'
import {
  readSession,
  readSessionText,
  shareSession,
} from '../../src-main/adapters/sessions/session-store'
import { inputError, KernelLadderError } from '../../src-main/domain/errors'
import type { Session } from '../../src-main/domain/session/session'
import { inEnglish } from '../../src-main/domain/text/english'
import { recordingIndex, recordingIndexFile } from '../../src-main/services/sessions/recordings'
import { sharedSessions, sharingSessions } from '../../src-main/adapters/disk/shared-sessions'
import {
  attemptListFile,
  listRecordedAttempts,
  recordedLabs,
  type AttemptRow,
} from '../../src-main/adapters/labs/recorded-attempts'
import {
  emptyStore,
  readStore,
  sourceStoreFile,
  writeStore,
  type SourceStore,
} from '../../src-main/adapters/sessions/source-store'
import { recordedRaw } from '../../src-main/adapters/tools/recorded-raw'

const pathFrom = (folder: string, path: string): string =>
  relative(folder, path).replaceAll(sep, '/')

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => pathFrom(folder, join(entry.parentPath, entry.name)))
    .sort()
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

const openStore = async (recordings: string): Promise<SourceStore> => {
  const file = join(recordings, sourceStoreFile)
  return (await pathExists(file)) ? readStore(file) : emptyStore()
}

/** Returns the contents of all files in a folder, by path. */
async function readTexts(folder: string): Promise<Map<string, string>> {
  const texts = new Map<string, string>()
  for (const path of await filesBelow(folder)) {
    const bytes = await readFile(join(folder, path))
    const text = bytes.toString('utf8')
    if (!Buffer.from(text, 'utf8').equals(bytes))
      throw inputError(`${join(folder, path)} is not UTF-8 text.`)
    texts.set(path, text)
  }
  return texts
}

/**
 * Removes the ladder's path, which is useless on another machine and may contain a person's name.
 * For kernels of a program, also removes counters outside the registry, which make up most of the
 * session's size. The raw output contains all counters in `ncu/raw`.
 */
function lean(text: string): string {
  const { ladder, ...rest } = JSON.parse(text) as Session
  if (ladder.folder === undefined && !rest.program) return text
  const { folder: _folder, ...kept } = ladder
  const rungs = rest.program
    ? rest.rungs.map(({ ncuMetrics: _own, profile, ...rung }) => ({
        ...rung,
        profile: profile && {
          ...profile,
          kernels: profile.kernels.map(({ ncuMetrics: _all, ...kernel }) => kernel),
        },
      }))
    : rest.rungs
  return json({ ...rest, ladder: kept, rungs })
}

interface Packed {
  /** Content of session.json. */
  text: string
  sources: Map<string, string>
}

/**
 * Returns the stored parts of a session, except its raw output. Throws an error if the session
 * cannot be replayed.
 */
async function packSession(from: string): Promise<Packed> {
  const session = await readSession(from)
  const { text } = (await readSessionText(from))!
  const { keys } = await openRaw(from)
  if (keys.length === 0) throw inputError(`${from} has no raw output, so it cannot be replayed.`)
  const unpacked = await mkdtemp(join(tmpdir(), 'kl-keeping-'))
  try {
    // For kernels of a program, there are sources only if the code has line information.
    const has = !session.program || (await pathExists(join(from, sourcesFolder)))
    const faults = has ? await copySources(from, unpacked) : []
    if (faults.length > 0) throw inputError({ sentences: faults })
    const sources = await readTexts(join(unpacked, sourcesFolder))
    for (const { id, file, sourceHash } of session.rungs)
      if (file !== '' && sha256(sources.get(file) ?? '') !== sourceHash)
        throw inputError(`The source of ${id} in ${from} is not the source that was measured.`)
    return { text: lean(text), sources }
  } finally {
    await rm(unpacked, { recursive: true, force: true })
  }
}

/** Returns the stored parts of a lab attempt, which are its session and its row. */
async function packAttempt(from: string): Promise<Packed & { row: AttemptRow }> {
  const { outcome } = await readAttempt(from)
  const own = await readFile(join(from, 'lab.cu'), 'utf8').catch(() => null)
  const packed = await packSession(sessionFolder(from))
  if (own !== null && packed.sources.get(`labs/${outcome.lab}/lab.cu`) !== own)
    throw inputError(`${join(from, 'lab.cu')} is not the code that its session measured.`)
  const read = async (name: string): Promise<object> =>
    (await pathExists(join(from, name)))
      ? (JSON.parse(await readFile(join(from, name), 'utf8')) as object)
      : {}
  // Older attempts have a separate file for compute-sanitizer's verdicts.
  const sanitized = await read('sanitizer.json')
  const row = {
    name: basename(from),
    ...(await read('attempt.json')),
    ...(Object.keys(sanitized).length > 0 ? { sanitized } : {}),
  }
  return { ...packed, row }
}

/** Writes the sorted list of lab attempts, so that a new attempt adds one line to the file. */
async function writeAttempts(recordings: string, rows: readonly AttemptRow[]): Promise<void> {
  const lines = [...rows]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((row) => `${JSON.stringify(row)}\n`)
  await writeFile(attemptListFile(recordings), lines.join(''))
}

async function storeAttempt(recordings: string, row: AttemptRow): Promise<void> {
  const others = (await listRecordedAttempts(recordings)).filter(({ name }) => name !== row.name)
  await writeAttempts(recordings, [...others.map((other) => other.row), row])
}

/**
 * Adds a session's sources to the store. `session` is the session's folder relative to the
 * recordings.
 */
async function storeSources(
  recordings: string,
  session: string,
  texts: ReadonlyMap<string, string>,
): Promise<void> {
  const store = await openStore(recordings)
  const hashed = [...texts].map(([path, text]) => ({ path, text, hash: sha256(text) }))
  for (const { hash, text } of hashed) store.contents.set(hash, text)
  store.lists.set(session, Object.fromEntries(hashed.map(({ path, hash }) => [path, hash])))
  await writeStore(join(recordings, sourceStoreFile), store)
}

/** Removes the path of the machine's package folder from warnings about Python packages. */
const withoutPackageFolders = (text: string): string =>
  text.replaceAll(/(?:\/[\w.@+-]+)+\/site-packages\//g, '<python>/')

/** Maximum size in bytes of a file in the repository. */
const fileLimitBytes = 5e6

const inMegabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`

/**
 * Returns the compressed raw output of a session. Throws an error if the output is too large to
 * ship.
 */
async function packRaw(from: string, limitBytes: number): Promise<Buffer> {
  const packed = await packRecordedRaw(from, withoutPackageFolders)
  if (packed.length > limitBytes)
    throw inputError(
      `The raw output of ${from} is ${inMegabytes(packed.length)} compressed; the limit is ${inMegabytes(limitBytes)}.`,
      'Record fewer rungs with --rungs, or a lower level with --profile.',
    )
  return packed
}

/**
 * Adds a session folder or a lab attempt's folder to the recordings under its own name. Replaces a
 * recording with the same name, even if the given folder is that recording. Returns the recording's
 * path, at which no folder exists.
 */
export async function keepRecording(
  folder: string,
  recordings: string,
  limitBytes = fileLimitBytes,
): Promise<string> {
  const from = resolve(folder)
  const isAttempt = await pathExists(join(from, 'attempt.json'))
  const labs = resolve(recordedLabs(recordings))
  const home = isAttempt || dirname(from) === labs ? labs : resolve(recordings)
  const kept = join(home, basename(from))
  const { text, sources, row } = isAttempt
    ? await packAttempt(from)
    : { ...(await packSession(from)), row: null }
  const raw = await packRaw(isAttempt ? sessionFolder(from) : from, limitBytes)
  await mkdir(dirname(recordedRaw(kept)), { recursive: true })
  await storeSources(recordings, pathFrom(resolve(recordings), kept), sources)
  if (row) await storeAttempt(recordings, row)
  await writeFile(recordedRaw(kept), raw)
  await shareSession(text, kept)
  await rm(kept, { recursive: true, force: true })
  return kept
}

/** Returns the sessions that are stored as folders among the recordings. */
export async function looseRecordings(recordings: string): Promise<string[]> {
  const found = await filesBelow(recordings)
  return found
    .filter((path) => /^(labs\/)?[^/]+\/session\.json$/.test(path))
    .map((path) => dirname(join(recordings, path)))
}

/**
 * Writes the index of the recordings and returns their number. With the index, recordings can be
 * listed without reading them.
 */
export async function writeIndex(recordings: string): Promise<number> {
  const index = await recordingIndex(recordings)
  await writeFile(join(recordings, recordingIndexFile), json(index))
  return Object.keys(index.recordings).length
}

/**
 * Removes raw output and sources that do not belong to any session. Returns the number of remaining
 * sources.
 */
export async function sweepStore(recordings: string): Promise<number> {
  const kept: string[] = []
  for (const home of [recordings, recordedLabs(recordings)])
    for (const name of await sharingSessions(join(home, sharedSessions)))
      kept.push(join(home, name))
  const rawFiles = new Set(kept.map(recordedRaw))
  for (const path of await filesBelow(recordings)) {
    const file = join(recordings, path)
    if (/(^|\/)raw\/[^/]+\.jsonl\.br$/.test(path) && !rawFiles.has(file)) await rm(file)
  }
  const { lists, contents } = await openStore(recordings)
  const sessions = new Set(kept.map((folder) => pathFrom(recordings, folder)))
  for (const session of lists.keys()) if (!sessions.has(session)) lists.delete(session)
  const named = new Set([...lists.values()].flatMap((files) => Object.values(files)))
  for (const hash of contents.keys()) if (!named.has(hash)) contents.delete(hash)
  await writeStore(join(recordings, sourceStoreFile), { lists, contents })
  return contents.size
}

/**
 * Removes the rows of lab attempts that have no session. Returns the number of remaining attempts.
 */
export async function sweepAttempts(recordings: string): Promise<number> {
  const sessions = await sharingSessions(join(recordedLabs(recordings), sharedSessions))
  const rows = (await listRecordedAttempts(recordings))
    .map(({ row }) => row)
    .filter(({ name }) => sessions.includes(name))
  await writeAttempts(recordings, rows)
  return rows.length
}

/** Returns the message of an error if the user can fix the cause. */
export const sentencesOf = (error: unknown): string | undefined =>
  error instanceof KernelLadderError
    ? error.message + (error.remedy === undefined ? '' : ` ${inEnglish(error.remedy)}`)
    : undefined
