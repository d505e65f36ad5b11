/** Settings of a measurement on a GPU, besides its plan. */
import type { CacheState } from '../../domain/session/session'

export interface RunSettings {
  seed: number
  /** The L2 contents when a launch is timed. */
  cacheState: CacheState
  /** A rung counts as hung after this long without an event. */
  idleSeconds: number
  /** Delays between profiling attempts while another tool is using the counters. */
  busyWaitsMs: readonly number[]
  /** false: if another run is using the GPU, throw instead of waiting. */
  waitForGpu: boolean
  /** Index from 0 among the visible GPUs; CUDA's first if absent. */
  gpu?: number
}

export const defaultSettings: RunSettings = {
  seed: 1,
  cacheState: 'cold',
  idleSeconds: 60,
  busyWaitsMs: [3000, 10_000],
  waitForGpu: true,
}
