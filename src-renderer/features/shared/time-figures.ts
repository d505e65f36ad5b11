/** A rung's times with unit and origin, in the same form as the session's metrics. */
import { t } from '../../ui/words'
import type { MetricValue } from '../../../src-main/domain/metrics/metrics'
import type { CacheState, RungResult } from '../../../src-main/domain/session/session'
import { message } from '../../../src-main/domain/messages/message'
import { useStatement } from '../../ui/statement'

/**
 * Returns the rung's time. If only ncu timed a kernel, returns the total time of all its launches.
 */
export function timeFigure({ timing, profiledTime }: RungResult): MetricValue | null {
  const ms = timing?.medianMs ?? profiledTime?.totalMs
  return ms === undefined ? null : { value: ms, unit: 'ms', evidence: 'measured' }
}

export const throughputFigure = (rung: RungResult): MetricValue | null =>
  rung.timing && {
    value: rung.timing.gflops,
    unit: 'GFLOP/s',
    evidence: rung.timing.gflops === null ? 'unavailable' : 'derived',
  }

export const ratioFigure = (rung: RungResult): MetricValue | null =>
  rung.timing && {
    value: rung.timing.ratioToReference,
    unit: '×',
    evidence: rung.timing.ratioToReference === null ? 'unavailable' : 'derived',
  }

/** Returns the total time of a program's kernels under ncu. */
export function gpuTimeFigure({ profiledTime }: RungResult): MetricValue | null {
  return profiledTime ? { value: profiledTime.totalMs, unit: 'ms', evidence: 'measured' } : null
}

/** Returns a function that formats an L2 state, for example as `L2 cold`. */
export function useCacheText() {
  const { text } = useStatement()
  return (state: CacheState): string =>
    t('ladder.cacheState', { state: text(message(`cacheState.${state}`)) })
}
