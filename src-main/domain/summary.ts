/** What a session shows, in sentences made from its figures alone. Pure. */
import { compareRungs, type MetricDelta, type RungComparison } from './compare'
import { metricDefinition } from './metrics'
import { rungBefore, rungOf, type RungResult, type Session } from './session'
import { formatGflops, formatMs, formatRatio, formatValue } from './units'
import { code, say, type Sentence } from './sentence'

export interface Step {
  from: RungResult
  to: RungResult
  comparison: RungComparison
}

/** Each rung beside the one it is compared with. */
export const stepsOf = (session: Session): Step[] =>
  session.rungs.flatMap((to) => {
    const from = rungBefore(session, to.id)
    if (!from || to.id === session.ladder.reference) return []
    return [{ from, to, comparison: compareRungs({ session, rung: from }, { session, rung: to }) }]
  })

/** Half of an interquartile range over its median, in percent: what the tables set behind ±. */
export const halfSpread = (spread: number): string => {
  const percent = spread * 50
  if (percent > 0 && percent < 0.005) return '< 0.01 %'
  return `${percent < 0.1 ? percent.toFixed(2) : percent.toFixed(1)} %`
}

/** How far a metric moved, as a factor; a move from or to zero counts as a large one, not as endless. */
function move({ a, b }: MetricDelta): number {
  const [from, to] = [Math.abs(a?.value ?? 0), Math.abs(b?.value ?? 0)]
  if (from === to) return 0
  const most = Math.log(1000)
  return from === 0 || to === 0 ? most : Math.min(most, Math.abs(Math.log(to / from)))
}

const largest = (deltas: readonly MetricDelta[]): MetricDelta | undefined =>
  deltas.reduce<MetricDelta | undefined>(
    (best, delta) => (best && move(best) >= move(delta) ? best : delta),
    undefined,
  )

/**
 * The counter whose move explains a jump best: one that the rung's header announced and that moved for
 * the better, else one that it announced, else the largest improvement. A figure that got worse
 * unannounced explains no gain.
 */
export function explanation({ metrics }: RungComparison): MetricDelta | undefined {
  const announced = metrics.filter(
    ({ expected }) => expected?.met === true && expected.direction !== 'same',
  )
  return (
    largest(announced.filter(({ verdict }) => verdict === 'better')) ??
    largest(announced) ??
    largest(metrics.filter(({ verdict }) => verdict === 'better'))
  )
}

const named = ({ id, title }: RungResult): Sentence => say`${code(id)} (${title})`

function bestSentences(session: Session): Sentence[] {
  const { reference } = session.ladder
  const timed = session.rungs.filter(
    ({ id, status, timing }) => id !== reference && status === 'ok' && timing,
  )
  const best = timed.reduce<RungResult | undefined>(
    (least, rung) => (least && least.timing!.medianMs <= rung.timing!.medianMs ? least : rung),
    undefined,
  )
  if (!best?.timing) return [['No rung was verified and timed, so there is no best one.']]
  const { medianMs, spread, gflops, ratioToReference } = best.timing
  const head: Sentence = [
    ...say`Best rung: `,
    ...named(best),
    `, ${formatMs(medianMs)} ± ${halfSpread(spread)}, ${formatGflops(gflops)}`,
  ]
  if (ratioToReference === null || reference === null) return [[...head, '.']]
  // Both medians carry their spread into the ratio. Without the reference's own, the rung's is all there is.
  const both = spread + (rungOf(session, reference)?.timing?.spread ?? 0)
  const place =
    Math.abs(ratioToReference - 1) <= both
      ? ', level with it within the spread'
      : ratioToReference > 1
        ? ', past it'
        : ''
  return [
    [
      ...head,
      ...say`; it reaches ${formatRatio(ratioToReference)} (± ${halfSpread(both)}) of the throughput of the reference ${code(reference)}${place}.`,
    ],
  ]
}

function explain(step: Step): Sentence {
  const delta = explanation(step.comparison)
  if (!delta || delta.a?.value == null || delta.b?.value == null)
    return [' No counter that was collected explains it.']
  const { a, b, expected, id } = delta
  const values = `${delta.label}: ${formatValue(a.value!, delta.unit)} → ${formatValue(b.value!, delta.unit)}`
  if (expected?.met) return [` ${values}, as its header announced.`]
  const better = metricDefinition(id)?.better === 'lower' ? 'lower' : 'higher'
  return [` ${values}, the largest improvement of a counter (${better} is better).`]
}

function jumpSentences(steps: readonly Step[]): Sentence[] {
  return steps
    .filter(({ comparison }) => comparison.time.verdict === 'better')
    .sort((a, b) => b.comparison.time.speedup! - a.comparison.time.speedup!)
    .slice(0, 3)
    .map((step) => [
      ...say`${code(step.to.id)} is ${formatRatio(step.comparison.time.speedup!)} (± ${halfSpread(step.comparison.time.noise!)}) as fast as ${code(step.from.id)}.`,
      ...explain(step),
    ])
}

function unpaidSentences(session: Session, steps: readonly Step[]): Sentence[] {
  const of = (verdict: 'worse' | 'same'): Step[] =>
    steps.filter(({ comparison }) => comparison.time.verdict === verdict)
  const slower = of('worse').map((step): Sentence => {
    const planned = session.ladder.rungs.find(({ id }) => id === step.to.id)
    return [
      ...say`${code(step.to.id)} is slower than ${code(step.from.id)}: ${formatMs(step.from.timing!.medianMs)} → ${formatMs(step.to.timing!.medianMs)} (${formatRatio(step.comparison.time.speedup!)} as fast).`,
      ...(planned?.negative ? [' It is meant to be.'] : []),
      ...(planned?.note ? [` ${planned.note}`] : []),
    ]
  })
  const level = of('same').map(
    ({ from, to }): Sentence =>
      say`${code(to.id)} is level with ${code(from.id)} within the spread of both.`,
  )
  return [...slower, ...level]
}

export interface Summary {
  best: Sentence[]
  /** The three largest, with what explains each. */
  jumps: Sentence[]
  /** Slower than the rung before, or no faster, beyond noise. */
  unpaid: Sentence[]
  /** There are steps with a time on both sides, and each paid. */
  allPaid: boolean
  /** How many rungs have which end, where not all are ok. */
  troubles: Sentence[]
}

export function summarize(session: Session, steps: readonly Step[]): Summary {
  const verdicts = steps.map(({ comparison }) => comparison.time.verdict)
  const bad = session.rungs.filter(({ status }) => status !== 'ok')
  return {
    best: bestSentences(session),
    jumps: jumpSentences(steps),
    unpaid: unpaidSentences(session, steps),
    allPaid: verdicts.length > 0 && verdicts.every((verdict) => verdict === 'better'),
    troubles: bad.map(({ id, status }) => say`${code(id)}: ${status}; why is below.`),
  }
}
