/** What a faster kernel saves of the time of all kernels of its program. */
import { shareOfTotal, totalProfiledMs } from '../programs/profiled-time'
import { climbs, type RungResult, type Session } from '../session/session'

export interface ProgramPart {
  /** The kernel's share of the total, from 0 to 1. */
  share: number
  /** The time of all kernels, in ms. */
  totalMs: number
  /** The total if the kernel becomes faster by this factor, in ms. */
  totalMsAfter: (speedup: number) => number
}

/** Returns a kernel's part in its program; null for a rung of a ladder. */
export function programPart(session: Session, rung: RungResult): ProgramPart | null {
  const totalMs = climbs(session) ? null : totalProfiledMs(session)
  const share = shareOfTotal(rung, totalMs)
  if (totalMs === null || share === null || session.rungs.length < 2) return null
  return { share, totalMs, totalMsAfter: (speedup) => totalMs * (1 - share * (1 - 1 / speedup)) }
}
