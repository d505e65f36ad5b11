/** Sums launch times measured by ncu or CUPTI. */
import type { Session, ProfiledTime, RungResult } from '../session/session'
import { ascending, quantile } from '../analysis/confidence-intervals'

/** Returns statistics of the launch times, or undefined if there are no launches. */
export function profiledTime(
  launchesMs: readonly number[],
  timer: 'ncu' | 'cupti' = 'ncu',
): ProfiledTime | undefined {
  if (launchesMs.length === 0) return undefined
  const sorted = ascending(launchesMs)
  const medianMs = quantile(sorted, 0.5)
  return {
    ...(timer === 'cupti' ? { timer } : {}),
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

/** Returns the total time of a session's kernels in ms, or null if none was timed. */
export function totalProfiledMs({
  rungs,
  program,
}: Pick<Session, 'rungs' | 'program'>): number | null {
  if (program) return program.totalMs
  const times = rungs.flatMap(({ profiledTime: time }) => (time ? [time.totalMs] : []))
  return times.length === 0 ? null : times.reduce((sum, ms) => sum + ms, 0)
}

/**
 * Returns whether CUPTI timed a session's kernels. Kernels timed by CUPTI can overlap, so the total
 * time can count the same time more than once.
 */
export const isTimedTogether = ({ rungs }: Pick<Session, 'rungs'>): boolean =>
  rungs.some(({ profiledTime: time }) => time?.timer === 'cupti')

/** Returns a kernel's fraction of its session's GPU time, 0 to 1, or null if unknown. */
export function shareOfTotal(rung: RungResult, total: number | null): number | null {
  return rung.profiledTime && total ? rung.profiledTime.totalMs / total : null
}
