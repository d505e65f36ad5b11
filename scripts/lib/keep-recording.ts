/**
 * Turns a session folder into a shipped recording: session.json and raw.jsonl unchanged, and sources.json
 * instead of sources/, whose contents go into the store shared by all recordings (sources.jsonl). Files that
 * a replay does not read are left out: ncu's report, and deep/, which is parsed again from the raw output.
 * A lab attempt's lab.cu is left out too, because its session has the same text.
 */
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, join, relative, resolve, sep } from 'node:path'
import { sha256 } from '../../src-main/adapters/disk/build-cache'
import { readAttempt, sessionFolder } from '../../src-main/adapters/labs/attempt'
import { pathExists } from '../../src-main/adapters/disk/disk'
import { copyRaw, openRaw } from '../../src-main/adapters/tools/raw-files'
import {
  copySources,
  readSourceList,
  readStore,
  sourceListFile,
  sourcesFolder,
  sourceStoreFile,
  writeStore,
  type SourceList,
} from '../../src-main/adapters/sessions/session-sources'
import { readSession } from '../../src-main/adapters/sessions/session-store'
import { inputError } from '../../src-main/domain/errors'
import { recordingIndex, recordingIndexFile } from '../../src-main/services/sessions/recording-list'

/** Subfolder for lab attempts, which are not recordings of a ladder. */
export const labsFolder = 'labs'

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, '/'))
    .sort()
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

/** Adds the files in `folder` to the store; returns the content hash of each path. */
async function storeSources(folder: string, recordings: string): Promise<SourceList['files']> {
  const store = join(recordings, sourceStoreFile)
  const contents = (await pathExists(store)) ? await readStore(store) : new Map<string, string>()
  const files: SourceList['files'] = {}
  for (const path of await filesBelow(folder)) {
    const bytes = await readFile(join(folder, path))
    files[path] = sha256(bytes)
    const text = bytes.toString('utf8')
    if (sha256(Buffer.from(text, 'utf8')) !== files[path])
      throw inputError(`${join(folder, path)} is not UTF-8 text.`)
    contents.set(files[path], text)
  }
  await writeStore(store, contents)
  return files
}

/** Packs a session folder into `target`, which is `depth` folders below the recordings. */
async function packSession(from: string, target: string, recordings: string, depth: number) {
  const session = await readSession(from)
  await mkdir(target, { recursive: true })
  await cp(join(from, 'session.json'), join(target, 'session.json'))
  const { keys } = await openRaw(from)
  if (keys.length === 0) throw inputError(`${from} has no raw output, so it cannot be replayed.`)
  await copyRaw(from, target)
  const unpacked = join(target, '.sources')
  const faults = await copySources(from, unpacked)
  if (faults.length > 0) throw inputError({ sentences: faults })
  const files = await storeSources(join(unpacked, sourcesFolder), recordings)
  await rm(unpacked, { recursive: true, force: true })
  for (const { id, file, sourceHash } of session.rungs)
    if (files[file] !== sourceHash)
      throw inputError(`The source of ${id} in ${from} is not the source that was measured.`)
  const list: SourceList = { schema: 2, store: `${'../'.repeat(depth)}${sourceStoreFile}`, files }
  await writeFile(join(target, sourceListFile), json(list))
}

async function packAttempt(from: string, target: string, recordings: string): Promise<void> {
  const { outcome } = await readAttempt(from)
  const own = await readFile(join(from, 'lab.cu')).catch(() => null)
  await packSession(sessionFolder(from), sessionFolder(target), recordings, 3)
  const { files } = (await readSourceList(sessionFolder(target)))!
  if (own && files[`labs/${outcome.lab}/lab.cu`] !== sha256(own))
    throw inputError(`${join(from, 'lab.cu')} is not the code that its session measured.`)
  const read = async (name: string): Promise<unknown> =>
    (await pathExists(join(from, name)))
      ? JSON.parse(await readFile(join(from, name), 'utf8'))
      : undefined
  const attempt = (await read('attempt.json')) as Record<string, unknown>
  // Older attempts keep compute-sanitizer's verdicts in a separate file.
  const sanitized = await read('sanitizer.json')
  await writeFile(
    join(target, 'attempt.json'),
    json(sanitized === undefined ? attempt : { ...attempt, sanitized }),
  )
}

/**
 * Adds a session folder, or a lab attempt's folder, to the recordings under its own name. An existing one
 * of that name is replaced, even if it is the given folder. Returns the recording's folder.
 */
export async function keepRecording(folder: string, recordings: string): Promise<string> {
  const from = resolve(folder)
  const isAttempt = await pathExists(join(from, 'attempt.json'))
  const home = isAttempt ? join(recordings, labsFolder) : recordings
  await mkdir(home, { recursive: true })
  const staged = await mkdtemp(join(home, '.keeping-'))
  try {
    const packed = join(staged, 'recording')
    if (isAttempt) await packAttempt(from, packed, recordings)
    else await packSession(from, packed, recordings, 1)
    const kept = join(home, basename(from))
    await rm(kept, { recursive: true, force: true })
    await rename(packed, kept)
    return kept
  } finally {
    await rm(staged, { recursive: true, force: true })
  }
}

/** Writes the index, which lists the recordings without the need to read them; returns their number. */
export async function writeIndex(recordings: string): Promise<number> {
  const index = await recordingIndex(recordings)
  await writeFile(join(recordings, recordingIndexFile), json(index))
  return Object.keys(index.recordings).length
}

/** Removes sources that no recording references; returns the number of sources left. */
export async function sweepStore(recordings: string): Promise<number> {
  const named = new Set<string>()
  for (const path of await filesBelow(recordings)) {
    if (basename(path) !== sourceListFile) continue
    const list = await readSourceList(join(recordings, path, '..'))
    for (const hash of Object.values(list?.files ?? {})) named.add(hash)
  }
  const store = join(recordings, sourceStoreFile)
  const contents = await readStore(store)
  await writeStore(store, new Map([...contents].filter(([hash]) => named.has(hash))))
  return named.size
}
