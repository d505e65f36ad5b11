/**
 * Estimates the cost of a launch's atomics. L2 serializes atomics on the same line, even if
 * different SMs issue them.
 */
import type { ParameterValues } from './parameter-table'
import type { LaunchTrace } from './warp-trace'
import { eventHead, eventKinds, eventWords, linesAt } from './warp-trace'

interface LineAtomics {
  requests: number
  lanes: number
  /** Mask of the sectors that the requests accessed. */
  sectors: number
}

/**
 * Returns the minimum number of cycles for a launch's atomics. `scale` is the ratio of all blocks
 * to the blocks in the trace.
 */
export function hottestAtomics(
  { blocks }: LaunchTrace,
  scale: number,
  values: ParameterValues,
): number {
  const byLine = new Map<number, LineAtomics>()
  let [requests, lanes] = [0, 0]
  for (const { warps } of blocks)
    for (const { events } of warps)
      for (let at = 0; at < events.length; at += eventWords(events, at)) {
        const kind = events[at + 2]!
        if (kind !== eventKinds.atomic && kind !== eventKinds.reduction) continue
        const first = linesAt(events, at)
        const count = events[first]!
        const own = events[at + eventHead + 1]!
        requests += count
        lanes += own
        for (let place = first + 1; place < first + 1 + 2 * count; place += 2) {
          const line = byLine.get(events[place]!) ?? { requests: 0, lanes: 0, sectors: 0 }
          line.requests++
          line.lanes += own / count
          line.sectors |= events[place + 1]! & allSectors
          byLine.set(events[place]!, line)
        }
      }
  if (lanes === 0) return 0
  let hottest = 0
  for (const line of byLine.values())
    hottest = Math.max(
      hottest,
      certainShare(line.requests, requests / byLine.size) * cyclesOf(line, values),
    )
  return (
    scale *
    Math.max(hottest, lanes / values.atomicsPerCycle, requests / values.atomicRequestsPerCycle)
  )
}

const allSectors = 15

/** Returns the number of cycles that L2 needs for the requests to a line. */
function cyclesOf({ requests, lanes, sectors }: LineAtomics, values: ParameterValues): number {
  const isOneSector = (sectors & (sectors - 1)) === 0
  // L2 combines requests to a single counter. Each request to the counter has one lane, and all
  // requests access the same sector.
  if (isOneSector && lanes <= requests) return requests * values.atomicSameAddress
  return Math.max(requests * values.atomicLineRequest, lanes * values.atomicSameLine)
}

/**
 * Returns the fraction of a line's requests to include in the estimate. In a sample of many lines,
 * the line with the most requests exceeds the mean partly by chance. The estimate therefore
 * subtracts two standard deviations from that line's requests, but is never below the mean.
 */
const certainShare = (requests: number, mean: number): number =>
  Math.max(mean, requests - 2 * Math.sqrt(requests)) / requests
