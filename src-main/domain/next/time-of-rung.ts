/** Selects the rung time that recommendations use. */
import type { RungResult } from '../session/session'

export interface RungTime {
  ms: number
  /** `profiled`: the time is from ncu or CUPTI, because the runner did not time the launch. */
  evidence: 'measured' | 'profiled' | 'predicted'
}

/** Returns a rung's time and its source, or null if the rung has no time. */
export function timeOfRung(rung: RungResult): RungTime | null {
  const nanoseconds = rung.ncuMetrics?.['gpu__time_duration.sum']?.value
  const found: readonly (readonly [number | undefined, RungTime['evidence']])[] = [
    [rung.timing?.medianMs, 'measured'],
    [rung.predicted?.ms, 'predicted'],
    [typeof nanoseconds === 'number' ? nanoseconds / 1e6 : undefined, 'profiled'],
    [rung.profiledTime?.medianMs, 'profiled'],
  ]
  for (const [ms, evidence] of found)
    if (ms !== undefined && Number.isFinite(ms) && ms > 0) return { ms, evidence }
  return null
}
