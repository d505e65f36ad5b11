/**
 * Upgrades sessions from version 2 to version 3, which stores the L2 contents with every time. Version 2 flushed L2 by overwriting a
 * buffer, which left dirty lines, or did not flush at all. Damaged values are passed through for the schema to reject. Pure.
 */
import type { CacheState } from '../session'
import { eachRecord, isRecord, withPart, type Json, type JsonRecord } from './json'

/** Only the first launch of a burst followed a flush. */
const timing =
  (cacheState: CacheState) =>
  (old: Json): Json =>
    isRecord(old)
      ? withPart({ ...old, cacheState }, 'burst', (burst) =>
          isRecord(burst)
            ? { ...burst, cacheState: cacheState === 'warm' ? 'warm' : 'unknown' }
            : burst,
        )
      : old

export function sessionFrom2(session: Json): Json {
  if (!isRecord(session) || !isRecord(session.settings)) return session
  const { flushL2, ...settings } = session.settings
  const ofRunner: CacheState = flushL2 === true ? 'cold-dirty' : 'warm'
  const rung = (old: JsonRecord): JsonRecord =>
    withPart(old, 'timing', timing(old.program === undefined ? ofRunner : 'unknown'))
  const rungs = eachRecord(session.rungs, rung)
  // The L2 contents of programs are unknown.
  const isTimed =
    Array.isArray(rungs) &&
    rungs.some((one: Json) => isRecord(one) && isRecord(one.timing) && one.program === undefined)
  return {
    ...session,
    schema: 3,
    settings: isTimed ? { ...settings, cacheState: ofRunner } : settings,
    rungs,
  }
}

export function frozenReportFrom2(report: Json): Json {
  if (!isRecord(report)) return report
  return {
    ...report,
    report: 3,
    sessions: eachRecord(report.sessions, (one) => withPart(one, 'session', sessionFrom2)),
  }
}
