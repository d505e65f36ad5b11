/** The report that this page shows: read from it once, before anything else. */
import type { InjectionKey } from 'vue'
import { inject } from 'vue'
import { frozenElementId, FrozenReport } from '../../../src-main/domain/frozen-report'

export const frozenKey: InjectionKey<FrozenReport> = Symbol('frozen report')

export function readFrozen(page: Document): FrozenReport {
  const text = page.getElementById(frozenElementId)?.textContent
  if (!text) throw new Error('The page holds no session.')
  return FrozenReport.parse(JSON.parse(text))
}

export function useFrozen(): FrozenReport {
  const frozen = inject(frozenKey)
  if (!frozen) throw new Error('There is no report around this component.')
  return frozen
}
