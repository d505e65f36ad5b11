/** Bytes that a rung moved through each level of the memory hierarchy, beside the least that any could. */
import { memoryLevels } from '../../../src-main/domain/gpu/ceilings'
import { trafficMetric } from '../../../src-main/domain/analysis/roofline'
import { problemOf, type RungResult, type Session } from '../../../src-main/domain/session/session'

export const trafficMetrics: readonly string[] = memoryLevels.map((level) => trafficMetric[level])

const elementBytes = { f32: 4, f16: 2, bf16: 2 } as const
const accumulatorBytes = 4

export function trafficRungs(session: Session): { rungs: RungResult[]; without: RungResult[] } {
  const has = ({ metrics }: RungResult) => trafficMetrics.some((id) => metrics[id]?.value != null)
  return {
    rungs: session.rungs.filter(has),
    without: session.rungs.filter((rung) => !has(rung)),
  }
}

/**
 * Bytes of A, B and C once each, and of C once more where beta keeps it: no kernel that starts with
 * cold caches moves fewer to and from device memory. C is float whatever the inputs are; see the launch
 * ABI. null where the problem is not known.
 */
export function leastBytes(session: Session): number | null {
  const problem = problemOf(session)
  if (!problem) return null
  const { m, n, k, beta, dtype } = problem
  return (m * k + k * n) * elementBytes[dtype] + m * n * accumulatorBytes * (beta === 0 ? 1 : 2)
}
