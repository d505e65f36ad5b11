/** The report embedded in this page. The page parses it once, before anything else. */
import { type InjectionKey, inject } from 'vue'
import {
  deepElementId,
  frozenElementId,
  FrozenReport,
  PackedDeep,
  type FrozenDeep,
} from '../../../src-main/domain/report/frozen-report'

export const frozenKey: InjectionKey<FrozenReport> = Symbol('frozen report')

export function readFrozen(page: Document): FrozenReport {
  const text = page.getElementById(frozenElementId)?.textContent
  if (!text) throw new Error('The page holds no session.')
  return FrozenReport.parse(JSON.parse(text))
}

/**
 * Reads a session's deep profiles from the page. Returns an empty result if the page contains no
 * deep profiles.
 */
export async function readFrozenDeep(page: Document, session: number): Promise<FrozenDeep> {
  const packed = page.getElementById(deepElementId(session))?.textContent
  if (!packed) return {}
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0))
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))
  return PackedDeep.parse(await new Response(stream).json())
}

export function useFrozen(): FrozenReport {
  const frozen = inject(frozenKey)
  if (!frozen) throw new Error('This component must be used inside a report.')
  return frozen
}
