/**
 * Runs an emulator in a separate process, for a judge. The process receives machine code, launches,
 * and inputs, and returns results. The process cannot access the expected results.
 */
import { EventEmitter } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import workerCode from 'virtual:emulator-worker'
import { heapMegabytes } from '../emulator/pool'
import type { EmulationAnswer } from '../../domain/emulation/job'
import type { PredictionAnswer } from '../../domain/prediction/prediction'
import { startPeer } from '../tools/process'
import { withoutInspector } from './inspector'
import type { Emulator, StartEmulator } from '../tools/emulator'

/**
 * Returns aligned copies of the output buffers. Data received from a channel can be unaligned, and
 * results are read as aligned words.
 */
const aligned = (outputs: EmulationAnswer['outputs']): EmulationAnswer['outputs'] =>
  new Map([...outputs].map(([name, bytes]) => [name, new Uint8Array(bytes)]))
const alignedAnswer = (answer: EmulationAnswer): EmulationAnswer => ({
  ...answer,
  outputs: aligned(answer.outputs),
  again: answer.again.map(aligned),
})

/**
 * Returns a function that starts emulators. `wrap` converts a command line to one that runs the
 * command in a sandbox. The emulator's file must be readable in the sandbox.
 */
export function emulatorsIn(
  folder: string,
  wrap: (command: readonly string[], readable: string, work: string) => readonly string[],
  env: Readonly<Record<string, string>>,
): StartEmulator {
  let script: string | null = null
  return (): Emulator => {
    const work = join(folder, 'emulator')
    if (script === null) {
      mkdirSync(work, { recursive: true })
      script = join(folder, 'emulator.cjs')
      writeFileSync(script, workerCode(), { mode: 0o644 })
    }
    const options = [`--max-old-space-size=${heapMegabytes}`, ...withoutInspector()]
    const [file, ...args] = wrap([process.execPath, ...options, script], script, work)
    const { peer, kill } = startPeer({ file: file!, args, env })
    const events = new EventEmitter()
    for (const name of ['error', 'exit']) peer.on(name, (what) => events.emit(name, what))
    peer.on('message', (reply: number | EmulationAnswer | PredictionAnswer) =>
      events.emit(
        'message',
        typeof reply === 'number' || !('outputs' in reply) ? reply : alignedAnswer(reply),
      ),
    )
    return {
      events,
      send({ job, ...request }) {
        // Copy the buffers, because shared memory cannot be sent to another process.
        const buffers = job.buffers.map((buffer) => ({
          ...buffer,
          contents: buffer.contents && new Uint8Array(buffer.contents),
          ...(buffer.earlier && { earlier: new Uint8Array(buffer.earlier) }),
        }))
        peer.send({ ...request, job: { ...job, buffers } })
      },
      end: () => Promise.resolve(kill()),
      hold(alive) {
        if (alive) {
          peer.ref()
          peer.channel?.ref()
        } else {
          peer.unref()
          peer.channel?.unref()
        }
      },
    }
  }
}
