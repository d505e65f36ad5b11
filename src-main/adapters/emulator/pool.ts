/**
 * Threads for emulation, one a core. A job is a rung: results are the same on any number of threads, since the blocks of
 * a launch run in their order on one of them.
 */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import workerCode from 'virtual:emulator-worker'
import { KernelLadderError } from '../../domain/errors'
import type { EmulationAnswer, EmulationJob } from '../../domain/emulation/job'
import { message } from '../../domain/messages/message'

export interface EmulatorPool {
  /** Throws if cancelled, or if a thread ends without an answer. */
  run(job: EmulationJob): Promise<EmulationAnswer>
  close(): Promise<void>
}

/** Memory of a thread besides that of its emulated GPU: counts and decoded code. */
const heapMegabytes = 1024

/**
 * Threads of pools that were closed. For a while they wait for the next one: a check has several pools, and so has an
 * editor, and a thread that has run a job is warm.
 */
const spare = new Map<Worker, NodeJS.Timeout>()
const spareMs = 20_000

function spares(worker: Worker): void {
  const leave = setTimeout(() => {
    spare.delete(worker)
    void worker.terminate()
  }, spareMs)
  // Neither keeps the program from ending.
  leave.unref()
  worker.unref()
  spare.set(worker, leave)
}

function spareWorker(): Worker | undefined {
  const [found] = spare
  if (!found) return undefined
  const [worker, leave] = found
  clearTimeout(leave)
  spare.delete(worker)
  worker.ref()
  return worker
}

export function emulatorPool(signal: AbortSignal, size = availableParallelism()): EmulatorPool {
  const idle: Worker[] = []
  const all = new Set<Worker>()
  const waiting: ((worker: Worker) => void)[] = []
  const start = (): Worker => {
    const worker =
      spareWorker() ??
      new Worker(workerCode, {
        eval: true,
        resourceLimits: { maxOldGenerationSizeMb: heapMegabytes },
      })
    all.add(worker)
    return worker
  }
  const take = (): Promise<Worker> => {
    const worker = idle.pop() ?? (all.size < size ? start() : null)
    return worker
      ? Promise.resolve(worker)
      : new Promise((resolve) => {
          waiting.push(resolve)
        })
  }
  const giveBack = (worker: Worker): void => {
    const next = waiting.shift()
    if (next) next(worker)
    else idle.push(worker)
  }
  const end = async (worker: Worker): Promise<void> => {
    all.delete(worker)
    await worker.terminate()
    const next = waiting.shift()
    if (next) next(start())
  }
  return {
    async run(job) {
      const worker = await take()
      const cancelled = (): KernelLadderError =>
        new KernelLadderError('cancelled', message('asked.cancelled'))
      if (signal.aborted) {
        giveBack(worker)
        throw cancelled()
      }
      try {
        const answer = await new Promise<EmulationAnswer>((resolve, reject) => {
          const abort = (): void => settle(() => reject(cancelled()))
          const answered = (found: EmulationAnswer): void => settle(() => resolve(found))
          const failed = (error: Error): void => settle(() => reject(error))
          const ended = (code: number): void =>
            settle(() => reject(new Error(`The emulator's thread ended with ${code}.`)))
          const settle = (act: () => void): void => {
            signal.removeEventListener('abort', abort)
            worker.off('message', answered).off('error', failed).off('exit', ended)
            act()
          }
          signal.addEventListener('abort', abort)
          worker.on('message', answered).on('error', failed).on('exit', ended)
          worker.postMessage(job)
        })
        giveBack(worker)
        return answer
      } catch (error) {
        await end(worker)
        throw error
      }
    },
    async close() {
      const busy = [...all].filter((worker) => !idle.includes(worker))
      for (const worker of idle.splice(0)) spares(worker)
      await Promise.all(busy.map((worker) => worker.terminate()))
    },
  }
}
