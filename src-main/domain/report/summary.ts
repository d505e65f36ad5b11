/** A session's summary as messages made only from its figures; a list of them is one paragraph. Pure. */
import { leadText } from '../analysis/lead-figure'
import { compareRungs, type MetricDelta, type RungComparison } from '../analysis/compare'
import { message, type AnyMessage, type Statement } from '../messages/message'
import { paragraph, pieces } from '../text/wording'
import { metricDefinition } from '../metrics/metrics'
import { rungBefore, rungOf, type RungResult, type Session } from '../session/session'
import { formatMs, formatRatio, formatValue } from '../metrics/units'
import { code, type Sentence } from '../messages/sentence'

export interface Step {
  from: RungResult
  to: RungResult
  comparison: RungComparison
}

/** Each rung with the one it is compared with. */
export const stepsOf = (session: Session): Step[] =>
  session.rungs.flatMap((to) => {
    const from = rungBefore(session, to.id)
    if (!from || to.id === session.ladder.reference) return []
    return [{ from, to, comparison: compareRungs({ session, rung: from }, { session, rung: to }) }]
  })

/** Half of the interquartile range divided by the median, in percent: the figure after ± in tables. */
export const halfSpread = (spread: number): string => {
  const percent = spread * 50
  if (percent > 0 && percent < 0.005) return '< 0.01 %'
  return `${percent < 0.1 ? percent.toFixed(2) : percent.toFixed(1)} %`
}

/** How far a metric moved, as a factor; a move from or to zero counts as large, not as infinite. */
function move({ a, b, unit }: MetricDelta): number {
  const [from, to] = [Math.abs(a?.value ?? 0), Math.abs(b?.value ?? 0)]
  if (from === to) return 0
  // A unit that stays below 1% works for nobody, whatever the factor: its counter's noise explains no step.
  if (unit === '%' && Math.max(from, to) < 1) return 0
  const most = Math.log(1000)
  return from === 0 || to === 0 ? most : Math.min(most, Math.abs(Math.log(to / from)))
}

const largest = (deltas: readonly MetricDelta[]): MetricDelta | undefined =>
  deltas.reduce<MetricDelta | undefined>(
    (best, delta) => (best && move(best) >= move(delta) ? best : delta),
    undefined,
  )

/**
 * The counter that best explains a jump: one that the rung's header predicted and that improved, else one that it
 * predicted, else the largest improvement. A metric that got worse without a prediction explains no gain.
 */
export function explanation({ metrics }: RungComparison): MetricDelta | undefined {
  const announced = metrics.filter(
    ({ expected }) => expected?.met === true && expected.direction !== 'same',
  )
  return (
    largest(announced.filter(({ verdict }) => verdict === 'better')) ??
    largest(announced) ??
    largest(metrics.filter((delta) => delta.verdict === 'better' && move(delta) > 0))
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
  if (!first?.timing) return message('summary.none')
  const { medianMs, spread, ratioToReference } = first.timing
  const figures = {
    rung: code(first.id),
    title: first.title,
    time: formatMs(medianMs),
    spread: halfSpread(spread),
    throughput: leadText(session, first),
  }
  if (ratioToReference === null || reference === null) return message('summary.best', figures)
  // The spreads of both medians affect the ratio. Without the reference's spread, only the rung's is known.
  const both = spread + (rungOf(session, reference)?.timing?.spread ?? 0)
  const place =
    Math.abs(ratioToReference - 1) <= both
      ? 'summary.bestLevel'
      : ratioToReference > 1
        ? 'summary.bestPast'
        : 'summary.bestBelow'
  return message(place, {
    ...figures,
    ratio: formatRatio(ratioToReference),
    both: halfSpread(both),
    reference: code(reference),
  })
}

function explain(step: Step): AnyMessage {
  const delta = explanation(step.comparison)
  if (!delta || delta.a?.value == null || delta.b?.value == null)
    return message('summary.unexplained')
  const { a, b, expected, id, unit } = delta
  const key = expected?.met
    ? 'summary.announced'
    : metricDefinition(id)?.better === 'lower'
      ? 'summary.largestLower'
      : 'summary.largestHigher'
  return message(key, {
    metric: { metric: id },
    a: formatValue(a.value!, unit),
    b: formatValue(b.value!, unit),
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
  const of = (verdict: 'worse' | 'same'): Step[] =>
    steps.filter(({ comparison }) => comparison.time.verdict === verdict)
  const planned = new Map(session.ladder.rungs.map((entry) => [entry.id, entry]))
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
        a: formatMs(from.timing!.medianMs),
        b: formatMs(to.timing!.medianMs),
        factor: formatRatio(comparison.time.speedup!),
      }),
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

export interface Summary {
  best: AnyMessage
  /** The three largest, each with its explanation. */
  jumps: Statement[][]
  /** Rungs that are slower than the one before, or not faster, beyond noise. */
  unpaid: Statement[][]
  /** There are timed steps, and every one paid off. */
  allPaid: boolean
  /** The rungs that did not end ok. */
  troubles: AnyMessage[]
}

export function summarize(session: Session, steps: readonly Step[]): Summary {
  const verdicts = steps.map(({ comparison }) => comparison.time.verdict)
  const bad = session.rungs.filter(({ status }) => status !== 'ok')
  return {
    best: best(session),
    jumps: largestJumps(steps),
    unpaid: unpaidSteps(session, steps),
    allPaid: verdicts.length > 0 && verdicts.every((verdict) => verdict === 'better'),
    troubles: bad.map(({ id, status }) =>
      message('summary.trouble', { rung: code(id), status: message(`status.${status}`) }),
    ),
  }
}

/** In English, as printed in reports. */
export interface PrintedSummary {
  best: Sentence[]
  jumps: Sentence[]
  unpaid: Sentence[]
  allPaid: boolean
  troubles: Sentence[]
}

export function printedSummary(session: Session, steps: readonly Step[]): PrintedSummary {
  const { best, jumps, unpaid, allPaid, troubles } = summarize(session, steps)
  return {
    best: [pieces(best)],
    jumps: jumps.map((parts) => paragraph(parts)),
    unpaid: unpaid.map((parts) => paragraph(parts)),
    allPaid,
    troubles: troubles.map((trouble) => pieces(trouble)),
  }
}
