/** Sessions of older versions as today's: one upgrader a version, each to the next. Pure. */
import { fromVersion1 } from './from-1'
import { isRecord, type Json } from './json'

const upgraders: Readonly<Record<number, (session: Json) => Json>> = { 1: fromVersion1 }

/** The JSON of a session as this version's schema has it; one of this version, or of none, as it is. */
export function upgraded(session: Json): Json {
  const version = isRecord(session) && typeof session.schema === 'number' ? session.schema : NaN
  const upgrade = upgraders[version]
  return upgrade ? upgraded(upgrade(session)) : session
}
