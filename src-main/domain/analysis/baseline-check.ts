/**
 * Checks whether a session regressed against a baseline. Each rung gets a verdict with reasons, and
 * the overall verdict combines them. The overall verdict is unresolved if the measurements are
 * inconclusive.
 */
import type { Task } from '../task/task'
import { message, type AnyMessage } from '../messages/message'
import {
  rungOf,
  type RungResult,
  type RungStatus,
  type Session,
  type Timing,
} from '../session/session'
import { clocksDiffer, comparability, otherwiseComputed } from './comparability'
import {
  changeOf,
  clockOf,
  driftOf,
  figures,
  isChange,
  percentChange,
  relativeTo,
  sides,
  where,
  type Change,
  type Drift,
} from './time-change'
import type { Interval } from './confidence-intervals'

/**
 * Possible verdicts on a rung.
 *
 * - slower, faster: the whole interval exceeds the threshold in that direction.
 * - same: any slowdown is at most the threshold.
 * - broken: the rung passed in the baseline but does not pass now.
 * - mended: the rung did not pass in the baseline but passes now.
 * - new: the rung is not in the baseline.
 * - skipped: the rung is unsupported on this GPU in both sessions.
 */
export const rungVerdicts = [
  'slower',
  'broken',
  'unresolved',
  'faster',
  'same',
  'mended',
  'new',
  'skipped',
] as const
export type RungVerdict = (typeof rungVerdicts)[number]

export const checkVerdicts = ['pass', 'fail', 'unresolved'] as const
export type CheckVerdict = (typeof checkVerdicts)[number]

export interface RungCheck {
  id: string
  title: string
  verdict: RungVerdict
  reasons: AnyMessage[]
  status: { baseline: RungStatus | null; now: RungStatus | null }
  medianMs: { baseline: number | null; now: number | null }
  /** Change in the measured time, or null if there is no confidence interval. */
  change: Change | null
  /** Change relative to the reference, if the verdict is based on that change. */
  normalized: Change | null
}

export interface BaselineCheck {
  verdict: CheckVerdict
  headline: AnyMessage
  thresholdPercent: number
  /** Reasons why no times are compared. */
  obstacles: AnyMessage[]
  /** Notes in addition to the verdicts. */
  notes: AnyMessage[]
  /** Whether the verdicts use times relative to the reference. */
  normalized: boolean
  rungs: RungCheck[]
}

/**
 * Findings of `comparability` that make times incomparable. All other findings may result from the
 * change under test itself.
 */
const conditions: ReadonlySet<string> = new Set([
  'guard.gpu',
  'guard.computeCapability',
  'guard.smCount',
  'guard.seed',
  'guard.cacheState',
])

/**
 * Returns the verdict for a confidence interval. An interval that contains the threshold is
 * unresolved.
 */
function judge({ low, high }: Interval, threshold: number): RungVerdict {
  if (low > threshold) return 'slower'
  if (high > threshold) return 'unresolved'
  return high < 1 / threshold ? 'faster' : 'same'
}

type Decision = Pick<RungCheck, 'verdict' | 'reasons' | 'change' | 'normalized'>

const undecided = (
  reasons: AnyMessage[],
  change: Change | null = null,
  normalized: Change | null = null,
): Decision => ({ verdict: 'unresolved', reasons, change, normalized })

const decided = (verdict: RungVerdict, ...reasons: AnyMessage[]): Decision => ({
  verdict,
  reasons,
  change: null,
  normalized: null,
})

interface Terms {
  thresholdPercent: number
  /** The threshold as a time ratio. */
  threshold: number
  drift: Drift | null
  /** The task that the two sessions share, or null if their tasks differ. */
  task: Task | null
  /** Whether the sessions differ in the computed work or in the measurement conditions. */
  otherWork: boolean
  otherConditions: boolean
}

/**
 * Returns the reasons why clock differences leave the verdict undecided. The list is empty if the
 * rung is slower even after correcting for the clocks.
 */
function clockDoubts(a: Timing, b: Timing, change: Change, threshold: number): AnyMessage[] {
  const [before, now] = [clockOf(a), clockOf(b)]
  if (before === null || now === null) return before === now ? [] : [message('guard.clockUnknown')]
  if (!clocksDiffer(before, now) || change.low * Math.min(1, now / before) > threshold) return []
  return [message('guard.clock', { a: before, b: now })]
}

function judged(change: Change, { threshold, thresholdPercent }: Terms): Decision {
  const verdict = judge(change, threshold)
  const reason =
    verdict === 'unresolved'
      ? message('baseline.straddles', { ...figures(change), threshold: thresholdPercent })
      : message('baseline.time', figures(change))
  return { verdict, reasons: [reason], change, normalized: null }
}

function byTime(a: RungResult, b: RungResult, terms: Terms): Decision {
  const { threshold, drift } = terms
  const change = changeOf(a, b)
  if (!isChange(change)) return undecided(change)
  if (terms.otherConditions) return undecided([message('baseline.otherConditions')], change)
  const [before, now] = [a.timing!, b.timing!]
  if (drift?.normalize && b.id === drift.reference)
    return {
      verdict: 'same',
      reasons: [message('baseline.yardstick', figures(change))],
      change,
      normalized: null,
    }
  const relative = drift && b.id !== drift.reference ? relativeTo(drift, before, now, change) : null
  if (drift?.normalize) {
    if (!relative) return undecided([message('baseline.noReferenceTime')], change)
    const { verdict, reasons } = judged(relative, terms)
    const statements =
      verdict === 'unresolved' ? reasons : [message('baseline.normalized', figures(relative))]
    return { verdict, reasons: statements, change, normalized: relative }
  }
  const doubts = clockDoubts(before, now, change, threshold)
  if (doubts.length > 0) return undecided(doubts, change)
  const own = judged(change, terms)
  if (!drift || b.id === drift.reference || own.verdict === 'unresolved') return own
  if (!relative) return undecided([message('baseline.noReferenceTime')], change)
  const verdict = judge(relative, threshold)
  const slower = [own.verdict, verdict].filter((one) => one === 'slower').length
  if (slower === 2 || (slower === 0 && verdict !== 'unresolved')) return own
  const disagreement = message('baseline.disagree', {
    time: message(`rungVerdict.${own.verdict}`),
    relative: message(`rungVerdict.${verdict}`),
    change: percentChange(change.ratio),
    relativeChange: percentChange(relative.ratio),
  })
  return undecided([disagreement], change, relative)
}

/** Returns whether the rung has status ok and did not fail verification. */
const passed = ({ status, verify }: RungResult): boolean =>
  status === 'ok' && verify?.passed !== false

const endOf = (rung: RungResult): AnyMessage =>
  message(rung.status === 'ok' && !passed(rung) ? 'status.wrong' : `status.${rung.status}`)

function byStatus(a: RungResult, b: RungResult, { otherConditions }: Terms): Decision {
  if (passed(b)) {
    if (a.status === 'not-run')
      return undecided([message('baseline.noTime', { where: where(true, false) })])
    return b.verify
      ? decided('mended', message('baseline.mended', { status: endOf(a) }))
      : undecided([message('baseline.unverified', { where: message(sides.now) })])
  }
  if (!passed(a)) {
    const reason = message('baseline.neither', { before: endOf(a), now: endOf(b) })
    return a.status === 'unsupported' && b.status === 'unsupported'
      ? decided('skipped', reason)
      : undecided([reason])
  }
  if (b.status === 'not-run') return undecided([message('baseline.notReached')])
  // Another GPU may lack a feature that the rung requires.
  if (b.status === 'unsupported' && otherConditions)
    return undecided([message('baseline.otherConditions')])
  const why = b.reason ?? message(b.status === 'ok' ? 'baseline.refuted' : 'baseline.noReason')
  return decided('broken', message('baseline.broken', { status: endOf(b), why }))
}

function decide(a: RungResult | undefined, b: RungResult | undefined, terms: Terms): Decision {
  if (!b) return undecided([message('baseline.missing')])
  if (!a)
    return decided(
      'new',
      passed(b) ? message('baseline.new') : message('baseline.newNotOk', { status: endOf(b) }),
    )
  if (terms.otherWork) return undecided([message('baseline.otherWork')])
  if (!passed(a) || !passed(b)) return byStatus(a, b, terms)
  const unverified = { a: !a.verify, b: !b.verify }
  if (unverified.a || unverified.b)
    return undecided([message('baseline.unverified', { where: where(unverified.a, unverified.b) })])
  const other = otherwiseComputed(terms.task, a, b)
  return other.length > 0 ? undecided(other) : byTime(a, b, terms)
}

/**
 * Combines verdicts. The check fails if any rung is slower or broken. Otherwise, it passes if no
 * rung is unresolved and at least one rung is faster or unchanged.
 */
export function foldVerdicts(verdicts: readonly RungVerdict[]): CheckVerdict {
  const some = (...wanted: RungVerdict[]): boolean =>
    verdicts.some((verdict) => wanted.includes(verdict))
  if (some('slower', 'broken')) return 'fail'
  return !some('unresolved') && some('faster', 'same') ? 'pass' : 'unresolved'
}

function headlineOf(verdicts: readonly RungVerdict[], thresholdPercent: number): AnyMessage {
  const count = (...wanted: RungVerdict[]): number =>
    verdicts.filter((verdict) => wanted.includes(verdict)).length
  const worse = count('slower', 'broken')
  const unresolved = count('unresolved')
  const all = verdicts.length
  const threshold = thresholdPercent
  switch (foldVerdicts(verdicts)) {
    case 'pass':
      return message('baseline.pass', { threshold })
    case 'fail':
      return unresolved > 0
        ? message('baseline.failUnresolved', { worse, all, unresolved })
        : message('baseline.fail', { worse, all })
    case 'unresolved':
      return unresolved > 0
        ? message('baseline.unresolved', { threshold, unresolved, all })
        : message('baseline.nothing', { threshold })
  }
}

/**
 * Compares a session with a baseline. `only` lists the rungs to check. By default, all rungs in
 * either session are checked.
 */
export function checkAgainst(
  a: Session,
  b: Session,
  thresholdPercent: number,
  only?: readonly string[],
): BaselineCheck {
  const threshold = 1 + thresholdPercent / 100
  const { refusals, warnings } = comparability(a, b)
  const obstacles = [...refusals, ...warnings.filter(({ key }) => conditions.has(key))]
  const ids = [...new Set([...a.rungs, ...b.rungs].map(({ id }) => id))].filter(
    (id) => only?.includes(id) ?? true,
  )
  const drift = obstacles.length > 0 ? null : driftOf(a, b, ids, threshold)
  const terms: Terms = {
    thresholdPercent,
    threshold,
    drift,
    task: a.ladder.task,
    otherWork: refusals.length > 0,
    otherConditions: obstacles.length > 0,
  }
  const rungs = ids.map((id): RungCheck => {
    const [left, right] = [rungOf(a, id), rungOf(b, id)]
    return {
      id,
      title: (right ?? left)!.title,
      ...decide(left, right, terms),
      status: { baseline: left?.status ?? null, now: right?.status ?? null },
      medianMs: {
        baseline: left?.timing?.medianMs ?? null,
        now: right?.timing?.medianMs ?? null,
      },
    }
  })
  const timings = [a, b].flatMap((session) => session.rungs.flatMap(({ timing }) => timing ?? []))
  const clocksUnknown = timings.length > 0 && timings.every((timing) => clockOf(timing) === null)
  const verdicts = rungs.map(({ verdict }) => verdict)
  return {
    verdict: foldVerdicts(verdicts),
    headline: headlineOf(verdicts, thresholdPercent),
    thresholdPercent,
    obstacles,
    notes: [
      ...(only ? [message('baseline.only', { rungs: ids.join(', ') })] : []),
      ...(drift ? [drift.note] : []),
      ...(clocksUnknown ? [message('baseline.clocksUnknown')] : []),
      ...warnings.filter(({ key }) => !conditions.has(key)),
    ],
    normalized: drift?.normalize ?? false,
    rungs,
  }
}
