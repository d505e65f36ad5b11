/** What executes emulation jobs, as toolboxes offer it. */
import type { EventEmitter } from 'node:events'
import type { EmulationJob } from '../../domain/emulation/job'
import type { PredictionGpu } from '../../domain/prediction/prediction'

/** What an emulator is sent. */
export interface EmulatorRequest {
  job: EmulationJob
  /** Predicts how long the job takes on this GPU, in place of emulating all of it. */
  predictOn?: PredictionGpu
}

/** What executes jobs, one at a time: a thread of this program or, for a judge, a process in a sandbox. */
export interface Emulator {
  /** Emits `message` for progress (a number) and answers, `error`, and `exit` with a code. */
  readonly events: EventEmitter
  send(request: EmulatorRequest): void
  end(): Promise<unknown>
  /** Whether it keeps this program from ending. */
  hold(alive: boolean): void
}

export type StartEmulator = () => Emulator
