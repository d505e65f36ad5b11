/** The input of a measurement, and the events that it reports. */
import type { BuiltRung, Expected, RunnerStage } from '../../adapters/tools/runner'
import type { Toolbox } from '../../adapters/tools/toolbox'
import type { Problem } from '../../domain/task/problem'
import type { Task } from '../../domain/task/task'
import type { Ceilings } from '../../domain/gpu/ceilings'
import type { Measured } from './measured'
import type { CacheState } from '../../domain/session/session'

/** The runner, ready for a task: the settings that all its measurements share. */
export interface TaskRunner {
  toolbox: Toolbox
  /** The path of the runner. */
  runner: string
  task: Task
  /** The folder of the files that fill buffers; null in a replay. */
  taskFolder: string | null
  /** null in a replay, which verifies nothing. */
  expected: Expected | null
  seed: number
  /** The requested L2 contents; in a replay of an older recording, the recorded contents. */
  cacheState: CacheState
  /** Milliseconds without an event from the runner after which a rung counts as hung. */
  idleMs: number
  signal: AbortSignal
}

/** What to measure. */
export interface Measurement {
  problem: Problem
  /** In measuring order. */
  rungs: readonly BuiltRung[]
  /** One of `rungs`. */
  reference: string | null
  /** Key prefix of the raw output; `runner/measure` by default. */
  key?: `runner/${string}`
  /** Maximum sampling time per rung; the runner's default unless given. */
  maxSeconds?: number
  /** Time bursts and sustained launches too. */
  bursts?: boolean
  sustained?: boolean
}

export type MeasureEvent =
  | { type: 'start'; rung: string; stage: RunnerStage }
  /** The rung's result is right. */
  | { type: 'verified'; rung: string }
  | { type: 'measured'; rung: string; measured: Measured }
  /** The GPU's ceilings, measured once before the first rung. */
  | { type: 'ceilings'; ceilings: Ceilings }
  /** An event was ignored, because the runner could not have sent it during this rung. */
  | { type: 'out-of-turn'; rung: string }

/** What one attempt needs from the whole measurement. */
export interface MeasureRequest extends TaskRunner, Measurement {
  tell: (event: MeasureEvent) => void
}
