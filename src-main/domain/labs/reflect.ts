/**
 * Predictions beside what was measured, and why it came so: sentences made from the counters of this
 * attempt and of the rung it is compared with. Pure.
 */
import type { Lab, LabPrediction, LabQuestion } from './lab'
import { figureOf, metricLabel, submissionId, type LabEvidence } from './judge'
import type { Direction, LabAnswers, PredictionResult, QuestionResult } from './outcome'
import { answerOf } from './question'
import { metricDefinition } from '../metrics'
import { rungOf, type RungResult, type Session } from '../session'
import { formatValue } from '../units'

export function directionOf(before: number, after: number, tolerance: number): Direction {
  const scale = Math.max(Math.abs(before), Math.abs(after))
  if (scale === 0 || Math.abs(after - before) <= tolerance * scale) return 'same'
  return after > before ? 'up' : 'down'
}

const directionWords: Record<Direction, string> = {
  up: 'up',
  down: 'down',
  same: 'no change',
}

const times = (factor: number): string =>
  `${factor >= 100 ? Math.round(factor) : Number(factor.toPrecision(3))} times`

interface Pair {
  before: number
  after: number
  /** after / before; null where before is 0. */
  factor: number | null
}

function pairOf(before: RungResult, after: RungResult, metric: string): Pair | null {
  const [a, b] = [figureOf(before, metric).value, figureOf(after, metric).value]
  if (a === null || b === null) return null
  return { before: a, after: b, factor: a === 0 ? null : b / a }
}

const shown = (metric: string, value: number): string =>
  formatValue(value, metric === 'time' ? 'ms' : (metricDefinition(metric)?.unit ?? '×'))

function moved(metric: string, { before, after, factor }: Pair): string {
  const label = metricLabel(metric)
  if (shown(metric, before) === shown(metric, after))
    return `${label} stayed at ${shown(metric, after)}`
  return `${label} went from ${shown(metric, before)} to ${shown(metric, after)}${factor === null ? '' : ` (${times(factor)})`}`
}

/** Work that a launch does, whatever its speed; the ones that the profile holds are looked at. */
const work = [
  'instructions',
  'sharedLoads',
  'globalLoadSectorsPerRequest',
  'l2Bytes',
  'dramBytes',
  'sharedLoadBankConflicts',
  'sharedStoreBankConflicts',
] as const

/** How busy the parts of an SM were. */
const busy = ['fmaUtilization', 'tensorUtilization', 'issueSlotsBusy'] as const

const isStall = (id: string): boolean => id.startsWith('stall')

/** The pairs that moved by more than a tenth, the largest move first. */
function movers(
  before: RungResult,
  after: RungResult,
  metrics: readonly string[],
): { metric: string; pair: Pair; size: number }[] {
  return metrics
    .flatMap((metric) => {
      const pair = pairOf(before, after, metric)
      if (!pair) return []
      const size =
        pair.factor === null || pair.factor <= 0
          ? pair.before === pair.after
            ? 0
            : Infinity
          : Math.abs(Math.log(pair.factor))
      return [{ metric, pair, size }]
    })
    .filter(({ size }) => size > Math.log(1.1))
    .sort((a, b) => b.size - a.size)
}

/** What warps waited for most, and what became of it. */
function stallWords(before: RungResult, after: RungResult): string[] {
  const ids = Object.keys(after.metrics).filter(isStall)
  const worst = (rung: RungResult): string | undefined =>
    ids
      .filter((id) => rung.metrics[id]?.value != null)
      .sort((a, b) => rung.metrics[b]!.value! - rung.metrics[a]!.value!)[0]
  const [was, is] = [worst(before), worst(after)]
  if (was === undefined || is === undefined) return []
  const pair = pairOf(before, after, was)
  const lines = pair
    ? [`Most of the waiting was for one thing: ${moved(was, pair)} an issued instruction.`]
    : []
  if (is !== was)
    lines.push(
      `Now they wait most for another: ${metricLabel(is)} is at ${shown(is, after.metrics[is]!.value!)}.`,
    )
  return lines
}

/** An FFMA computes 32 products a warp, so there are m·n·k / 32 of them in any FP32 product. */
function loadsForEachFma(session: Session, before: RungResult, after: RungResult): string[] {
  if (session.problem.dtype !== 'f32') return []
  const pair = pairOf(before, after, 'sharedLoads')
  if (!pair || pair.before + pair.after === 0) return []
  const { m, n, k } = session.problem
  const fmas = (m * n * k) / 32
  const rate = (loads: number): string => Number((loads / fmas).toPrecision(3)).toString()
  return [
    `The product takes ${formatValue(fmas, 'inst')} multiply-adds of a warp at least, so there were ${rate(pair.before)} shared loads for each, and there are ${rate(pair.after)} now.`,
  ]
}

function occupancyWords(before: RungResult, after: RungResult): string[] {
  const registers = pairOf(before, after, 'registersPerThread')
  const theoretical = pairOf(before, after, 'theoreticalOccupancy')
  const block = (rung: RungResult): number | null => {
    const [kernel] = rung.profile?.kernels ?? []
    return kernel ? kernel.block.reduce((product, extent) => product * extent, 1) : null
  }
  const [was, is] = [block(before), block(after)]
  return [
    ...(theoretical ? [`${moved('theoreticalOccupancy', theoretical)}.`] : []),
    ...(registers && was !== null && is !== null
      ? [
          `A block has ${is} threads of ${registers.after} registers; it had ${was} of ${registers.before}.`,
        ]
      : []),
  ]
}

function timeWords(session: Session, before: RungResult, after: RungResult): string[] {
  const time = pairOf(before, after, 'time')
  const [most, next] = movers(before, after, work)
  // A pipe that is all but idle on both sides explains nothing.
  const used = busy.filter((id) =>
    [before, after].some((rung) => (rung.metrics[id]?.value ?? 0) >= 1),
  )
  const [busiest] = movers(before, after, used)
  const occupancy = pairOf(before, after, 'achievedOccupancy')
  const faster = time !== null && time.after < time.before
  return [
    ...(most ? [`${moved(most.metric, most.pair)}.`] : []),
    ...(next ? [`${moved(next.metric, next.pair)}.`] : []),
    ...(busiest ? [`${moved(busiest.metric, busiest.pair)} of the active cycles.`] : []),
    ...stallWords(before, after),
    ...(occupancy && faster && occupancy.after < occupancy.before * 0.9
      ? [
          `${moved('achievedOccupancy', occupancy)}, and it is faster all the same: fewer warps that each have more to do between two waits.`,
        ]
      : []),
    ...(most || busiest ? [] : loadsForEachFma(session, before, after)),
  ]
}

/** Why a metric came out as it did, from the other figures of the two rungs. */
export function explain(
  session: Session,
  metric: string,
  before: RungResult,
  after: RungResult,
): string[] {
  const time = pairOf(before, after, 'time')
  const bought = time && metric !== 'time' ? [`${moved('time', time)}.`] : []
  switch (metric) {
    case 'time':
      return timeWords(session, before, after)
    case 'sharedLoads':
      return [...loadsForEachFma(session, before, after), ...bought]
    case 'theoreticalOccupancy':
    case 'achievedOccupancy':
    case 'registersPerThread':
      return [
        ...occupancyWords(before, after).filter((line) => !line.startsWith(metricLabel(metric))),
        ...bought,
      ]
    case 'fmaUtilization':
    case 'tensorUtilization':
    case 'issueSlotsBusy':
      return [...stallWords(before, after), ...bought]
    case 'sharedLoadBankConflicts':
    case 'sharedStoreBankConflicts': {
      const loads = pairOf(before, after, 'sharedLoads')
      return [...(loads ? [`${moved('sharedLoads', loads)}.`] : []), ...bought]
    }
    default: {
      const related = movers(
        before,
        after,
        work.filter((id) => id !== metric),
      )[0]
      return [...(related ? [`${moved(related.metric, related.pair)}.`] : []), ...bought]
    }
  }
}

function predictionWords(
  prediction: LabPrediction,
  given: PredictionResult['given'],
  direction: Direction,
  pair: Pair,
  met: boolean | null,
): string {
  const measuredWords = `${moved(prediction.metric, pair)}.`
  if (!given || met === null) return measuredWords
  const said = `You said ${directionWords[given.direction]}${given.factor === null ? '' : `, ${times(given.factor)}`}.`
  const verdict = met
    ? 'That is right'
    : given.direction === direction
      ? 'The direction is right, the factor is not'
      : `It was ${directionWords[direction]}`
  return `${said} ${measuredWords} ${verdict}, within ${Math.round(prediction.tolerance * 100)} %.`
}

function factorMet(prediction: LabPrediction, given: number | null, pair: Pair): boolean {
  if (!prediction.factor) return true
  if (given === null || pair.factor === null) return pair.factor === null
  return Math.abs(given - pair.factor) <= prediction.tolerance * Math.abs(pair.factor)
}

function judgePrediction(
  lab: Lab,
  prediction: LabPrediction,
  evidence: LabEvidence,
  answers: LabAnswers,
): PredictionResult {
  const { session } = evidence
  const against = prediction.against ?? lab.before
  const [before, after] = [against, submissionId].map((id) => session && rungOf(session, id))
  const given = answers.predictions[prediction.id] ?? null
  const base = {
    id: prediction.id,
    metric: prediction.metric,
    label: metricLabel(prediction.metric),
    against,
    given,
    before: figureOf(before ?? undefined, prediction.metric),
    after: figureOf(after ?? undefined, prediction.metric),
  }
  const pair = before && after ? pairOf(before, after, prediction.metric) : null
  if (!session || !before || !after || !pair)
    return {
      ...base,
      factor: null,
      direction: null,
      status: 'unavailable',
      sentence:
        evidence.reason ?? base.after.reason ?? base.before.reason ?? 'It was not measured.',
      explanation: [],
    }
  const direction = directionOf(pair.before, pair.after, prediction.tolerance)
  const met = given
    ? given.direction === direction && factorMet(prediction, given.factor, pair)
    : null
  return {
    ...base,
    factor: pair.factor,
    direction,
    status: met === null ? 'not-given' : met ? 'met' : 'missed',
    sentence: predictionWords(prediction, given, direction, pair, met),
    explanation: explain(session, prediction.metric, before, after),
  }
}

export const judgePredictions = (
  lab: Lab,
  evidence: LabEvidence,
  answers: LabAnswers,
): PredictionResult[] =>
  lab.predictions.map((prediction) => judgePrediction(lab, prediction, evidence, answers))

function judgeQuestion(
  lab: Lab,
  question: LabQuestion,
  evidence: LabEvidence,
  answers: LabAnswers,
): QuestionResult {
  const { session } = evidence
  const answer = answerOf(question.answer, {
    device: session?.device ?? null,
    problem: lab.size,
    your: (session && rungOf(session, submissionId)) ?? null,
    before: (session && rungOf(session, lab.before)) ?? null,
  })
  const given = answers.questions[question.id] ?? null
  const base = { id: question.id, unit: question.unit, given, answer }
  const words = (value: number): string =>
    `${Number(value.toPrecision(6))}${question.unit === '' ? '' : ` ${question.unit}`}`
  if (answer === null)
    return {
      ...base,
      status: 'unavailable',
      sentence: `The answer depends on what was not measured here. ${evidence.reason ?? ''}`.trim(),
    }
  const gpu = session?.device ? ` on ${session.device.name}` : ''
  if (given === null)
    return { ...base, answer: null, status: 'not-given', sentence: 'No answer was given.' }
  const right = Math.abs(given - answer) <= question.tolerance * Math.abs(answer)
  return {
    ...base,
    status: right ? 'right' : 'wrong',
    sentence: right
      ? `${words(given)} is right${gpu}: it is ${words(answer)}.`
      : `${words(given)} is not right${gpu}: it is ${words(answer)}.`,
  }
}

export const judgeQuestions = (
  lab: Lab,
  evidence: LabEvidence,
  answers: LabAnswers,
): QuestionResult[] =>
  lab.questions.map((question) => judgeQuestion(lab, question, evidence, answers))
