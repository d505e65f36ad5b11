/**
 * Finds rungs that are slower than the previous rung, and the counter that explains the slowdown.
 */
import type { LadderRung } from '../ladder/ladder'
import { MetricDelta, RungComparison } from './compare'

export interface Slowdown {
  /** Whether the ladder declares that the rung is slower on purpose. */
  deliberate: boolean
  /**
   * Whether the measured slowdown exceeds the spreads of both rungs' times. Null if either rung has
   * no time.
   */
  slower: boolean | null
  /** Note about the rung in the ladder file. */
  note: string | null
  /** The counter that got worse by the largest factor, or null if no counter got worse. */
  metric: MetricDelta | null
}

/**
 * Returns a change's size as the logarithm of its factor, regardless of direction. A change to or
 * from zero counts as the largest possible change.
 */
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
 * Returns a rung's slowdown, or null if the rung is neither declared slower nor measured slower.
 * Counters that got worse take precedence over counters whose change is neither better nor worse.
 * Changes within the noise are ignored.
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
