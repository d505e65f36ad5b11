/**
 * The pinned baseline rung for charts, or null if no rung is pinned or its session cannot be
 * compared.
 */
import { computed } from 'vue'
import type { RungResult, Session } from '../../../src-main/domain/session/session'
import { guardOf } from '../shared/comparison-guard'
import { areTimesRanked } from '../../../src-main/domain/analysis/comparability'
import { rungLabel } from './figure-table'
import { useBaselineStore } from '../../stores/baseline'

interface ChartBaseline {
  session: Session
  rung: RungResult
  name: string
  /**
   * Whether both sessions had the same L2 state, cold or warm, so that their times are comparable.
   */
  ranksTimes: boolean
}

export function useChartBaseline(session: () => Session) {
  const baselines = useBaselineStore()
  return computed((): ChartBaseline | null => {
    const base = baselines.baseline
    if (!base || guardOf(base.session, session()).refusals.length > 0) return null
    return {
      ...{ session: base.session, rung: base.rung, name: rungLabel(base.session, base.rung) },
      ranksTimes: areTimesRanked(base.session, session()),
    }
  })
}
