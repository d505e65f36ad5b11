/**
 * Extracts facts about sessions, rungs and machine code for tool results, as plain figures with
 * units.
 */
import { stepTo } from '../../domain/analysis/climb'
import { libraryClaim } from '../../domain/analysis/library-claim'
import { timeNotes } from '../../domain/analysis/time-notes'
import { bottleneckOf } from '../../domain/analysis/bottleneck'
import { inputError } from '../../domain/errors'
import { metricDefinition } from '../../domain/metrics/metrics'
import { formatPredictedMs } from '../../domain/metrics/predicted-range'
import { formatMs, formatValue } from '../../domain/metrics/units'
import { lineHeat, type DeepProfile, type HeatKind, type Work } from '../../domain/session/deep'
import { rungOf, type RungResult, type Session } from '../../domain/session/session'
import { inEnglish } from '../../domain/text/english'
import { isEmulated } from '../../domain/targets/targets'
import { type Cause, type Why } from '../../domain/why/why'
import type { SessionSummary } from '../../contract'
import { nearest } from '../../domain/text/nearest'
import { formatFactor } from '../../domain/why/contributions'
import type { Next } from '../../domain/next/next'
import { rounded } from './answers'

export const sessionFacts = (one: SessionSummary) => ({
  session: one.ref,
  kind: one.kind,
  ladder: one.ladder.title,
  gpu: one.deviceName,
  made: one.createdAt,
  profile: one.profile,
  ...(one.cacheState === undefined ? {} : { l2: one.cacheState }),
  rungs: one.rungCount,
  ...(one.title === null ? {} : { title: one.title }),
  ...(one.damaged === undefined ? {} : { damaged: inEnglish(one.damaged) }),
})

const metricFacts = (id: string, value: number | null | undefined) => ({
  metric: id,
  label: metricDefinition(id)?.label ?? id,
  value: rounded(value),
  unit: metricDefinition(id)?.unit ?? null,
})

/**
 * Returns the time in milliseconds. The time was measured with CUDA events or, for imported
 * kernels, by ncu.
 */
const timeOf = ({ timing, profiledTime }: RungResult): number | null =>
  timing?.medianMs ?? profiledTime?.medianMs ?? null

export function limitFacts(session: Session, rung: RungResult) {
  const found = bottleneckOf(session, rung)
  return found === null
    ? null
    : {
        class: found.class,
        ...(found.also.length > 0 ? { also: found.also } : {}),
        leaning: found.leaning,
        evidence: found.evidence.map(({ label, value, unit, threshold, side }) => ({
          label,
          value: rounded(value),
          unit,
          threshold,
          side,
        })),
        missing: found.missing,
      }
}

/** Returns details of a rung's timing. Returns no details for a kernel that ncu timed. */
function timingFacts(session: Session, rung: RungResult) {
  const { timing } = rung
  if (!timing) return {}
  const { cacheState, referenceMedianMs, burst, sustained } = timing
  const notes = timeNotes(timing).map(inEnglish)
  const step = stepTo(session, rung)
  const claimed = libraryClaim(session, rung)
  return {
    l2: cacheState,
    ...(notes.length > 0 ? { timeNotes: notes } : {}),
    ...(rung.id === session.ladder.reference ? {} : { referenceMs: rounded(referenceMedianMs) }),
    ...(burst
      ? { burst: { ms: rounded(burst.medianMs), toReference: rounded(burst.ratioToReference) } }
      : {}),
    ...(sustained
      ? {
          sustained: {
            ms: rounded(sustained.medianMs),
            toReference: rounded(sustained.ratioToReference),
            smClockMHz: rounded(sustained.smClockMHz),
            powerW: rounded(sustained.powerW),
          },
        }
      : {}),
    ...(claimed ? { againstReference: claimed.claim } : {}),
    ...(step ? { step: { from: step.from.id, factor: rounded(step.factor) } } : {}),
  }
}

/**
 * Returns the predicted time and its range. Returns no fields if the session has no prediction.
 */
const predictedFacts = ({ predicted }: RungResult) =>
  predicted
    ? {
        predicted: {
          ms: rounded(predicted.ms),
          lowMs: rounded(predicted.lowMs),
          highMs: rounded(predicted.highMs),
          limiter: predicted.limiter,
        },
      }
    : {}

/** Returns the kernel's registers, its shared memory in bytes, and its register spills. */
const resourceFacts = ({ build }: RungResult) =>
  build
    ? {
        resources: {
          registersPerThread: build.registersPerThread,
          staticSharedBytes: build.staticSharedBytes,
          spillStoreBytes: build.spillStoreBytes,
          spillLoadBytes: build.spillLoadBytes,
        },
      }
    : {}

export function rungFacts(session: Session, rung: RungResult) {
  const limit = bottleneckOf(session, rung)
  return {
    rung: rung.id,
    title: rung.title,
    status: rung.status,
    ms: rounded(timeOf(rung)),
    ...predictedFacts(rung),
    toReference: rounded(rung.timing?.ratioToReference),
    ...timingFacts(session, rung),
    ...resourceFacts(rung),
    limitedBy: limit?.class ?? null,
    ...(limit && limit.also.length > 0 ? { alsoLimitedBy: limit.also } : {}),
    ...(rung.reason ? { reason: inEnglish(rung.reason) } : {}),
  }
}

export function namedRung(session: Session, id: string): RungResult {
  const rung = rungOf(session, id)
  if (rung) return rung
  const ids = session.rungs.map((one) => one.id)
  const near = nearest(id, ids)
  throw inputError(
    `The session has no rung ${JSON.stringify(id)}.`,
    near === null ? `It has: ${ids.slice(0, 20).join(', ')}.` : `Did you mean ${near}?`,
  )
}

const causeFacts = ({ id, statement, factor, metrics, lines }: Cause) => ({
  cause: id,
  factor: rounded(factor),
  statement: inEnglish(statement),
  metrics: metrics.map((one) => {
    const { value: a, ...rest } = metricFacts(one.id, one.a)
    return { ...rest, a, b: rounded(one.b) }
  }),
  ...(lines === undefined ? {} : { lines }),
})

/**
 * Returns a speedup's causes. The product of all factors, including the unexplained factor, equals
 * the speedup.
 */
export const whyFacts = (why: Why) => ({
  verdict: why.verdict,
  ...(why.flags === undefined ? {} : { flags: inEnglish(why.flags) }),
  causes: why.causes.map(causeFacts),
  notExplained: rounded(why.unexplainedFactor),
  didNotMatter: why.unimportant.map(({ statement }) => inEnglish(statement)),
  ...(why.reason === undefined ? {} : { noCauses: inEnglish(why.reason) }),
  ...(why.needs === null ? {} : { moreWith: inEnglish(why.needs.statement) }),
})

export function causeSummary({ causes, reason }: Why): string {
  const [first] = causes
  return first
    ? `${formatFactor(first.factor)} ${inEnglish(first.statement)}`
    : inEnglish(reason ?? 'Nothing explains the step.')
}

/** Returns only the values that were actually counted. */
const workFacts = (work: Work): Record<string, number | Record<string, number>> =>
  Object.fromEntries(
    (
      [
        ['executed', work.executed],
        ['samples', work.samples],
        ['stalls', work.stalls],
        ['sharedWavefronts', work.sharedWavefronts],
        ['sharedWavefrontsIdeal', work.sharedWavefrontsIdeal],
        ['globalSectors', work.globalL2Sectors],
        ['globalSectorsIdeal', work.globalL2SectorsIdeal],
      ] as const
    ).flatMap(([name, value]) => (value === null || value === 0 ? [] : [[name, value]])),
  )

/**
 * Returns a line from the rung's own file. Needed for profiles that contain no source text. For
 * emulated code, the session stores the sources.
 */
const textIn = (source: string | undefined, line: number): string =>
  source?.split('\n')[line - 1] ?? ''

/** Returns lines ranked by a counter. Each line includes all its counters. */
export function lineFacts(
  profile: DeepProfile,
  by: HeatKind,
  rung: RungResult,
  sources: Readonly<Record<string, string>>,
) {
  const all = profile.kernels.flatMap(({ lines }) => lines)
  return lineHeat(profile, by).map(({ file, line, text, share }) => {
    const own = all.filter((one) => one.file === file && one.line === line)
    return {
      at: `${file}:${line}`,
      text: (text ?? (file === rung.file ? textIn(sources[rung.id], line) : '')).trim(),
      share: rounded(share),
      ...(own.length === 1 ? workFacts(own[0]!) : { [by]: sum(own, by) }),
    }
  })
}

const sum = (works: readonly Work[], by: HeatKind): number =>
  works.reduce((total, work) => total + (work[by] ?? 0), 0)

export const instructionFacts = (one: DeepProfile['kernels'][number]['instructions'][number]) => ({
  offset: `0x${one.offset.toString(16)}`,
  sass: one.text,
  ...(one.file === null ? {} : { at: `${one.file}:${one.line}` }),
  ...workFacts(one),
})

export const adviceFacts = (profile: DeepProfile) =>
  profile.kernels
    .flatMap(({ rules }) => rules)
    .filter(({ kind }) => kind !== 'info')
    .sort((a, b) => (b.estimatedSpeedup ?? 0) - (a.estimatedSpeedup ?? 0))
    .slice(0, 3)
    .map(({ name, text, estimatedSpeedup }) => ({
      rule: name,
      text,
      estimatedSpeedupPercent: rounded(estimatedSpeedup),
    }))

export const isTimed = (rung: RungResult): boolean => timeOf(rung) !== null

export const rungSummary = (session: Session, rung: RungResult): string => {
  const ms = timeOf(rung)
  const found = bottleneckOf(session, rung)
  const [first] = found?.evidence ?? []
  const emulated = isEmulated(session.target)
  const { predicted } = rung
  const untimed = predicted ? formatPredictedMs(predicted) : emulated ? 'emulated' : 'no time'
  const time = ms === null ? untimed : formatMs(ms)
  const unlimited = emulated && !predicted ? 'counted and not timed' : 'not profiled'
  const limit =
    found === null ? unlimited : `limited by ${[found.class, ...found.also].join(' and ')}`
  return `${rung.id}: ${time}, ${limit}${first ? ` (${first.label} ${formatValue(first.value, first.unit)})` : ''}`
}

/** Returns advice in English, with times in milliseconds. */
export const nextFacts = ({ rung, steps, limit }: Next) => ({
  rung,
  limit: inEnglish(limit),
  steps: steps.map(
    ({ id, statement, costs, speedup, msNow, msAfter, evidence, lines, example }) => ({
      ...{ id, change: inEnglish(statement), costs: inEnglish(costs), speedup },
      msNow: rounded(msNow),
      msAfter,
      evidence: evidence.map((one) => inEnglish(one)),
      ...(lines
        ? { lines: lines.map(({ file, line, text }) => ({ at: `${file}:${line}`, text })) }
        : {}),
      ...(example ? { example } : {}),
    }),
  ),
})
