/**
 * The cost of atomics. L2 serializes atomics on the same address, regardless of the SM that issues
 * them.
 */
import type { ParameterValues } from './parameter-table'
import type { LaunchTrace } from './warp-trace'
import { eventHead, eventKinds, eventWords, linesAt } from './warp-trace'

/**
 * Returns the minimum cycles for a launch's atomics. `scale` is the number of all blocks divided by
 * the number of blocks in the trace.
 */
export function hottestAtomics(
  { blocks }: LaunchTrace,
  scale: number,
  values: ParameterValues,
): number {
  /** Cycles of atomics by memory line. */
  const byLine = new Map<number, number>()
  let lanes = 0
  for (const { warps } of blocks)
    for (const { events } of warps)
      for (let at = 0; at < events.length; at += eventWords(events, at)) {
        const kind = events[at + 2]!
        if (kind !== eventKinds.atomic && kind !== eventKinds.reduction) continue
        const first = linesAt(events, at)
        const count = events[first]!
        const own = events[at + eventHead + 1]!
        lanes += own
        const lanesOfLine = own / count
        // A single lane usually updates a counter. Many lanes of a line usually access different
        // words.
        const cycles =
          lanesOfLine <= 1 ? values.atomicSameAddress : lanesOfLine * values.atomicSameLine
        for (let place = first + 1; place < first + 1 + 2 * count; place += 2)
          byLine.set(events[place]!, (byLine.get(events[place]!) ?? 0) + cycles)
      }
  if (lanes === 0) return 0
  const hottest = Math.max(...byLine.values())
  return scale * Math.max(hottest, lanes / values.atomicsPerCycle)
}
