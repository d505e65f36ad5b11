/** The heat of each line in both sources, computed from the rungs' deep profiles. */
import { computed, ref } from 'vue'
import { lineHeat, type DeepProfile, type HeatKind } from '../../../src-main/domain/session/deep'
import type { Heat } from '../../ui/code-heat'
import { t } from '../../ui/words'

export interface ProfiledSource {
  text: string
  file: string
  /** The deep profile, or null if the rung was not profiled at the deep level. */
  deep: DeepProfile | null
}

export const heatChoices = [
  'none',
  'samples',
  'executed',
  'sharedWavefrontsExcess',
  'globalL2SectorsExcess',
] as const

function heatOf({ deep, file }: ProfiledSource, kind: HeatKind): Heat | null {
  if (!deep) return null
  return new Map(
    lineHeat(deep, kind)
      .filter((heat) => heat.file === file)
      .map((heat) => [heat.line, heat.share]),
  )
}

export function useSourceHeat(sources: Readonly<{ a: ProfiledSource; b: ProfiledSource }>) {
  const chosen = ref<(typeof heatChoices)[number]>()
  /** Whether stall samples exist. An emulated GPU has no stall samples. */
  const isSampled = computed(() => {
    const counted = [sources.a.deep, sources.b.deep].filter((deep) => deep !== null)
    return counted.length === 0 || counted.some((deep) => lineHeat(deep, 'samples').length > 0)
  })
  const heatKind = computed({
    get: () => chosen.value ?? (isSampled.value ? 'samples' : 'executed'),
    set: (kind) => (chosen.value = kind),
  })
  const heats = computed(() => {
    const kind = heatKind.value
    return kind === 'none'
      ? { a: null, b: null }
      : { a: heatOf(sources.a, kind), b: heatOf(sources.b, kind) }
  })
  // Explain a heat column that is all zeros, because it would otherwise look broken.
  const coldSides = computed(() =>
    (['a', 'b'] as const).filter((side) => heats.value[side]?.size === 0),
  )
  const heatWords = computed(() =>
    [
      heatKind.value === 'none'
        ? ''
        : coldSides.value.length > 0
          ? t('compare.heatNone', { sides: coldSides.value.join(', ') })
          : t('compare.heatUnit'),
      sources.a.deep && sources.b.deep
        ? ''
        : t('compare.deepOneSide', { side: sources.a.deep ? 'b' : 'a' }),
    ]
      .filter(Boolean)
      .join(' · '),
  )
  return { heatKind, heats, heatWords }
}
