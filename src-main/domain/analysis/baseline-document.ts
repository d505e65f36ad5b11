/**
 * The JSON document that `report --ci --json` prints. docs/schemas/ci.json is generated from this
 * schema.
 */
import { z } from 'zod'
import { checkVerdicts, rungVerdicts, type BaselineCheck, type RungCheck } from './baseline-check'
import type { Change } from './time-change'
import { exitCodes } from '../errors'
import type { AnyMessage } from '../messages/message'
import { inEnglish } from '../text/english'
import { Problem } from '../task/problem'
import { CacheState, RungStatus, type Session } from '../session/session'

const ciSchemaId = 'kernel-ladder/ci'
export const ciSchemaVersion = 2

/**
 * A statement with a code for programs and a text for people. `code` is stable. `text` may change
 * between versions.
 */
const Statement = z.object({ code: z.string(), text: z.string() })

const ChangeDocument = z.object({
  /** New median time divided by the baseline's median time. */
  ratio: z.number(),
  low: z.number(),
  high: z.number(),
})

const CheckedSession = z.object({
  id: z.string(),
  createdAt: z.iso.datetime(),
  ladder: z.string(),
  /** The session's problem. Null for an imported session, because its problem is unknown. */
  problem: Problem.nullable(),
  gpu: z.string().nullable(),
  computeCapability: z.string().nullable(),
  /** L2 contents while the rungs were timed, or null if no rung was timed. */
  cacheState: CacheState.nullable(),
})

export const CiDocument = z.object({
  schema: z.literal(ciSchemaId),
  version: z.literal(ciSchemaVersion),
  verdict: z.enum(checkVerdicts),
  /** Exit code of `report --ci`: 0 for pass, 1 for fail, 2 for unresolved. */
  exitCode: z.union([z.literal(0), z.literal(1), z.literal(2)]),
  headline: z.string(),
  thresholdPercent: z.number(),
  baseline: CheckedSession,
  now: CheckedSession,
  /** Reasons why no times are compared. The list is empty if times are compared. */
  obstacles: z.array(Statement),
  /** Notes in addition to the verdicts. */
  notes: z.array(Statement),
  /** Whether times were normalized by the reference because all times drifted together. */
  normalized: z.boolean(),
  rungs: z.array(
    z.object({
      id: z.string(),
      title: z.string(),
      verdict: z.enum(rungVerdicts),
      reasons: z.array(Statement).min(1),
      /** Status in each session. Null if the session lacks the rung. */
      status: z.object({ baseline: RungStatus.nullable(), now: RungStatus.nullable() }),
      medianMs: z.object({ baseline: z.number().nullable(), now: z.number().nullable() }),
      /** Change in the measured time, or null if there is no confidence interval. */
      change: ChangeDocument.nullable(),
      /** Change relative to the reference, or null if the verdict did not use that change. */
      normalized: ChangeDocument.nullable(),
    }),
  ),
})
export type CiDocument = z.infer<typeof CiDocument>

export const checkExitCodes = { pass: 0, fail: exitCodes.failed, unresolved: 2 } as const

const statement = (statement: AnyMessage) => ({ code: statement.key, text: inEnglish(statement) })

const session = (one: Session): CiDocument['now'] => ({
  id: one.id,
  createdAt: one.createdAt,
  ladder: one.ladder.id,
  problem: one.problem,
  gpu: one.device?.name ?? null,
  computeCapability: one.device?.computeCapability ?? null,
  cacheState: one.settings.cacheState ?? null,
})

const numbers = (change: Change | null): CiDocument['rungs'][number]['change'] =>
  change && { ratio: change.ratio, low: change.low, high: change.high }

const rung = ({ id, title, verdict, reasons, status, medianMs, ...changes }: RungCheck) => ({
  id,
  title,
  verdict,
  reasons: reasons.map(statement),
  status,
  medianMs,
  change: numbers(changes.change),
  normalized: numbers(changes.normalized),
})

export const ciDocument = (check: BaselineCheck, baseline: Session, now: Session): CiDocument => ({
  schema: ciSchemaId,
  version: ciSchemaVersion,
  verdict: check.verdict,
  exitCode: checkExitCodes[check.verdict] as CiDocument['exitCode'],
  headline: inEnglish(check.headline),
  thresholdPercent: check.thresholdPercent,
  baseline: session(baseline),
  now: session(now),
  obstacles: check.obstacles.map(statement),
  notes: check.notes.map(statement),
  normalized: check.normalized,
  rungs: check.rungs.map(rung),
})
