/** Metrics wherever they are listed: their grouping and order, their words, and a rung's times in the same form. */
import { useI18n } from 'vue-i18n'
import { metricGroups, type MetricGroup } from '../../src-main/domain/metrics/metric-definition'
import {
  metricDefinition,
  metricDefinitions,
  type MetricValue,
} from '../../src-main/domain/metrics/metrics'
import type { RungResult } from '../../src-main/domain/session/session'

// The grouping and order of metrics wherever they are listed.

export type MetricGroupId = MetricGroup | 'other'

/** The given ids in the registry's groups and order; unknown ones come last. */
export function groupMetrics(
  ids: readonly string[],
): { id: MetricGroupId; metrics: readonly string[] }[] {
  const known = metricDefinitions.filter(({ id }) => ids.includes(id))
  return [
    ...metricGroups.map((id) => ({
      id,
      metrics: known.filter(({ group }) => group === id).map((metric) => metric.id),
    })),
    { id: 'other' as const, metrics: ids.filter((id) => !metricDefinition(id)) },
  ].filter(({ metrics }) => metrics.length > 0)
}

// A metric's label and meaning in the current language. The registry has the English ones; the other
// locales have theirs under `metrics.<id>`.

export function useMetricWords() {
  const { t, te } = useI18n()
  const word = (id: string, part: 'label' | 'meaning'): string | undefined => {
    const key = `metrics.${id}.${part}`
    return te(key) ? t(key) : metricDefinition(id)?.[part]
  }
  const metricLabel = (id: string): string => word(id, 'label') ?? id
  return {
    /** The id itself if the registry does not know it. */
    metricLabel,
    /** `Stalled: barrier` → `barrier`, for contexts that imply the rest. */
    kindLabel: (id: string): string => metricLabel(id).replace(/^[^:：]*[:：]\s*/, ''),
    metricMeaning: (id: string): string | undefined => word(id, 'meaning'),
  }
}

// A rung's times with unit and origin, in the same form as the session's metrics.

/** Of a kernel that nothing else timed, all of its launches under ncu. */
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

/** The time of a program's kernels under ncu. */
export function gpuTimeFigure({ profiledTime }: RungResult): MetricValue | null {
  return profiledTime ? { value: profiledTime.totalMs, unit: 'ms', evidence: 'measured' } : null
}
