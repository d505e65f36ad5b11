/** Finds the session to use if the user does not name a session. */
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import { defaultRecordingRef } from './open-session'
import { listOwn } from './list-sessions'
import type { SessionPlaces } from './session-places'

/**
 * Returns the newest readable session in the store. If the store has no readable session, throws an
 * error that suggests a recording.
 */
export async function newestOwn(
  places: SessionPlaces,
  onMany?: (count: number) => void,
): Promise<string> {
  const own = await listOwn(places, onMany)
  const newest = own.find(({ damaged }) => damaged === undefined)
  if (newest) return newest.ref
  const recording = await defaultRecordingRef(places).catch(() => null)
  throw inputError(
    message('sessions.noOwn'),
    recording === null
      ? message('sessions.makeOne')
      : message('sessions.nameRecording', { recording }),
  )
}
