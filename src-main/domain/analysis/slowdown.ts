/** A rung that is slower than the one before it, and the counter that shows what it costs. Pure. */
import type { MetricDelta, RungComparison } from './compare'
import type { LadderRung } from '../ladder/ladder'

export interface Slowdown {
  /** The ladder says that it is slower on purpose. */
  deliberate: boolean
  /** It was measured to be slower, beyond the spread of both; null where a side has no time. */
  slower: boolean | null
  /** The ladder's own sentence. */
  note: string | null
  /** The counter that got worse by the largest factor; null where none did. */
  metric: MetricDelta | null
}

/** How far two values lie apart as a factor; from nothing to something is farther than any factor. */
const distance = ({ a, b }: MetricDelta): number => {
  const [left, right] = [a?.value ?? 0, b?.value ?? 0]
  if (left === right) return 0
  return left === 0 || right === 0 ? Number.MAX_VALUE : Math.abs(Math.log(right / left))
}

const farthest = (deltas: readonly MetricDelta[]): MetricDelta | null =>
  deltas.reduce<MetricDelta | null>(
    (best, delta) => (best === null || distance(delta) > distance(best) ? delta : best),
    null,
  )

/**
 * Null for a rung that neither was meant to be slower nor is. A counter with a better-direction speaks
 * before one without; counters that moved within their noise do not speak.
 */
export function slowdownOf(
  entry: Pick<LadderRung, 'negative' | 'note'> | undefined,
  comparison: RungComparison | undefined,
): Slowdown | null {
  const verdict = comparison?.time.verdict ?? 'unknown'
  const deliberate = entry?.negative === true
  if (!deliberate && verdict !== 'worse') return null
  const moved = (wanted: MetricDelta['verdict']) =>
    comparison?.metrics.filter((delta) => delta.verdict === wanted) ?? []
  return {
    deliberate,
    slower: verdict === 'unknown' ? null : verdict === 'worse',
    note: entry?.note ?? null,
    metric: farthest(moved('worse')) ?? farthest(moved('changed')),
  }
}
