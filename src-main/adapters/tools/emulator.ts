/** What executes emulation jobs, as toolboxes offer it. */
import type { EventEmitter } from 'node:events'
import type { EmulationJob } from '../../domain/emulation/job'

/** What executes jobs, one at a time: a thread of this program or, for a judge, a process in a sandbox. */
export interface Emulator {
  /** Emits `message` for progress (a number) and answers, `error`, and `exit` with a code. */
  readonly events: EventEmitter
  send(job: EmulationJob): void
  end(): Promise<unknown>
  /** Whether it keeps this program from ending. */
  hold(alive: boolean): void
}

export type StartEmulator = () => Emulator
