/** Explains why b is faster or slower than a, once all required data is loaded. */
import { computed, shallowRef, watch } from 'vue'
import type { Hunk } from '../../../src-main/domain/analysis/chain'
import { whyOf, type Side, type Why } from '../../../src-main/domain/why/why'
import { withoutHeader } from './source-text'
import type { SourceSide } from './use-compare-pair'

interface Known {
  a: Side
  b: Side
  /**
   * The causes do not need the sources. The sources only tell which lines are part of the change.
   * null if a side has none.
   */
  sources: { a: SourceSide; b: SourceSide } | null
}

/** Returns undefined while `known` does, that is, while profiles or sources are loading. */
export function useWhy(known: () => Known | undefined) {
  const hunks = shallowRef<Hunk[] | null>()
  watch(
    () => known()?.sources,
    async (sources) => {
      hunks.value = sources?.a.deep || sources?.b.deep ? undefined : null
      if (!sources || hunks.value === null) return
      // Loaded on demand because it brings in CodeMirror, which nothing else here needs.
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
