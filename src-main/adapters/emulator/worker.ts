/**
 * Emulates one rung after another, or predicts its time, in a thread or a process of its own. The build makes one piece of text of it:
 * `virtual:emulator-worker`.
 */
import { setFlagsFromString } from 'node:v8'
import { parentPort } from 'node:worker_threads'
import { emulate } from '../../domain/emulation/job'
import { predict } from '../../domain/prediction/predict'
import type { EmulatorRequest } from '../tools/emulator'

// Node 20 has relaxed SIMD, with which the emulator multiplies and adds in one step, only on request.
if (process.versions.node.startsWith('20.')) setFlagsFromString('--experimental-wasm-relaxed-simd')

const send = (message: unknown): void =>
  parentPort ? parentPort.postMessage(message) : void process.send!(message)

const onRequest = ({ job, predictOn }: EmulatorRequest): void => {
  // A number is how far it is; the answer comes last.
  send(predictOn ? predict(job, predictOn) : emulate(job, send))
}
if (parentPort) parentPort.on('message', onRequest)
else
  process
    .on('message', ({ job, ...request }: EmulatorRequest) => {
      // What comes through a channel begins at any byte; the emulator compares words.
      const buffers = job.buffers.map((buffer) => ({
        ...buffer,
        contents: buffer.contents && new Uint8Array(buffer.contents),
        ...(buffer.earlier && { earlier: new Uint8Array(buffer.earlier) }),
      }))
      onRequest({ ...request, job: { ...job, buffers } })
    })
    .on('disconnect', () => process.exit())
