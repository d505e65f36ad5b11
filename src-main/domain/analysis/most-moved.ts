/** The counters that changed most between two rungs, for sessions without times. */
import { message, type AnyMessage } from '../messages/message'
import { mixMetrics } from '../metrics/instruction-mix-metrics'
import { formatValue } from '../metrics/units'
import type { RungResult, Session } from '../session/session'
import { compareRungs, type MetricDelta } from './compare'

interface Side {
  session: Session
  rung: RungResult
}

const factor = ({ ratio }: MetricDelta): number =>
  ratio === null || ratio <= 0 ? Infinity : Math.abs(Math.log(ratio))

const categories = new Set(mixMetrics.map(({ id }) => id))

/**
 * Returns a counter's sort rank. Instruction categories come last, because even a tiny
 * category may appear or disappear completely.
 */
const rank = ({ id, verdict }: MetricDelta): number =>
  categories.has(id) ? 2 : verdict === 'changed' ? 1 : 0

/**
 * Returns the counters that changed most, largest factor first. Counters that have a better
 * direction (up or down) come first, and instruction categories come last. Returns null if the
 * rungs have no counter in common.
 */
export function mostMoved(a: Side, b: Side, most = 3): MetricDelta[] | null {
  const counted = compareRungs(a, b).metrics.filter(({ verdict }) => verdict !== 'unknown')
  if (counted.length === 0) return null
  return counted
    .filter(({ verdict }) => verdict !== 'same')
    .sort((one, other) => rank(one) - rank(other) || factor(other) - factor(one))
    .slice(0, most)
}

export const movedWords = (moves: readonly MetricDelta[]): AnyMessage[] =>
  moves.map(({ id, a, b, unit }) =>
    message('why.moved', {
      metric: { metric: id },
      a: formatValue(a!.value!, unit),
      b: formatValue(b!.value!, unit),
    }),
  )
