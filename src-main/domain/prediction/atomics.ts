/** Atomics on one address follow one another in L2, whichever SM they come from. */
import type { ParameterValues } from './parameter-table'
import type { LaunchTrace } from './warp-trace'
import { eventHead, eventKinds } from './warp-trace'

/** Cycles that the atomics of a launch take at least; `scale` is how many times the blocks of the trace there are. */
export function hottestAtomics(
  { blocks }: LaunchTrace,
  scale: number,
  values: ParameterValues,
): number {
  /** Cycles by line. */
  const byLine = new Map<number, number>()
  let lanes = 0
  for (const { warps } of blocks)
    for (const { events } of warps)
      for (let at = 0; at < events.length;) {
        const kind = events[at + 2]!
        const from = at + eventHead
        if (kind === eventKinds.shared || kind === eventKinds.local) at = from + 1
        else if (kind >= eventKinds.arrive) at = from + 2
        else {
          const bulk = kind === eventKinds.bulkLoad || kind === eventKinds.bulkStore
          const first = bulk ? from : from + 3
          const count = events[first]!
          if (kind === eventKinds.atomic || kind === eventKinds.reduction) {
            lanes += events[from + 1]!
            const lanesOfLine = events[from + 1]! / count
            // A lane alone is one counter; many lanes of a line mostly go to different words of it.
            const cycles =
              lanesOfLine <= 1 ? values.atomicSameAddress : lanesOfLine * values.atomicSameLine
            for (let place = first + 1; place < first + 1 + 2 * count; place += 2)
              byLine.set(events[place]!, (byLine.get(events[place]!) ?? 0) + cycles)
          }
          at = first + 1 + 2 * count
        }
      }
  if (lanes === 0) return 0
  const hottest = Math.max(...byLine.values())
  return scale * Math.max(hottest, lanes / values.atomicsPerCycle)
}
