/** What the shipped recordings measured for a ladder's rungs, compared with the rungs of today. */
import type { Assets } from '../../adapters/kernels/assets'
import type { KernelLibrary } from '../../adapters/kernels/kernel-library'
import { readSources } from '../../adapters/sessions/session-sources'
import type { Ladder } from '../../domain/ladder/ladder'
import {
  measuredOf,
  type MeasuredRecording,
  type RungMeasured,
} from '../../domain/analysis/rung-measured'
import { resolveLadder } from '../run/plan'
import { listRecordings, readRecording } from './recording-list'

const read = new Map<string, Promise<MeasuredRecording[]>>()

/** The complete recordings of one ladder, read once, since nothing writes them while the program runs. */
function recordingsOf(root: string, ladder: string): Promise<MeasuredRecording[]> {
  const key = JSON.stringify([root, ladder])
  const known = read.get(key)
  if (known) return known
  const reading = listRecordings(root).then(async (listed) => {
    const ofLadder = listed.filter(({ summary }) => summary.ladder.id === ladder)
    const found = await Promise.all(
      // A damaged one contributes nothing; opening it reports the damage.
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

/** Null for a missing ladder, or one with an unusable rung, which running it reports. */
function ladderOf(library: KernelLibrary, id: string): Ladder | null {
  const file = library.ladders.find((ladder) => ladder.id === id)
  try {
    return file ? resolveLadder(library, file) : null
  } catch {
    return null
  }
}

/** By rung id; rungs that no recording contains are omitted. */
export async function measuredRungs(
  { recordingsDir }: Pick<Assets, 'recordingsDir'>,
  library: KernelLibrary,
  ladderId: string,
): Promise<Record<string, RungMeasured>> {
  const ladder = ladderOf(library, ladderId)
  if (!ladder) return {}
  const today = new Map(
    [...library.rungs].map(([id, { header, file, text }]) => [
      id,
      { id, file, text, params: header.params },
    ]),
  )
  return measuredOf(ladder, today, await recordingsOf(recordingsDir, ladder.id))
}
