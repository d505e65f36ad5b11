/** Times of launches under ncu, summed up. Pure. */
import type { ProfiledTime, RungResult, Session } from '../session/session'

/** The value below which a share of the sorted values lies, between neighbours in proportion. */
function quantile(sorted: readonly number[], share: number): number {
  const at = (sorted.length - 1) * share
  const below = sorted[Math.floor(at)]!
  return below + (sorted[Math.ceil(at)]! - below) * (at - Math.floor(at))
}

/** undefined without any launch. */
export function profiledTime(launchesMs: readonly number[]): ProfiledTime | undefined {
  if (launchesMs.length === 0) return undefined
  const sorted = [...launchesMs].sort((a, b) => a - b)
  const medianMs = quantile(sorted, 0.5)
  return {
    launches: sorted.length,
    totalMs: sorted.reduce((sum, ms) => sum + ms, 0),
    medianMs,
    minMs: sorted[0]!,
    maxMs: sorted.at(-1)!,
    spread:
      sorted.length < 2 || medianMs === 0
        ? null
        : (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / medianMs,
  }
}

/** All kernels of a session together, in ms; null if none was timed by ncu. */
export function totalProfiledMs({ rungs }: Pick<Session, 'rungs'>): number | null {
  const times = rungs.flatMap(({ profiledTime: time }) => (time ? [time.totalMs] : []))
  return times.length === 0 ? null : times.reduce((sum, ms) => sum + ms, 0)
}

/** A kernel's share of the GPU time of its session, from 0 to 1; null if it is not known. */
export function shareOfTotal(rung: RungResult, total: number | null): number | null {
  return rung.profiledTime && total ? rung.profiledTime.totalMs / total : null
}
