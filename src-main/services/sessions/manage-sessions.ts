/** Renames, deletes, and restores sessions in the store by their refs. */
import { join } from 'node:path'
import { pathExists } from '../../adapters/disk/disk'
import {
  listDeleted,
  moveToTrash,
  restoreFromTrash,
  writeTitle,
} from '../../adapters/sessions/labels-and-trash'
import { SessionRef } from '../../contract/index'
import type { DeletedSession } from '../../contract/sessions'
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import { recordingOf } from '../../domain/session/session-ref'
import { storeOf, mountedRef, type SessionPlaces } from './session-places'

/** Returns a ref's folder name in the store. Rejects recordings and folders outside the store. */
function ownName(
  places: SessionPlaces,
  ref: string,
  verb: 'renamed' | 'deleted' | 'restored',
): string {
  const what = { session: ref, changed: message(`sessions.${verb}`) }
  if (recordingOf(ref) !== null) throw inputError(message('sessions.shipped', what))
  if (places.mounted !== undefined && mountedRef(places.mounted) === ref)
    throw inputError(message('sessions.mounted', what), message('sessions.changeFolder'))
  return ref
}

export async function renameSession(
  places: SessionPlaces,
  ref: string,
  title: string | null,
): Promise<void> {
  const folder = join(storeOf(places), ownName(places, ref, 'renamed'))
  if (!(await pathExists(folder))) throw inputError(message('sessions.none', { session: ref }))
  await writeTitle(folder, title)
}

export const deleteSession = (places: SessionPlaces, ref: string): Promise<void> =>
  moveToTrash(storeOf(places), ownName(places, ref, 'deleted'))

export const restoreSession = (places: SessionPlaces, ref: string): Promise<void> =>
  restoreFromTrash(storeOf(places), ownName(places, ref, 'restored'))

export async function deletedSessions(places: SessionPlaces): Promise<DeletedSession[]> {
  const found = await listDeleted(storeOf(places))
  return found
    .filter(({ name }) => SessionRef.safeParse(name).success)
    .map(({ name, ...rest }) => ({ ref: name, ...rest }))
}
