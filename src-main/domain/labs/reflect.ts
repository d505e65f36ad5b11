/**
 * Compares predictions with measurements and explains the differences. The explanations use the
 * counters of the attempt and of the rung that the attempt is compared with. Pure.
 */
import { type Lab, type LabPrediction, type LabQuestion } from './lab'
import { figureOf } from './judge/verdict'
import { metricLabel } from './judge/check-title'
import { submissionId, type LabEvidence } from './judge/evidence'
import type { Direction, LabAnswers, PredictionResult, QuestionResult } from './outcome'
import { tableDevice } from '../gpu/gpu-table'
import { gpuOfTarget } from '../targets/targets'
import { type Sizes, flops, isTensor } from '../task/problem'
import { message, together, type AnyMessage, type Statement } from '../messages/message'
import { threadsOf } from '../analysis/derived-metrics'
import { resultOf } from '../task/task'
import { metricDefinition } from '../metrics/metrics'
import { rungOf, type RungResult, type Session } from '../session/session'
import { formatValue } from '../metrics/units'
import { answerOf, usesCounts } from './question-values'
import { withoutNoise } from '../session/noisy-counters'

function directionOf(before: number, after: number, tolerance: number): Direction {
  const scale = Math.max(Math.abs(before), Math.abs(after))
  if (scale === 0 || Math.abs(after - before) <= tolerance * scale) return 'same'
  return after > before ? 'up' : 'down'
}

const directionWords = (direction: Direction): AnyMessage => message(`part.${direction}`)

const rounded = (factor: number): number =>
  factor >= 100 ? Math.round(factor) : Number(factor.toPrecision(3))

interface Pair {
  before: number
  after: number
  /** New value divided by the old value; null if the old value is 0. */
  factor: number | null
}

function pairOf(before: RungResult, after: RungResult, metric: string): Pair | null {
  const [a, b] = [figureOf(before, metric).value, figureOf(after, metric).value]
  if (a === null || b === null) return null
  return { before: a, after: b, factor: a === 0 ? null : b / a }
}

const shown = (metric: string, value: number): string =>
  formatValue(value, metric === 'time' ? 'ms' : (metricDefinition(metric)?.unit ?? '×'))

/** Describes how a metric changed, as a phrase without a period. */
function move(id: string, { before, after, factor }: Pair): AnyMessage {
  const metric = { metric: id }
  const [a, b] = [shown(id, before), shown(id, after)]
  if (a === b) return message('part.stayed', { metric, value: b })
  return factor === null
    ? message('part.went', { metric, a, b })
    : message('part.wentTimes', { metric, a, b, factor: rounded(factor) })
}

const moved = (metric: string, pair: Pair): AnyMessage =>
  message('reflect.moved', { moved: move(metric, pair) })

/** Metrics for a launch's work, which do not depend on its speed. */
const work = [
  'instructions',
  'sharedLoads',
  'globalLoadSectorsPerRequest',
  'l2Bytes',
  'dramBytes',
  'sharedLoadBankConflicts',
  'sharedStoreBankConflicts',
] as const

/** Utilization metrics for the units in an SM. */
const busy = ['fmaUtilization', 'tensorUtilization', 'issueSlotsBusy'] as const

const isStall = (id: string): boolean => id.startsWith('stall')

/** Returns the metrics that changed by more than 10 %, largest change first. */
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

/** Describes the main stall reason and how it changed. */
function stallWords(before: RungResult, after: RungResult): AnyMessage[] {
  const ids = Object.keys(after.metrics).filter(isStall)
  const worst = (rung: RungResult): string | undefined =>
    ids
      .filter((id) => rung.metrics[id]?.value != null)
      .sort((a, b) => rung.metrics[b]!.value! - rung.metrics[a]!.value!)[0]
  const [was, is] = [worst(before), worst(after)]
  if (was === undefined || is === undefined) return []
  const pair = pairOf(before, after, was)
  const lines = pair ? [message('reflect.waiting', { moved: move(was, pair) })] : []
  if (is !== was)
    lines.push(
      message('reflect.waitingNow', {
        metric: { metric: is },
        value: shown(is, after.metrics[is]!.value!),
      }),
    )
  return lines
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/**
 * Compares shared loads with the minimum number of FFMAs. An FFMA performs 64 operations per warp,
 * so FP32 tasks need at least operations / 64 FFMAs.
 */
function loadsForEachFma(session: Session, before: RungResult, after: RungResult): AnyMessage[] {
  const { problem, ladder } = session
  const operations = problem && flops(ladder.task, problem)
  if (!operations || isTensor(ladder.task, problem)) return []
  const pair = pairOf(before, after, 'sharedLoads')
  if (!pair || pair.before + pair.after === 0) return []
  const fmas = operations / 64
  const rate = (loads: number): string => Number((loads / fmas).toPrecision(3)).toString()
  return [
    message('reflect.loads', {
      what: capital(resultOf(ladder.task)),
      fmas: formatValue(fmas, 'inst'),
      a: rate(pair.before),
      b: rate(pair.after),
    }),
  ]
}

function occupancyWords(metric: string, before: RungResult, after: RungResult): AnyMessage[] {
  const registers = pairOf(before, after, 'registersPerThread')
  const theoretical = pairOf(before, after, 'theoreticalOccupancy')
  const block = (rung: RungResult): number | null => {
    const [kernel] = rung.profile?.kernels ?? []
    return kernel ? threadsOf(kernel) : null
  }
  const [was, is] = [block(before), block(after)]
  return [
    ...(theoretical && metric !== 'theoreticalOccupancy'
      ? [moved('theoreticalOccupancy', theoretical)]
      : []),
    ...(registers && was !== null && is !== null
      ? [
          message('reflect.block', {
            threads: is,
            registers: registers.after,
            threadsBefore: was,
            registersBefore: registers.before,
          }),
        ]
      : []),
  ]
}

function timeWords(session: Session, before: RungResult, after: RungResult): AnyMessage[] {
  const time = pairOf(before, after, 'time')
  const [most, next] = movers(before, after, work)
  // A pipe that is almost idle in both rungs explains nothing.
  const used = busy.filter((id) =>
    [before, after].some((rung) => (rung.metrics[id]?.value ?? 0) >= 1),
  )
  const [busiest] = movers(before, after, used)
  const occupancy = pairOf(before, after, 'achievedOccupancy')
  const faster = time !== null && time.after < time.before
  return [
    ...(most ? [moved(most.metric, most.pair)] : []),
    ...(next ? [moved(next.metric, next.pair)] : []),
    ...(busiest
      ? [message('reflect.ofCycles', { moved: move(busiest.metric, busiest.pair) })]
      : []),
    ...stallWords(before, after),
    ...(occupancy && faster && occupancy.after < occupancy.before * 0.9
      ? [message('reflect.fewerWarps', { moved: move('achievedOccupancy', occupancy) })]
      : []),
    ...(most || busiest ? [] : loadsForEachFma(session, before, after)),
  ]
}

/** Explains a metric's change with the other figures of the two rungs. */
function explain(
  session: Session,
  metric: string,
  before: RungResult,
  after: RungResult,
): AnyMessage[] {
  const time = pairOf(before, after, 'time')
  const bought = time && metric !== 'time' ? [moved('time', time)] : []
  switch (metric) {
    case 'time':
      return timeWords(session, before, after)
    case 'sharedLoads':
      return [...loadsForEachFma(session, before, after), ...bought]
    case 'theoreticalOccupancy':
    case 'achievedOccupancy':
    case 'registersPerThread':
      return [...occupancyWords(metric, before, after), ...bought]
    case 'fmaUtilization':
    case 'tensorUtilization':
    case 'issueSlotsBusy':
      return [...stallWords(before, after), ...bought]
    case 'sharedLoadBankConflicts':
    case 'sharedStoreBankConflicts': {
      const loads = pairOf(before, after, 'sharedLoads')
      return [...(loads ? [moved('sharedLoads', loads)] : []), ...bought]
    }
    default: {
      const related = movers(
        before,
        after,
        work.filter((id) => id !== metric),
      )[0]
      return [...(related ? [moved(related.metric, related.pair)] : []), ...bought]
    }
  }
}

function predictionWords(
  prediction: LabPrediction,
  given: PredictionResult['given'],
  direction: Direction,
  pair: Pair,
  met: boolean | null,
): Statement {
  const measured = moved(prediction.metric, pair)
  if (!given || met === null) return measured
  const guess = directionWords(given.direction)
  const tolerance = Math.round(prediction.tolerance * 100)
  const predicted =
    given.factor === null
      ? message('reflect.said', { direction: guess })
      : message('reflect.saidTimes', { direction: guess, factor: rounded(given.factor) })
  const verdict = met
    ? message('reflect.right', { tolerance })
    : given.direction === direction
      ? message('reflect.directionRight', { tolerance })
      : message('reflect.wrong', { direction: directionWords(direction), tolerance })
  return together(predicted, measured, verdict)
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
  const metric = withoutNoise(prediction.metric, [before, after])
  const base = {
    id: prediction.id,
    metric: prediction.metric,
    label: metricLabel(metric),
    against,
    given,
    before: figureOf(before ?? undefined, metric),
    after: figureOf(after ?? undefined, metric),
  }
  const pair = before && after ? pairOf(before, after, metric) : null
  if (!session || !before || !after || !pair)
    return {
      ...base,
      factor: null,
      direction: null,
      status: 'unavailable',
      sentence:
        evidence.reason ?? base.after.reason ?? base.before.reason ?? message('checks.notMeasured'),
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
    sentence: predictionWords({ ...prediction, metric }, given, direction, pair, met),
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
  countedAt: Sizes,
): QuestionResult {
  const { session } = evidence
  const answer = answerOf(question.answer, {
    device: session && (session.device ?? tableDevice(gpuOfTarget(session.target))),
    sizes: usesCounts(question.answer) ? countedAt : lab.size,
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
      sentence: together(message('reflect.depends'), evidence.reason),
    }
  const gpu = session?.device?.name
  if (given === null)
    return { ...base, answer: null, status: 'not-given', sentence: message('reflect.noAnswer') }
  const right = Math.abs(given - answer) <= question.tolerance * Math.abs(answer)
  const values = { given: words(given), answer: words(answer) }
  return {
    ...base,
    status: right ? 'right' : 'wrong',
    sentence:
      gpu === undefined
        ? message(right ? 'reflect.answerRight' : 'reflect.answerWrong', values)
        : message(right ? 'reflect.answerRightOn' : 'reflect.answerWrongOn', { ...values, gpu }),
  }
}

/**
 * Grades the answers to a lab's questions. `countedAt` contains the problem sizes at which counters
 * were collected, if they differ from the lab's sizes.
 */
export const judgeQuestions = (
  lab: Lab,
  evidence: LabEvidence,
  answers: LabAnswers,
  countedAt: Sizes = lab.size,
): QuestionResult[] =>
  lab.questions.map((question) => judgeQuestion(lab, question, evidence, answers, countedAt))
