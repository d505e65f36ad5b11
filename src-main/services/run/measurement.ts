/** Input to a measurement, and the events that a measurement reports. */
import type { BuiltRung, Expected, RunnerStage } from '../../adapters/tools/runner'
import type { Toolbox } from '../../adapters/tools/toolbox'
import type { Problem } from '../../domain/task/problem'
import type { Task } from '../../domain/task/task'
import type { Ceilings } from '../../domain/gpu/ceilings'
import type { Measured } from './measured'
import type { CacheState } from '../../domain/session/session'

/** Settings that all of a task's measurements share. */
export interface TaskRunner {
  toolbox: Toolbox
  /** The runner's path. */
  runner: string
  task: Task
  /** Folder that contains the files that fill the buffers, or null in a replay. */
  taskFolder: string | null
  /** Expected results, or null in a replay, which verifies nothing. */
  expected: Expected | null
  seed: number
  /**
   * Requested state of the L2 cache. A replay of an older recording uses the recorded state.
   */
  cacheState: CacheState
  /**
   * If the runner sends no event for this many milliseconds, the current rung is considered hung.
   */
  idleMs: number
  signal: AbortSignal
}

/** One measurement's rungs and options. */
export interface Measurement {
  problem: Problem
  /** Rungs in the order in which they are measured. */
  rungs: readonly BuiltRung[]
  /** The reference's id, which is one of `rungs`. */
  reference: string | null
  /** Key prefix of the raw output, by default `runner/measure`. */
  key?: `runner/${string}`
  /** Maximum sampling time per rung, in seconds (default: the runner's limit). */
  maxSeconds?: number
  /** Whether to also time bursts and sustained launches. */
  bursts?: boolean
  sustained?: boolean
}

export type MeasureEvent =
  | { type: 'start'; rung: string; stage: RunnerStage }
  /** The rung's result is correct. */
  | { type: 'verified'; rung: string }
  | { type: 'measured'; rung: string; measured: Measured }
  /** The GPU's peak rates, measured once before the first rung. */
  | { type: 'ceilings'; ceilings: Ceilings }
  /** An event was ignored, because the runner cannot send that event during this rung. */
  | { type: 'out-of-turn'; rung: string }

/** Parameters for one runner attempt within a measurement. */
export interface MeasureRequest extends TaskRunner, Measurement {
  tell: (event: MeasureEvent) => void
}
