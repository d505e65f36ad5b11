/** Computes how a faster kernel affects the total time of all kernels in its program. */
import { shareOfTotal, totalProfiledMs } from '../programs/profiled-time'
import { climbs, type RungResult, type Session } from '../session/session'

export interface ProgramPart {
  /** The kernel's fraction of the total time, 0 to 1. */
  share: number
  /** Total time of all kernels in ms. */
  totalMs: number
  /** Returns the total time in ms if the kernel becomes faster by the given factor. */
  totalMsAfter: (speedup: number) => number
}

/**
 * Returns a kernel's part of its program's total time. Returns null for a ladder's rung, or if the
 * program has only one kernel.
 */
export function programPart(session: Session, rung: RungResult): ProgramPart | null {
  const totalMs = climbs(session) ? null : totalProfiledMs(session)
  const share = shareOfTotal(rung, totalMs)
  if (totalMs === null || share === null || session.rungs.length < 2) return null
  return { share, totalMs, totalMsAfter: (speedup) => totalMs * (1 - share * (1 - 1 / speedup)) }
}
