/**
 * Reads the recorded measurements of a ladder's rungs. Compares the recorded rungs with the current
 * rungs.
 */
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { sha256 } from '../../adapters/disk/build-cache'
import type { Catalog } from '../../adapters/catalog/catalog'
import type { Setup } from '../../adapters/machine/machine'
import { readSources } from '../../adapters/sessions/session-sources'
import type { Ladder } from '../../domain/ladder/ladder'
import {
  measuredOf,
  RungMeasured,
  type MeasuredRecording,
  type RungToday,
} from '../../domain/analysis/rung-measured'
import { appVersion } from '../version'
import { listRecordings, readRecording } from './recordings'
import { resolveLadder } from '../catalog/resolve'
import { keptAnswer } from '../../adapters/disk/cached-answer'

/** Folder that contains the recordings, and the cache for values derived from them. */
interface MeasuredSetup {
  assets: Pick<Setup['assets'], 'recordingsDir'>
  machine: { folders: Pick<Setup['machine']['folders'], 'cache'> }
}

const read = new Map<string, Promise<MeasuredRecording[]>>()

/**
 * Returns one ladder's complete recordings. The recordings are read only once, because they do not
 * change while the program runs.
 */
function recordingsOf(root: string, ladder: string): Promise<MeasuredRecording[]> {
  const key = JSON.stringify([root, ladder])
  const known = read.get(key)
  if (known) return known
  const reading = listRecordings(root).then(async (listed) => {
    const ofLadder = listed.filter(({ summary }) => summary.ladder.id === ladder)
    const found = await Promise.all(
      // Skip damaged recordings. Opening a damaged recording reports the damage.
      ofLadder.map(async (one) => {
        const recording = await readRecording(one).catch(() => null)
        if (!recording) return []
        const { name, folder, session } = recording
        return [{ name, session, sources: (await readSources(folder, session)).texts }]
      }),
    )
    return found.flat()
  })
  read.set(key, reading)
  reading.catch(() => read.delete(key))
  return reading
}

/**
 * Returns the ladder, or null if the ladder is missing or has an unusable rung. A run of the ladder
 * reports its errors.
 */
function ladderOf(catalog: Catalog, id: string): Ladder | null {
  const file = catalog.ladders.find((ladder) => ladder.id === id)
  try {
    return file ? resolveLadder(catalog, file) : null
  } catch {
    return null
  }
}

interface Today {
  rungs: ReadonlyMap<string, RungToday>
  /** Hash of all source texts. */
  hash: string
}

const todays = new WeakMap<Catalog, Today>()

/**
 * Returns a library's current rungs. The rungs are cached, because a list needs every ladder in the
 * same library.
 */
function today(catalog: Catalog): Today {
  const known = todays.get(catalog)
  if (known) return known
  const rungs = new Map(
    [...catalog.rungs].map(([id, { header, file, text }]) => [
      id,
      { id, file, text, params: header.params },
    ]),
  )
  const found = { rungs, hash: sha256(JSON.stringify([...rungs])) }
  todays.set(catalog, found)
  return found
}

/**
 * Returns the names, dates, and sizes of the files in the recordings folder. The files do not
 * change while the program runs.
 */
async function stampOf(root: string): Promise<string[]> {
  const names = (await readdir(root).catch(() => [])).sort()
  return Promise.all(
    names.map(async (name) => {
      const { mtimeMs, size } = await stat(join(root, name))
      return `${name}:${mtimeMs}:${size}`
    }),
  )
}

/**
 * File written by `npm run kernels -- same recordings`. The file maps hashes of recorded code to
 * hashes of current code that compiles to the same machine code.
 */
const sameCodeFile = 'same-code.json'
const SameCode = z.record(z.string(), z.array(z.string()))

/**
 * Returns a function that tests whether recorded and current code compile to the same machine code.
 * Only pairs listed in the file pass the test.
 */
export async function readSameCode(root: string): Promise<(then: string, now: string) => boolean> {
  const text = await readFile(join(root, sameCodeFile), 'utf8').catch(() => '{}')
  const same = SameCode.parse(JSON.parse(text))
  return (then, now) => same[sha256(then)]?.includes(sha256(now)) ?? false
}

/** Returns measurements by rung id. Omits rungs that have no recording. */
export async function measuredRungs(
  { assets: { recordingsDir }, machine }: MeasuredSetup,
  catalog: Catalog,
  ladderId: string,
): Promise<Record<string, RungMeasured>> {
  const ladder = ladderOf(catalog, ladderId)
  const listed = await listRecordings(recordingsDir)
  if (!ladder || !listed.some(({ summary }) => summary.ladder.id === ladder.id)) return {}
  const { rungs, hash } = today(catalog)
  return keptAnswer({
    file: join(machine.folders.cache, 'measured', `${ladder.id}.json`),
    key: sha256(JSON.stringify([appVersion, hash, ladder, await stampOf(recordingsDir)])),
    schema: z.record(z.string(), RungMeasured),
    make: async () => {
      const recordings = await recordingsOf(recordingsDir, ladder.id)
      return measuredOf(ladder, rungs, recordings, await readSameCode(recordingsDir))
    },
  })
}
