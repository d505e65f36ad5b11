/**
 * Summarizes a session in messages that are derived only from its figures. Each list of messages is
 * one paragraph. Pure.
 */
import { leadWords } from '../analysis/lead-figure'
import { climbWords } from '../analysis/climb'
import { claimWords, hasOtherOptions } from '../analysis/library-claim'
import { compareRungs, type RungComparison } from '../analysis/compare'
import { message, type AnyMessage, type Statement } from '../messages/message'
import { paragraph, pieces } from '../text/english'
import { rungOf, type RungResult, type Session } from '../session/session'
import { formatPredictedMs } from '../metrics/predicted-range'
import { formatMs, formatPercent, formatRatio, formatValue } from '../metrics/units'
import { type Why } from '../why/why'
import { code, type Sentence } from '../messages/sentence'
import { isTimedTogether, totalProfiledMs } from '../programs/profiled-time'
import { gpuOfTarget, isEmulated } from '../targets/targets'
import { whyOfSteps } from '../why/why-steps'

export interface Step {
  from: RungResult
  to: RungResult
  comparison: RungComparison
  why: Why
}

/** Returns each rung and the rung that it is compared with. */
export const stepsOf = (session: Session): Step[] =>
  whyOfSteps(session).map(({ a, b, why }) => ({
    from: a,
    to: b,
    comparison: compareRungs({ session, rung: a }, { session, rung: b }),
    why,
  }))

/**
 * Formats half of the interquartile range divided by the median, as a percentage. Tables show this
 * value after ±.
 */
export const halfSpread = (spread: number): string => {
  const percent = spread * 50
  if (percent > 0 && percent < 0.005) return '< 0.01 %'
  return `${percent < 0.1 ? percent.toFixed(2) : percent.toFixed(1)} %`
}

/** Summarizes a session of profiled kernels. Returns undefined if there are no profiler times. */
function profiled(session: Session): AnyMessage | undefined {
  const total = totalProfiledMs(session)
  const timed = session.rungs.flatMap(({ title, profiledTime: time }) => {
    return time ? [{ title, ...time }] : []
  })
  const [hottest] = timed.toSorted((a, b) => b.totalMs - a.totalMs)
  if (total === null || !hottest) return undefined
  return message(isTimedTogether(session) ? 'summary.kernelsBeside' : 'summary.kernels', {
    time: formatMs(total),
    kernels: timed.length,
    launches: session.program?.launches ?? timed.reduce((sum, { launches }) => sum + launches, 0),
    title: code(hottest.title),
    own: formatMs(hottest.totalMs),
    share: formatPercent((100 * hottest.totalMs) / total),
  })
}

/**
 * Summarizes a session from an emulated GPU, which has no times. Returns undefined for sessions
 * from other targets.
 */
function emulated({ target, rungs }: Session): AnyMessage | undefined {
  if (!isEmulated(target)) return undefined
  const ok = rungs.filter(({ status }) => status === 'ok').length
  const gpu = gpuOfTarget(target)?.name ?? target.name
  return message('summary.emulated', { ok, total: rungs.length, gpu })
}

/**
 * Describes the rung with the shortest predicted time. Returns undefined if there are no
 * predictions.
 */
function bestPredicted({ rungs, ladder, target }: Session): AnyMessage | undefined {
  const timed = rungs.flatMap(({ id, title, status, predicted }) =>
    predicted && status === 'ok' && id !== ladder.reference ? [{ id, title, predicted }] : [],
  )
  const first = timed.toSorted((a, b) => a.predicted.ms - b.predicted.ms)[0]
  return (
    first &&
    message('summary.predicted', {
      ...{ rung: code(first.id), title: first.title },
      time: formatPredictedMs(first.predicted),
      limiter: message(`limiter.${first.predicted.limiter}`),
      gpu: gpuOfTarget(target)?.name ?? target.name,
    })
  )
}

function best(session: Session): AnyMessage {
  const { reference } = session.ladder
  const timed = session.rungs.filter(
    ({ id, status, timing }) => id !== reference && status === 'ok' && timing,
  )
  const first = timed.reduce<RungResult | undefined>(
    (least, rung) => (least && least.timing!.medianMs <= rung.timing!.medianMs ? least : rung),
    undefined,
  )
  if (!first?.timing)
    return (
      bestPredicted(session) ?? profiled(session) ?? emulated(session) ?? message('summary.none')
    )
  const { medianMs, spread, ratioToReference } = first.timing
  const figures = {
    rung: code(first.id),
    title: first.title,
    time: formatMs(medianMs),
    spread: halfSpread(spread),
    throughput: leadWords(session, first),
  }
  if (ratioToReference === null || reference === null || hasOtherOptions(session, first.id))
    return message('summary.best', figures)
  // The ratio's spread includes the spreads of the two medians. If the reference's spread is
  // unknown, only the rung's spread is included.
  const both = spread + (rungOf(session, reference)?.timing?.spread ?? 0)
  const place = Math.abs(ratioToReference - 1) <= both ? 'summary.bestLevel' : 'summary.bestBeside'
  return message(place, {
    ...figures,
    ratio: formatRatio(ratioToReference),
    both: halfSpread(both),
    reference: code(reference),
  })
}

/**
 * Returns the top-ranked cause of a step. If no cause is known, returns a prediction from the
 * rung's header that the measurement confirmed.
 */
function explain({ comparison, why }: Step): Statement {
  const [cause] = why.causes
  if (cause) return cause.statement
  const predicted = comparison.metrics.find(
    ({ expected }) => expected?.met === true && expected.direction !== 'same',
  )
  return predicted?.a?.value == null || predicted.b?.value == null
    ? message('summary.unexplained')
    : message('summary.announced', {
        metric: { metric: predicted.id },
        a: formatValue(predicted.a.value, predicted.unit),
        b: formatValue(predicted.b.value, predicted.unit),
      })
}

const largestJumps = (steps: readonly Step[]): Statement[][] =>
  steps
    .filter(({ comparison }) => comparison.time.verdict === 'better')
    .sort((a, b) => b.comparison.time.speedup! - a.comparison.time.speedup!)
    .slice(0, 3)
    .map((step) => [
      message('summary.jump', {
        to: code(step.to.id),
        factor: formatRatio(step.comparison.time.speedup!),
        spread: halfSpread(step.comparison.time.noise!),
        from: code(step.from.id),
      }),
      explain(step),
    ])

function unpaidSteps(session: Session, steps: readonly Step[]): Statement[][] {
  const planned = new Map(session.ladder.rungs.map((entry) => [entry.id, entry]))
  const story = steps.filter(({ to }) => !planned.get(to.id)?.aside)
  const of = (verdict: 'worse' | 'same'): Step[] =>
    story.filter(({ comparison }) => comparison.time.verdict === verdict)
  const notes = ({ to }: Step): Statement[] => {
    const note = planned.get(to.id)?.note
    return note === undefined ? [] : [note]
  }
  const slower = of('worse').map((step) => {
    const { from, to, comparison } = step
    return [
      message('summary.slower', {
        to: code(to.id),
        from: code(from.id),
        a: formatMs(comparison.time.aMs!),
        b: formatMs(comparison.time.bMs!),
        factor: formatRatio(comparison.time.speedup!),
      }),
      ...(step.why.causes[0] ? [step.why.causes[0].statement] : []),
      ...(planned.get(to.id)?.negative ? [message('summary.meant')] : []),
      ...notes(step),
    ]
  })
  const level = of('same').map((step) => [
    message('summary.level', { to: code(step.to.id), from: code(step.from.id) }),
    ...notes(step),
  ])
  return [...slower, ...level]
}

interface Summary {
  /** The best rung; for profiled kernels, the total time and the longest kernel. */
  best: AnyMessage
  /**
   * Whether the fastest rung is faster than the reference, for each kind of timing. Null if the
   * session has no reference.
   */
  claim: AnyMessage | null
  /**
   * The first and last rung of the chain of steps, and the ratio of their times. Null if there is
   * no chain of steps.
   */
  climb: AnyMessage | null
  /** The three largest speedups, each with its explanation. */
  jumps: Statement[][]
  /** Rungs that are slower than the previous rung, or equally fast within the noise. */
  unpaid: Statement[][]
  /** Whether the session has timed steps and every step is faster than the previous one. */
  allPaid: boolean
  /** Rungs with a status other than `ok`. */
  troubles: AnyMessage[]
}

export function summarize(session: Session, steps: readonly Step[]): Summary {
  const verdicts = steps.map(({ comparison }) => comparison.time.verdict)
  const bad = session.rungs.filter(({ status }) => status !== 'ok')
  return {
    best: best(session),
    claim: claimWords(session),
    climb: climbWords(session),
    jumps: largestJumps(steps),
    unpaid: unpaidSteps(session, steps),
    allPaid: verdicts.length > 0 && verdicts.every((verdict) => verdict === 'better'),
    troubles: bad.map(({ id, status }) =>
      message('summary.trouble', { rung: code(id), status: message(`status.${status}`) }),
    ),
  }
}

/** The summary as English text for reports. */
export interface PrintedSummary {
  /** The best rung, its comparison with the reference, and the chain of steps to that rung. */
  best: Sentence[]
  jumps: Sentence[]
  unpaid: Sentence[]
  allPaid: boolean
  troubles: Sentence[]
}

export function printedSummary(session: Session, steps: readonly Step[]): PrintedSummary {
  const { best, claim, climb, jumps, unpaid, allPaid, troubles } = summarize(session, steps)
  return {
    best: [best, claim, climb].flatMap((part) => (part === null ? [] : [pieces(part)])),
    jumps: jumps.map((parts) => paragraph(parts)),
    unpaid: unpaid.map((parts) => paragraph(parts)),
    allPaid,
    troubles: troubles.map((trouble) => pieces(trouble)),
  }
}
