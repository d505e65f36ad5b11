/** The input of a measurement, and the events that the measurement reports. */
import type { BuiltRung, Expected, RunnerStage } from '../../adapters/tools/runner'
import type { Toolbox } from '../../adapters/tools/toolbox'
import type { Problem } from '../../domain/task/problem'
import type { Task } from '../../domain/task/task'
import type { Ceilings } from '../../domain/gpu/ceilings'
import type { Measured } from './measured'
import type { CacheState } from '../../domain/session/session'

/** Settings shared by all measurements of a task. */
export interface TaskRunner {
  toolbox: Toolbox
  /** Path of the runner. */
  runner: string
  task: Task
  /** Folder of the files that fill buffers, or null in a replay. */
  taskFolder: string | null
  /** Expected results, or null in a replay, which verifies nothing. */
  expected: Expected | null
  seed: number
  /** Requested L2 contents. In a replay of an older recording, the recorded contents. */
  cacheState: CacheState
  /** Milliseconds without an event from the runner after which a rung counts as hung. */
  idleMs: number
  signal: AbortSignal
}

/** Rungs and options of one measurement. */
export interface Measurement {
  problem: Problem
  /** Rungs in measuring order. */
  rungs: readonly BuiltRung[]
  /** Id of the reference, which is one of `rungs`. */
  reference: string | null
  /** Key prefix of the raw output (default: `runner/measure`). */
  key?: `runner/${string}`
  /** Maximum sampling time per rung (default: the runner's limit). */
  maxSeconds?: number
  /** Whether to also time bursts and sustained launches. */
  bursts?: boolean
  sustained?: boolean
}

export type MeasureEvent =
  | { type: 'start'; rung: string; stage: RunnerStage }
  /** The result of the rung is right. */
  | { type: 'verified'; rung: string }
  | { type: 'measured'; rung: string; measured: Measured }
  /** Ceilings of the GPU, measured once before the first rung. */
  | { type: 'ceilings'; ceilings: Ceilings }
  /** An event was ignored, because the runner cannot send it during this rung. */
  | { type: 'out-of-turn'; rung: string }

/** Parameters of one attempt within the whole measurement. */
export interface MeasureRequest extends TaskRunner, Measurement {
  tell: (event: MeasureEvent) => void
}
