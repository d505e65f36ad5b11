/** `kernel-ladder next`: recommends the next change to a rung and estimates the time saved. */
import { inputError } from '../../../domain/errors'
import { message } from '../../../domain/messages/message'
import { appVersion } from '../../../services/version'
import { givenFile } from '../../../adapters/disk/names'
import { readImport, type ReadImport } from '../../../services/import/import-ncu'
import { adviseOn, rungToChange } from '../../../services/next/advise'
import { openNamed } from '../../../services/sessions/open-session'
import { newestOwn } from '../../../services/sessions/newest-session'
import type { SessionPlaces } from '../../../services/sessions/session-places'
import { describeNext } from '../describe/describe-next'
import { nextDocument } from '../documents/next'
import { noteReading, printJson, printText } from '../output'
import { namedRung } from './named-rung'

/**
 * Whether a name refers to an ncu file. Such a file is analyzed directly, without creating a
 * session.
 */
const isReport = (name: string): boolean => /\.(ncu-repz?|csv)$/i.test(name)

async function opened(places: SessionPlaces, name: string | undefined): Promise<ReadImport> {
  if (name === undefined || !isReport(name))
    return openNamed(places, name ?? (await newestOwn(places, noteReading)))
  const { path, remove } = await givenFile(name)
  try {
    return await readImport(path, { appVersion, names: new Map() })
  } finally {
    await remove()
  }
}

export async function nextCommand(
  places: SessionPlaces,
  /** Session name. The default is the newest session in the store. */
  name: string | undefined,
  /** Rung id. The default is the rung with the largest potential gain. */
  id: string | undefined,
  { json }: { json?: boolean },
): Promise<number> {
  const session = await opened(places, name)
  const rung =
    id === undefined ? await rungToChange(places, session) : namedRung(session.session, id)
  if (rung === null) throw inputError(message('next.noRung'), message('next.nameRung'))
  const next = await adviseOn(places, session, rung)
  if (json) printJson(nextDocument, next)
  else printText(describeNext(next))
  return 0
}
