/** The pinned rung as charts need it: null without one, and where its session allows no verdict on this one. */
import { computed } from 'vue'
import type { RungResult, Session } from '../../../src-main/domain/session/session'
import { useBaselineStore } from '../../stores/baseline'
import { guardOf } from '../session-guard'
import { rungLabel } from './figure'

export interface ChartBaseline {
  session: Session
  rung: RungResult
  name: string
}

export function useChartBaseline(session: () => Session) {
  const baselines = useBaselineStore()
  return computed((): ChartBaseline | null => {
    const base = baselines.baseline
    if (!base || guardOf(base.session, session()).refusals.length > 0) return null
    return { session: base.session, rung: base.rung, name: rungLabel(base.session, base.rung) }
  })
}
