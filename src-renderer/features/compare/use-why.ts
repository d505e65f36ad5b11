/** Explains why b is faster or slower than a, after all required data is loaded. */
import { computed, shallowRef, watch } from 'vue'
import type { Hunk } from '../../../src-main/domain/analysis/chain'
import { whyOf, type Side, type Why } from '../../../src-main/domain/why/why'
import { withoutHeader } from './source-text'
import type { SourceSide } from './use-compare-pair'

interface Known {
  a: Side
  b: Side
  /**
   * The sources, or null if a side has no source. The sources are used only to find the changed
   * lines. The causes do not require the sources.
   */
  sources: { a: SourceSide; b: SourceSide } | null
}

/**
 * Returns the causes, or undefined while profiles or sources are loading. `known` returns undefined
 * while the data is loading.
 */
export function useWhy(known: () => Known | undefined) {
  const hunks = shallowRef<Hunk[] | null>()
  watch(
    () => known()?.sources,
    async (sources) => {
      hunks.value = sources?.a.deep || sources?.b.deep ? undefined : null
      if (!sources || hunks.value === null) return
      // Load this module on demand, because it includes CodeMirror, which nothing else in this file
      // needs.
      const { sourceHunks } = await import('./source-hunks')
      if (known()?.sources !== sources) return
      const side = ({ text, file }: SourceSide) => withoutHeader(text, file)
      hunks.value = sourceHunks(side(sources.a), side(sources.b))
    },
    { immediate: true },
  )
  return computed<Why | undefined>(() => {
    const all = known()
    return all && hunks.value !== undefined ? whyOf(all.a, all.b, hunks.value) : undefined
  })
}
