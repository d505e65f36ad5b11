/**
 * Tests digests of all figures in all built-in recordings, both stored and replayed.
 * test/captures/sessions/shipped-figures.json has the digests from before version 1 recordings were
 * converted. Do not regenerate that file, because it would lose the digests of replaced recordings.
 * Renamed rungs are listed under their current ids, and their figures were compared without ids.
 */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { readSession } from '../../../src-main/adapters/sessions/session-store'
import type { DeepProfile } from '../../../src-main/domain/session/deep'
import type { RungResult, Session } from '../../../src-main/domain/session/session'
import { openSession } from '../../../src-main/services/sessions/open-session'
import { recordingsDir, root, setupIn } from '../support'
import { sharedSessions, sharingSessions } from '../../../src-main/adapters/disk/shared-sessions'
import {
  listRecordedAttempts,
  recordedEvidence,
  recordedOutcomeOf,
} from '../../../src-main/adapters/labs/recorded-attempts'

/** Returns a value with sorted keys, so that equal content results in equal text. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, one]) => one !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, one]) => [key, canonical(one)]),
  )
}

const digest = (value: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(canonical(value)))
    .digest('hex')
    .slice(0, 16)

/**
 * Returns a rung's figures. For a mismatch, the figures include its values but not its location.
 */
function figuresOf(rung: RungResult): object {
  const { title, status, reason, diagnostics, build, timing, launches, profile } = rung
  const verified = (verify: RungResult['verify']): object | null =>
    verify && {
      passed: verify.passed,
      worstRelativeError: verify.worstRelativeError,
      mismatches: verify.mismatches,
      outOfBounds: verify.outOfBounds.length > 0,
      expected: verify.firstMismatch?.expected,
      actual: verify.firstMismatch?.actual,
    }
  return {
    ...{ title, status, reason, diagnostics, build, launches, profile },
    timing: timingOf(timing),
    verify: verified(rung.verify),
    alsoVerified: rung.alsoVerified?.map((also) => ({
      reason: also.reason,
      verify: verified(also.verify),
    })),
    metrics: rung.metrics,
    ncuMetrics: rung.ncuMetrics,
  }
}

/** Returns a timing without the fields that depend only on a setting. */
function timingOf(timing: RungResult['timing']): object | null {
  if (timing === null) return null
  const { cacheState: _state, burst, ...shown } = timing
  if (!burst) return shown
  const { cacheState: _burstState, ...shownBurst } = burst
  return { ...shown, burst: shownBurst }
}

/**
 * Returns a device without the GPU's modes (ECC and MIG), because only later versions read the
 * modes from the raw output.
 */
function deviceOf({ device }: Session): object | null {
  if (device === null) return null
  const { ecc: _ecc, mig: _mig, ...shown } = device
  return shown
}

function sessionFigures(session: Session): object {
  const device = deviceOf(session)
  const { createdAt, ceilings, tools, completion, warnings } = session
  const { cacheState, ...others } = session.settings
  const settings = { ...others, flushL2: cacheState === 'cold-dirty' }
  const { elapsedSeconds, ladder } = session
  return {
    ...{ createdAt, device, ceilings, tools, settings, completion, warnings, elapsedSeconds },
    published: ladder.published,
  }
}

/**
 * Returns a session with only the metrics that the recording stores. Metrics that were added to the
 * registry later are excluded.
 */
const withMetricsOf = (stored: Session, session: Session): Session => ({
  ...session,
  rungs: session.rungs.map((rung, index) => ({
    ...rung,
    metrics: Object.fromEntries(
      Object.entries(rung.metrics).filter(([id]) =>
        Object.hasOwn(stored.rungs[index]?.metrics ?? {}, id),
      ),
    ),
  })),
})

/** Returns a digest of the whole session and a digest of each rung. */
function digestsOf(session: Session, stored = session): Record<string, string> {
  return {
    session: digest(sessionFigures(session)),
    ...Object.fromEntries(
      withMetricsOf(stored, session).rungs.map((rung) => [rung.id, digest(figuresOf(rung))]),
    ),
  }
}

/**
 * Returns a profile without its version and without the kind of samples, because that field was
 * added later.
 */
const profileFigures = (profile: DeepProfile | null): object | null =>
  profile && {
    ...{ ...profile, schema: 1 },
    kernels: profile.kernels.map(({ stallSamples: _samples, ...kernel }) => kernel),
  }

/**
 * Returns the figures of a recording's session.json, and the figures from replaying its raw output.
 */
async function shippedFigures(): Promise<Record<string, Record<string, string>>> {
  const places = setupIn(join(root, 'none'), { kernelsDir: join(root, 'cuda-kernels') })
  const found: Record<string, Record<string, string>> = {}
  const names = await sharingSessions(join(recordingsDir, sharedSessions))
  for (const name of names.sort()) {
    const stored = await readSession(join(recordingsDir, name))
    found[name] = digestsOf(stored)
    const opened = await openSession(places, `recorded:${name}`)
    found[`${name} replayed`] = digestsOf(opened.session, stored)
    const deep = await Promise.all(opened.session.rungs.map(({ id }) => opened.deep(id)))
    if (deep.some((profile) => profile !== null))
      found[`${name} deep`] = { profiles: digest(deep.map(profileFigures)) }
  }
  for (const attempt of await listRecordedAttempts(recordingsDir)) {
    const { name } = attempt
    const { outcome, answers } = recordedOutcomeOf(attempt)
    const { session, sanitized } = await recordedEvidence(attempt)
    const { schema: _schema, ...told } = outcome
    found[`labs/${name}`] = {
      outcome: digest({ told, answers, sanitized }),
      ...digestsOf(session),
    }
    const opened = await openSession(places, `recorded:lab.${name}`)
    found[`labs/${name} replayed`] = digestsOf(opened.session, session)
  }
  return found
}

describe('the built-in recordings', () => {
  it(
    'have the same figures as before their conversion, stored and replayed',
    { tags: ['thorough'] },
    async () => {
      const before = JSON.parse(
        await readFile(join(root, 'test/captures/sessions/shipped-figures.json'), 'utf8'),
      ) as Record<string, Record<string, string>>
      const now = await shippedFigures()
      expect(Object.keys(before).length).toBeGreaterThan(40)
      expect(now).toMatchObject(before)
      const later = Object.keys(now).filter((name) => !(name in before))
      for (const name of later.filter((one) => !/ (?:replayed|deep)$/.test(one)))
        expect(now[name], name).toMatchObject(now[`${name} replayed`]!)
    },
  )
})
