import { defineStore } from 'pinia'
import { shallowReactive } from 'vue'
import { useClient } from '../client/client'
import { track, type Loadable } from './loadable'
import type { DeepProfile } from '../../src-main/domain/session/deep'

/**
 * Deep profiles by session and rung, fetched on demand. The entry is null if the rung has no deep
 * profile. The map is shallowly reactive.
 */
export const useDeepStore = defineStore('deep', () => {
  const profiles = shallowReactive(new Map<string, Loadable<DeepProfile | null>>())
  const key = (ref: string, rung: string): string => `${ref} ${rung}`

  function open(ref: string, rung: string): void {
    const known = profiles.get(key(ref, rung))
    if (known && known.state !== 'failed') return
    void track(useClient().call('sessions.deep', { ref, rung }), (next) =>
      profiles.set(key(ref, rung), next),
    )
  }

  const of = (ref: string, rung: string): Loadable<DeepProfile | null> | undefined =>
    profiles.get(key(ref, rung))

  return { open, of }
})
