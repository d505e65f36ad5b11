/**
 * Upgrades sessions from version 2 to version 3, which stores the L2 state with every time. Version
 * 2 either overwrote a buffer to flush L2, which left dirty lines, or did not flush. Invalid values
 * are passed through, so that the schema rejects them. Pure.
 */
import type { CacheState } from '../session'
import { eachRecord, isRecord, withPart, type Json, type JsonRecord } from './json'

/** Upgrades a timing. In a burst, only the first launch followed a flush. */
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
  // The L2 state of programs is unknown.
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
