/** The two compared rungs and their data. The rungs are in one or two sessions. */
import { computed, watch } from 'vue'
import { compareRungs } from '../../../src-main/domain/analysis/compare'
import { asCompiled } from '../../../src-main/domain/ladder/rung'
import type { DeepProfile } from '../../../src-main/domain/session/deep'
import { rungOf, type RungResult, type Session } from '../../../src-main/domain/session/session'
import { useSessionsStore } from '../../stores/sessions'
import { valueOf } from '../../stores/loadable'
import type { MachineRung } from '../sass/sass-view'
import { guardOf, withoutVerdicts } from '../shared/comparison-guard'
import { useDeepStore } from '../../stores/deep-profiles'

interface PairAddress {
  sessionRef: string
  /** Rung b's session, or undefined if both rungs are in one session. */
  with: string | undefined
  a: string | undefined
  b: string | undefined
}

export interface CompareSide {
  session: Session
  rung: RungResult
}

/** A source and its per-line profile. */
export interface SourceSide {
  text: string
  file: string
  deep: DeepProfile | null
}

export function useComparePair(address: () => PairAddress) {
  const sessions = useSessionsStore()
  const deep = useDeepStore()
  const refs = computed(() => {
    const { sessionRef, with: other } = address()
    return { a: sessionRef, b: other ?? sessionRef }
  })

  function load(): void {
    sessions.open(refs.value.a)
    sessions.fetch(refs.value.b)
    for (const ref of new Set(Object.values(refs.value))) sessions.openSources(ref)
  }
  // Do not use watchEffect here, because a failed fetch would trigger it again and refetch forever.
  watch(() => `${refs.value.a} ${refs.value.b}`, load, { immediate: true })

  const loadables = computed(() => [
    sessions.sessions.get(refs.value.a),
    sessions.sessions.get(refs.value.b),
  ])
  const failure = computed(() => loadables.value.find((one) => one?.state === 'failed'))
  const sessionA = computed(() => valueOf(sessions.sessions.get(refs.value.a)))
  const sessionB = computed(() => valueOf(sessions.sessions.get(refs.value.b)))

  const pair = computed<{ a: CompareSide; b: CompareSide } | undefined>(() => {
    const { a, b } = address()
    if (!sessionA.value || !sessionB.value || a === undefined || b === undefined) return undefined
    const left = rungOf(sessionA.value, a)
    const right = rungOf(sessionB.value, b)
    return left && right
      ? {
          a: { session: sessionA.value, rung: left },
          b: { session: sessionB.value, rung: right },
        }
      : undefined
  })

  const across = computed(() => refs.value.a !== refs.value.b)
  const guard = computed(() =>
    across.value && sessionA.value && sessionB.value
      ? guardOf(sessionA.value, sessionB.value)
      : undefined,
  )
  const comparison = computed(() => {
    if (!pair.value) return undefined
    const found = compareRungs(pair.value.a, pair.value.b)
    return guard.value?.refusals.length ? withoutVerdicts(found) : found
  })

  watch(
    () => pair.value && [refs.value.a, pair.value.a.rung.id, refs.value.b, pair.value.b.rung.id],
    (found) => {
      if (!found) return
      const [refA = '', a = '', refB = '', b = ''] = found
      deep.open(refA, a)
      deep.open(refB, b)
    },
    { immediate: true },
  )

  const sourcesFailure = computed(() =>
    [refs.value.a, refs.value.b]
      .map((ref) => sessions.sources.get(ref))
      .find((one) => one?.state === 'failed'),
  )
  const deepOf = (ref: string, rung: string) => valueOf(deep.of(ref, rung)) ?? null
  const deepA = computed(() => pair.value && deepOf(refs.value.a, pair.value.a.rung.id))
  const deepB = computed(() => pair.value && deepOf(refs.value.b, pair.value.b.rung.id))

  /**
   * Whether the line profiles are loaded. The source view waits for the profiles, because it
   * unfolds hot lines.
   */
  const areProfilesKnown = computed(() => {
    const { a, b } = pair.value ?? {}
    const settled = (ref: string, rung: string): boolean =>
      ['ready', 'failed'].includes(deep.of(ref, rung)?.state ?? '')
    return a && b && settled(refs.value.a, a.rung.id) && settled(refs.value.b, b.rung.id)
  })

  const sideOf = (
    text: string,
    { file, params }: RungResult,
    profile: DeepProfile | null | undefined,
  ): SourceSide => ({ text: asCompiled(text, params), file, deep: profile ?? null })

  /**
   * The sources of both rungs, or undefined while loading. The result is null if a session lacks a
   * source.
   */
  const sources = computed<{ a: SourceSide; b: SourceSide } | null | undefined>(() => {
    const left = valueOf(sessions.sources.get(refs.value.a))
    const right = valueOf(sessions.sources.get(refs.value.b))
    const shown = pair.value
    if (!left || !right || !shown || !areProfilesKnown.value) return undefined
    const [a, b] = [left[shown.a.rung.id], right[shown.b.rung.id]]
    return a === undefined || b === undefined
      ? null
      : {
          a: sideOf(a, shown.a.rung, deepA.value),
          b: sideOf(b, shown.b.rung, deepB.value),
        }
  })

  /**
   * Data for the machine code view, or undefined while loading. Either side may be missing some of
   * the data.
   */
  const machine = computed<{ a: MachineRung; b: MachineRung } | undefined>(() => {
    const shown = pair.value
    if (!shown) return undefined
    const side = (ref: string, { rung }: CompareSide): MachineRung | undefined => {
      const profile = deep.of(ref, rung.id)
      const texts = sessions.sources.get(ref)
      if (profile?.state === 'loading' || texts?.state === 'loading') return undefined
      return {
        text: valueOf(texts)?.[rung.id] ?? null,
        file: rung.file,
        deep: valueOf(profile) ?? null,
        registers: (rung.launches ?? []).map(({ resources }) => resources.registersPerThread),
      }
    }
    const [a, b] = [side(refs.value.a, shown.a), side(refs.value.b, shown.b)]
    return a && b && { a, b }
  })

  return {
    load,
    failure,
    sessionA,
    sessionB,
    across,
    pair,
    guard,
    comparison,
    sources,
    machine,
    sourcesFailure,
    deepA,
    deepB,
  }
}
