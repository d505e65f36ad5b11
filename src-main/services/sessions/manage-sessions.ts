/** Naming, deleting, restoring and importing sessions of the store, by ref. */
import { basename, dirname, join, sep } from 'node:path'
import { pathExists } from '../../adapters/disk/disk'
import { isHtmlFile } from '../../adapters/sessions/report-file'
import {
  listDeleted,
  moveToTrash,
  restoreFromTrash,
  writeTitle,
} from '../../adapters/sessions/labels-and-trash'
import { SessionRef } from '../../contract'
import { recordingOf, type DeletedSession, type ImportAnswer } from '../../contract/sessions'
import { inputError, KernelLadderError } from '../../domain/errors'
import { message, withTexts } from '../../domain/messages/message'
import { importReport, importHtml } from '../import/import-report'
import { mountedRef, storeOf, type SessionPlaces } from './sessions'

/** The folder name in the store for a ref; recordings and other folders are rejected. */
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

/**
 * Imports a file that was handed to a host. Messages mention only the file name, because in a browser the folder is
 * a temporary one, which means nothing to the user.
 */
export async function importFile(
  path: string,
  { store, appVersion }: { store: string; appVersion: string },
): Promise<ImportAnswer> {
  try {
    const { folder } = (await isHtmlFile(path))
      ? await importHtml(path, { store })
      : await importReport(path, { store, appVersion })
    return { ref: basename(folder) }
  } catch (error) {
    if (!(error instanceof KernelLadderError)) throw error
    const named = (text: string) => text.replaceAll(dirname(path) + sep, '')
    throw new KernelLadderError(
      error.kind,
      withTexts(error.statement, named),
      error.remedy && withTexts(error.remedy, named),
      { cause: error },
    )
  }
}
