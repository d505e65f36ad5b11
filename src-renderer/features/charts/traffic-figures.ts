/** The bytes that a rung moves through each memory level, and the compulsory minimum. */
import type { RungResult, Session } from '../../../src-main/domain/session/session'
import { memoryLevels } from '../../../src-main/domain/gpu/ceilings'
import { trafficMetric } from '../../../src-main/domain/analysis/roofline'
import { leastBytes as leastBytesOf } from '../../../src-main/domain/task/problem'
import { bufferTitle } from '../../../src-main/domain/task/task'

export const trafficMetrics: readonly string[] = memoryLevels.map((level) => trafficMetric[level])

export function trafficRungs(session: Session): { rungs: RungResult[]; without: RungResult[] } {
  const has = ({ metrics }: RungResult) => trafficMetrics.some((id) => metrics[id]?.value != null)
  return {
    rungs: session.rungs.filter(has),
    without: session.rungs.filter((rung) => !has(rung)),
  }
}

/**
 * Returns the number of bytes moved if each of the task's buffers is read or written once. A kernel
 * that starts with cold caches cannot move fewer bytes to and from device memory. Returns null if
 * the problem is unknown.
 */
export const leastBytes = ({ problem, ladder }: Session): number | null =>
  problem && ladder.task && leastBytesOf(ladder.task, problem)

/** Returns the titles of the buffers that every rung has. */
export const bufferTitles = ({ ladder: { task } }: Session): string[] =>
  Object.entries(task?.buffers ?? {}).flatMap(([name, { when }]) =>
    when === undefined ? [bufferTitle(task, name)] : [],
  )
