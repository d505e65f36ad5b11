/** Defines the interface for the emulators that toolboxes provide. */
import type { EventEmitter } from 'node:events'
import type { EmulationJob } from '../../domain/emulation/job'
import type { PredictionGpu } from '../../domain/prediction/prediction'

/** A request to an emulator. */
export interface EmulatorRequest {
  job: EmulationJob
  /** GPU for predicting the job's time. If a GPU is given, the job is only partly emulated. */
  predictOn?: PredictionGpu
}

/**
 * Executes jobs one at a time. An emulator is a thread of this program or, for a judge, a process
 * in a sandbox.
 */
export interface Emulator {
  /**
   * Emits `message` (a progress number or the final answer), `error`, and `exit` with an exit code.
   */
  readonly events: EventEmitter
  send(request: EmulatorRequest): void
  end(): Promise<unknown>
  /** Sets whether the emulator prevents this program from exiting. */
  hold(alive: boolean): void
}

export type StartEmulator = () => Emulator
