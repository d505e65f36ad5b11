/** The pinned rung as charts need it: null without one, or where its session allows no verdict. */
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
  /** L2 held the same as in the session shown, so that times may be held against it. */
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
