/** Lists all sessions that the user can open. */
import { indexed, type Described } from '../../adapters/sessions/session-index'
import { readTitle } from '../../adapters/sessions/labels-and-trash'
import { isImported, readSession } from '../../adapters/sessions/session-store'
import { SessionRef, SessionSummary } from '../../contract/index'
import { toErrorShape } from '../../domain/errors'
import type { Session } from '../../domain/session/session'
import { appVersion } from '../version'
import { listRecordings } from './recordings'
import { recordedRef } from '../../domain/session/session-ref'
import { listedKind, summaryOf } from '../../domain/session/session-summary'
import { storeOf, mountedRef, type SessionPlaces } from './session-places'

const kindOfFolder = async (folder: string, session: Session): Promise<SessionSummary['kind']> =>
  (await isImported(folder)) ? 'imported' : listedKind(session)

async function describeFolder(name: string, folder: string): Promise<Described<SessionSummary>> {
  const title = await readTitle(folder)
  try {
    const session = await readSession(folder)
    const kind = await kindOfFolder(folder, session)
    return { value: summaryOf(name, kind, name, session, title), keep: true }
  } catch (error) {
    const value: SessionSummary = {
      ref: name,
      kind: 'live',
      name,
      title,
      createdAt: '',
      ladder: { id: '', title: '' },
      problem: null,
      deviceName: null,
      profile: 'none',
      rungCount: 0,
      damaged: toErrorShape(error).message,
    }
    return { value, keep: false }
  }
}

/**
 * Returns the store's sessions, newest first. Includes unreadable folders, each with the reason.
 */
export async function listOwn(
  places: SessionPlaces,
  onMany?: (count: number) => void,
): Promise<SessionSummary[]> {
  const found = await indexed({
    root: storeOf(places),
    cache: places.machine.folders.cache,
    name: 'sessions',
    version: appVersion,
    schema: SessionSummary,
    describe: describeFolder,
    onMany,
  })
  return [...found.values()]
    .filter(({ ref }) => SessionRef.safeParse(ref).success)
    .sort((a, b) => (a.createdAt < b.createdAt ? 1 : a.createdAt > b.createdAt ? -1 : 0))
}

/** Returns the mounted session, the store's sessions, and the recordings, in this order. */
export async function listAll(
  places: SessionPlaces,
  onMany?: (count: number) => void,
): Promise<SessionSummary[]> {
  const { mounted } = places
  const stored = await listOwn(places, onMany)
  const first = mounted === undefined ? [] : [await mountedSummary(mounted)]
  const live = [...first, ...stored.filter(({ ref }) => ref !== first[0]?.ref)]
  const recorded = (await listRecordings(places.assets.recordingsDir)).map(
    ({ name, summary }): SessionSummary => ({
      ref: recordedRef(name),
      kind: 'recorded',
      name,
      title: null,
      ...summary,
    }),
  )
  return [...live, ...recorded]
}

async function mountedSummary(folder: string): Promise<SessionSummary> {
  const [session, ref] = [await readSession(folder), mountedRef(folder)]
  return summaryOf(ref, await kindOfFolder(folder, session), ref, session, await readTitle(folder))
}
