/**
 * Recordings of version 1 opened through the upgrader: every figure is what that version of the program
 * showed, and every sentence says the same. test/captures/sessions/shipped-figures-1.json holds what
 * `shippedFigures` told under version 1, at the last commit before schema 2. It is not to be made anew: a
 * recording that is replaced by a new one loses its lines.
 */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import {
  listRecordedAttempts,
  recordedEvidence,
  recordedOutcomeOf,
} from '../../../src-main/adapters/labs/attempt'
import { readSession } from '../../../src-main/adapters/sessions/session-store'
import type { Statement } from '../../../src-main/domain/messages/message'
import type { RungResult, Session } from '../../../src-main/domain/session/session'
import { openSession } from '../../../src-main/services/sessions/sessions'
import { withMetricsOf1, saidIn1 } from '../../version-1'
import { recordingsDir, root, setupIn } from '../support'
import { sharedSessions, sharingSessions } from '../../../src-main/adapters/disk/journal'

// Every figure of every recording that ships, as short digests, so that two versions of the program can be
// held against each other. What a version may say in other words is set apart from what it may not change.

/** How a statement, which is not a string, is said. */
export type Say = (statement: Exclude<Statement, string>) => string

const isStatement = (value: object): value is Exclude<Statement, string> =>
  ('key' in value && 'values' in value) || 'sentences' in value

/** Keys in order and statements in words, so that equal content is equal text. */
function canonical(value: unknown, say: Say): unknown {
  if (Array.isArray(value)) return value.map((one) => canonical(one, say))
  if (typeof value !== 'object' || value === null) return value
  if (isStatement(value)) return say(value)
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, one]) => one !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, one]) => [key, canonical(one, say)]),
  )
}

const digest = (value: unknown, say: Say): string =>
  createHash('sha256')
    .update(JSON.stringify(canonical(value, say)))
    .digest('hex')
    .slice(0, 16)

/** Where a mismatch lies, and what was computed, are told in another shape by each schema. */
function figuresOf(rung: RungResult): object {
  const { id, title, status, reason, diagnostics, build, timing, launches, profile } = rung
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
    ...{ id, title, status, reason, diagnostics, build, launches, profile },
    timing: timingOf1(timing),
    verify: verified(rung.verify),
    alsoVerified: rung.alsoVerified?.map((also) => ({
      reason: also.reason,
      verify: verified(also.verify),
    })),
    metrics: rung.metrics,
    ncuMetrics: rung.ncuMetrics,
  }
}

/** What L2 held follows from a setting of version 1. */
function timingOf1(timing: RungResult['timing']): object | null {
  if (timing === null) return null
  const { cacheState: _state, burst, ...shown } = timing
  if (!burst) return shown
  const { cacheState: _burstState, ...shownBurst } = burst
  return { ...shown, burst: shownBurst }
}

/** The modes of the GPU, read of the same raw output since. */
function deviceOf1({ device }: Session): object | null {
  if (device === null) return null
  const { ecc: _ecc, mig: _mig, ...shown } = device
  return shown
}

function sessionFigures(session: Session): object {
  const device = deviceOf1(session)
  const { createdAt, ceilings, tools, completion, warnings } = session
  const { cacheState, ...others } = session.settings
  const settings = { ...others, flushL2: cacheState === 'cold-dirty' }
  const { elapsedSeconds, ladder } = session
  return {
    ...{ createdAt, device, ceilings, tools, settings, completion, warnings, elapsedSeconds },
    published: ladder.published,
  }
}

/** By what it is of: the session as a whole, then each rung. */
function digestsOf(session: Session, say: Say): Record<string, string> {
  return {
    session: digest(sessionFigures(session), say),
    ...Object.fromEntries(
      withMetricsOf1(session).rungs.map((rung) => [rung.id, digest(figuresOf(rung), say)]),
    ),
  }
}

/** What is read of a recording's own session.json, and what comes of replaying its raw output. */
export async function shippedFigures(say: Say): Promise<Record<string, Record<string, string>>> {
  const places = setupIn(join(root, 'none'), { kernelsDir: join(root, 'cuda-kernels') })
  const found: Record<string, Record<string, string>> = {}
  const names = await sharingSessions(join(recordingsDir, sharedSessions))
  for (const name of names.sort()) {
    found[name] = digestsOf(await readSession(join(recordingsDir, name)), say)
    const opened = await openSession(places, `recorded:${name}`)
    found[`${name} replayed`] = digestsOf(opened.session, say)
    const deep = await Promise.all(opened.session.rungs.map(({ id }) => opened.deep(id)))
    if (deep.some((profile) => profile !== null))
      // Their version is no figure.
      found[`${name} deep`] = {
        profiles: digest(
          deep.map((profile) => profile && { ...profile, schema: 1 }),
          say,
        ),
      }
  }
  for (const attempt of await listRecordedAttempts(recordingsDir)) {
    const { name } = attempt
    const { outcome, answers } = recordedOutcomeOf(attempt)
    const { session, sanitized } = await recordedEvidence(attempt)
    const { schema: _schema, ...told } = outcome
    found[`labs/${name}`] = {
      outcome: digest({ told, answers, sanitized }, say),
      ...digestsOf(session, say),
    }
    const opened = await openSession(places, `recorded:lab.${name}`)
    found[`labs/${name} replayed`] = digestsOf(opened.session, say)
  }
  return found
}

describe('the recordings that ship', () => {
  it('show the same figures and say the same as under version 1, stored and replayed', async () => {
    const before = JSON.parse(
      await readFile(join(root, 'test/captures/sessions/shipped-figures-1.json'), 'utf8'),
    ) as Record<string, Record<string, string>>
    const now = await shippedFigures(saidIn1)
    expect(Object.keys(before).length).toBeGreaterThan(50)
    expect(now).toMatchObject(before)
    const later = Object.keys(now).filter((name) => !(name in before))
    for (const name of later.filter((one) => !/ (?:replayed|deep)$/.test(one)))
      expect(now[name], name).toMatchObject(now[`${name} replayed`]!)
  }, 120_000)
})
