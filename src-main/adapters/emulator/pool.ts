/**
 * A pool of emulators, one per core. Each job runs all or some of a rung's blocks.
 *
 * A job's blocks run in order on a single thread. A rung is split into jobs only if its blocks
 * cannot affect each other. Therefore, the results do not depend on the number of threads.
 */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import workerCode from 'virtual:emulator-worker'
import { whenAborted } from '../tools/abort'
import { KernelLadderError } from '../../domain/errors'
import type { EmulationAnswer, EmulationJob } from '../../domain/emulation/job'
import { message } from '../../domain/messages/message'
import type { PredictionAnswer, PredictionGpu } from '../../domain/prediction/prediction'
import type { Emulator, EmulatorRequest, StartEmulator } from '../tools/emulator'

export interface EmulatorPool {
  /**
   * Emulates a job. Throws an error if the job is canceled or the emulator exits without sending a
   * result.
   * `onProgress` receives the number of executed warp instructions, at most about once per second.
   */
  run(job: EmulationJob, onProgress?: (instructions: number) => void): Promise<EmulationAnswer>
  /** Predicts a job's time. Throws errors under the same conditions as `run`. */
  predict(job: EmulationJob, gpu: PredictionGpu): Promise<PredictionAnswer>
  close(): Promise<void>
}

/**
 * Heap size per thread in MB, for counters and decoded instructions. The emulated GPU's memory is
 * not included.
 */
export const heapMegabytes = 1024
/**
 * Maximum size of V8's young generation in MB, equal to Node's default. If several threads had a
 * larger young generation, starting other programs would be slow.
 */
const youngMegabytes = 48

/** Starts an emulator in a thread of this process. */
export const startThread: StartEmulator = () => {
  const worker = new Worker(workerCode(), {
    eval: true,
    resourceLimits: {
      maxOldGenerationSizeMb: heapMegabytes,
      maxYoungGenerationSizeMb: youngMegabytes,
    },
  })
  return {
    events: worker,
    send: (request) => worker.postMessage(request),
    end: () => worker.terminate(),
    hold: (alive) => (alive ? worker.ref() : worker.unref()),
  }
}

/**
 * Idle emulators from closed pools. Idle emulators stay available for 20 seconds, because a check
 * or an editor opens several pools. A warm emulator is faster than a new one.
 */
const spare = new Map<Emulator, { start: StartEmulator; leave: NodeJS.Timeout }>()
const spareMs = 20_000

function spares(emulator: Emulator, start: StartEmulator): void {
  const leave = setTimeout(() => {
    spare.delete(emulator)
    void emulator.end()
  }, spareMs)
  // The timer and the idle emulator must not keep the program running.
  leave.unref()
  emulator.hold(false)
  spare.set(emulator, { start, leave })
}

function takeSpare(start: StartEmulator): Emulator | undefined {
  const found = [...spare].find(([, other]) => other.start === start)
  if (!found) return undefined
  const [emulator, { leave }] = found
  clearTimeout(leave)
  spare.delete(emulator)
  emulator.hold(true)
  return emulator
}

export interface PoolOptions {
  size?: number
  /**
   * Starts emulators outside this process. By default, emulators run in threads of this process.
   */
  start?: StartEmulator | undefined
}

export function emulatorPool(
  signal: AbortSignal,
  { size = availableParallelism(), start: startOne = startThread }: PoolOptions = {},
): EmulatorPool {
  const idle: Emulator[] = []
  const all = new Set<Emulator>()
  const waiting: ((emulator: Emulator) => void)[] = []
  const start = (): Emulator => {
    const emulator = takeSpare(startOne) ?? startOne()
    all.add(emulator)
    return emulator
  }
  const take = (): Promise<Emulator> => {
    const emulator = idle.pop() ?? (all.size < size ? start() : null)
    return emulator
      ? Promise.resolve(emulator)
      : new Promise((resolve) => {
          waiting.push(resolve)
        })
  }
  const giveBack = (emulator: Emulator): void => {
    const next = waiting.shift()
    if (next) next(emulator)
    else idle.push(emulator)
  }
  const end = async (emulator: Emulator): Promise<void> => {
    all.delete(emulator)
    await emulator.end()
    const next = waiting.shift()
    if (next) next(start())
  }
  async function ask<Answer extends object>(
    request: EmulatorRequest,
    onProgress?: (instructions: number) => void,
  ): Promise<Answer> {
    const emulator = await take()
    const cancelled = (): KernelLadderError =>
      new KernelLadderError('cancelled', message('asked.cancelled'))
    if (signal.aborted) {
      giveBack(emulator)
      throw cancelled()
    }
    try {
      const answer = await new Promise<Answer>((resolve, reject) => {
        const abort = (): void => settle(() => reject(cancelled()))
        const answered = (found: Answer | number): void => {
          if (typeof found === 'number') onProgress?.(found)
          else settle(() => resolve(found))
        }
        const failed = (error: Error): void => settle(() => reject(error))
        const ended = (code: number): void =>
          settle(() => reject(new Error(`The emulator ended with ${code}.`)))
        const settle = (act: () => void): void => {
          forget()
          emulator.events.off('message', answered).off('error', failed).off('exit', ended)
          act()
        }
        const forget = whenAborted(signal, abort)
        emulator.events.on('message', answered).on('error', failed).on('exit', ended)
        emulator.send(request)
      })
      giveBack(emulator)
      return answer
    } catch (error) {
      await end(emulator)
      throw error
    }
  }
  return {
    run: (job, onProgress) => ask<EmulationAnswer>({ job }, onProgress),
    predict: (job, predictOn) => ask<PredictionAnswer>({ job, predictOn }),
    async close() {
      const busy = [...all].filter((emulator) => !idle.includes(emulator))
      for (const emulator of idle.splice(0)) spares(emulator, startOne)
      await Promise.all(busy.map((emulator) => emulator.end()))
    },
  }
}
