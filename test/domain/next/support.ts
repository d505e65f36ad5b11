/** Reads the facts about rungs in the shipped recordings, for tests of the recommendations. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readSession } from '../../../src-main/adapters/sessions/session-store'
import { Past } from '../../../src-main/domain/next/landing'
import { factsOf, type Facts } from '../../../src-main/domain/next/facts'
import { rungOf, type RungResult, type Session } from '../../../src-main/domain/session/session'
import type { Side } from '../../../src-main/domain/why/side'

const root = join(import.meta.dirname, '../../..')
const recordings = join(root, 'resources/recordings')

const read = new Map<string, Promise<Session>>()

export function recorded(name: string): Promise<Session> {
  const known = read.get(name) ?? readSession(join(recordings, name))
  read.set(name, known)
  return known
}

export async function sideOf(
  name: string,
  rung: string,
  over: Partial<RungResult> = {},
): Promise<Side> {
  const session = await recorded(name)
  return { session, rung: { ...rungOf(session, rung)!, ...over } }
}

/**
 * Returns the facts on which a rung's recommendations are based. Throws an error if the rung has no
 * recommendations.
 */
export async function factsOfRung(
  name: string,
  rung: string,
  source: string | null = null,
): Promise<Facts> {
  const facts = factsOf(await sideOf(name, rung), source)
  if (!facts) throw new Error(`Nothing is known of ${rung} in ${name}.`)
  return facts
}

/** The shipped landed.json: how past optimization steps changed the time. */
export const recordedPast = Past.parse(
  JSON.parse(readFileSync(join(recordings, 'landed.json'), 'utf8')),
)

export const projectRoot = root
