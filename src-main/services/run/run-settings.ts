/** Settings for a measurement on a GPU, in addition to its plan. */
import type { CacheState } from '../../domain/session/session'

export interface RunSettings {
  seed: number
  /** L2 cache state when a launch is timed. */
  cacheState: CacheState
  /** If there is no event for this many seconds, the current rung is considered hung. */
  idleSeconds: number
  /** Delays in milliseconds between profiling attempts while another tool is using the counters. */
  busyWaitsMs: readonly number[]
  /**
   * Whether to wait while another run uses the GPU. If false, the run fails if the GPU is in use.
   */
  waitForGpu: boolean
  /** GPU index from 0 among the visible GPUs. If absent, CUDA's first GPU is used. */
  gpu?: number
}

export const defaultSettings: RunSettings = {
  seed: 1,
  cacheState: 'cold',
  idleSeconds: 60,
  busyWaitsMs: [3000, 10_000],
  waitForGpu: true,
}
