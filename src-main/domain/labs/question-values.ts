/** The values that a question's answer formula can use, and their sources. */
import { metricDefinition } from '../metrics/metrics'
import { Sizes } from '../task/problem'
import { evaluate, parseExpression } from '../task/expression'
import type { RungResult } from '../session/session'
import type { Device } from '../gpu/device'

/** Properties of the student's GPU. The units are the same as in the session format. */
export const deviceNames = [
  'smCount',
  'smClockMaxMHz',
  'l2Bytes',
  'sharedPerSmBytes',
  'sharedPerBlockOptinBytes',
  'registersPerSm',
  'maxThreadsPerSm',
  'maxBlocksPerSm',
] as const satisfies readonly (keyof Device)[]

/** Constants with the same value on every supported GPU. */
const constants: Readonly<Record<string, number>> = { warpSize: 32 }

/**
 * Prefixes of a rung's figures: `your.` refers to the submission, and `before.` to the lab's
 * `before` rung.
 */
const sides = ['your', 'before'] as const

const sideFigures = ['timeMs', 'registers', 'sharedBytes'] as const

const questionNames: readonly string[] = [...deviceNames, ...Object.keys(constants)]

/**
 * Returns whether an answer formula may use a name. Valid names are `questionNames`, task sizes,
 * and `your.` or `before.` followed by a figure or metric.
 */
export function isQuestionName(name: string, sizes: readonly string[]): boolean {
  const [side, figure, more] = name.split('.')
  if (figure === undefined) return questionNames.includes(name) || sizes.includes(name)
  return (
    more === undefined &&
    sides.some((known) => known === side) &&
    (sideFigures.some((known) => known === figure) || metricDefinition(figure) !== undefined)
  )
}

interface QuestionFacts {
  /** Known properties of the GPU; null if the GPU is unknown. */
  device: Partial<Device> | null
  sizes: Sizes
  your: RungResult | null
  before: RungResult | null
}

function figureOf(rung: RungResult | null, figure: string): number | null {
  if (!rung) return null
  if (figure === 'timeMs') return rung.timing?.medianMs ?? null
  if (figure === 'registers') return rung.build?.registersPerThread ?? null
  if (figure === 'sharedBytes') return rung.build?.staticSharedBytes ?? null
  return rung.metrics[figure]?.value ?? null
}

function valueOf(facts: QuestionFacts, name: string): number | null {
  const [side = '', figure] = name.split('.')
  if (figure !== undefined) return figureOf(side === 'your' ? facts.your : facts.before, figure)
  const size = facts.sizes[name]
  if (size !== undefined) return size
  const ofDevice = deviceNames.find((known) => known === name)
  if (ofDevice) return facts.device?.[ofDevice] ?? null
  return constants[name] ?? null
}

/** Returns whether an answer formula uses counters, which depend on the problem size. */
export const usesCounts = (answer: string): boolean =>
  [...answer.matchAll(/\b(?:your|before)\.(\w+)/g)].some(
    ([, figure]) => metricDefinition(figure!)?.aggregate === 'sum',
  )

/** Returns an answer formula's value, or null if one of its names has no known value. */
export const answerOf = (answer: string, facts: QuestionFacts): number | null =>
  evaluate(parseExpression(answer), (name) => valueOf(facts, name))
