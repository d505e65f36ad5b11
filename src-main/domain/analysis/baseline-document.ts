/** The JSON document of `report --ci --json`; docs/schemas/ci.json is generated from this schema. */
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

/** `code` is stable and meant for programs; `text` is meant for people and may change. */
const Statement = z.object({ code: z.string(), text: z.string() })

const ChangeDocument = z.object({
  /** The new median time divided by the baseline's. */
  ratio: z.number(),
  low: z.number(),
  high: z.number(),
})

const CheckedSession = z.object({
  id: z.string(),
  createdAt: z.iso.datetime(),
  ladder: z.string(),
  /** null for an import, whose problem is unknown. */
  problem: Problem.nullable(),
  gpu: z.string().nullable(),
  computeCapability: z.string().nullable(),
  /** L2 contents when its rungs were timed; null if nothing was timed. */
  cacheState: CacheState.nullable(),
})

export const CiDocument = z.object({
  schema: z.literal(ciSchemaId),
  version: z.literal(ciSchemaVersion),
  verdict: z.enum(checkVerdicts),
  /** The exit code of `report --ci`: 0 pass, 1 fail, 2 unresolved. */
  exitCode: z.union([z.literal(0), z.literal(1), z.literal(2)]),
  headline: z.string(),
  thresholdPercent: z.number(),
  baseline: CheckedSession,
  now: CheckedSession,
  /** Why no times are compared; empty if they are. */
  obstacles: z.array(Statement),
  /** Notes in addition to the verdicts. */
  notes: z.array(Statement),
  /** Whether times were normalized by the reference because all of them drifted together. */
  normalized: z.boolean(),
  rungs: z.array(
    z.object({
      id: z.string(),
      title: z.string(),
      verdict: z.enum(rungVerdicts),
      reasons: z.array(Statement).min(1),
      /** null for a session that lacks the rung. */
      status: z.object({ baseline: RungStatus.nullable(), now: RungStatus.nullable() }),
      medianMs: z.object({ baseline: z.number().nullable(), now: z.number().nullable() }),
      /** Change of the measured times; null if they have no interval. */
      change: ChangeDocument.nullable(),
      /** Change relative to the reference, if the verdict used it. */
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
