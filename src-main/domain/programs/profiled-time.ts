/** Sums the times of launches under ncu or CUPTI. */
import type { Session, ProfiledTime, RungResult } from '../session/session'
import { ascending, quantile } from '../analysis/confidence-intervals'

/** undefined without any launch. */
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

/** All kernels of a session together, in ms; null if none was timed. */
export function totalProfiledMs({
  rungs,
  program,
}: Pick<Session, 'rungs' | 'program'>): number | null {
  if (program) return program.totalMs
  const times = rungs.flatMap(({ profiledTime: time }) => (time ? [time.totalMs] : []))
  return times.length === 0 ? null : times.reduce((sum, ms) => sum + ms, 0)
}

/** Whether CUPTI timed the kernels of a session, so that those that ran beside each other count twice. */
export const isTimedTogether = ({ rungs }: Pick<Session, 'rungs'>): boolean =>
  rungs.some(({ profiledTime: time }) => time?.timer === 'cupti')

/** A kernel's share of the GPU time of its session, from 0 to 1; null if it is not known. */
export function shareOfTotal(rung: RungResult, total: number | null): number | null {
  return rung.profiledTime && total ? rung.profiledTime.totalMs / total : null
}
