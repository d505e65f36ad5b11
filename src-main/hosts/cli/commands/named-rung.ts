/** Finds a session's rung by the name that the user typed. */
import { inputError } from '../../../domain/errors'
import { message } from '../../../domain/messages/message'
import { rungOf, type RungResult, type Session } from '../../../domain/session/session'
import { meantOr } from '../../../domain/text/nearest'

export function namedRung(session: Session, id: string): RungResult {
  const rung = rungOf(session, id)
  if (rung) return rung
  const ids = session.rungs.map((one) => one.id)
  throw inputError(
    message('sessions.noRung', { rung: JSON.stringify(id) }),
    meantOr(id, ids, message('sessions.rungs', { rungs: ids.join(', ') })),
  )
}
