/**
 * Emulates rungs one at a time, or predicts their times, in a separate thread or process. The build
 * bundles this module into a single script, `virtual:emulator-worker`.
 */
import { setFlagsFromString } from 'node:v8'
import { parentPort } from 'node:worker_threads'
import { emulate } from '../../domain/emulation/job'
import { predict } from '../../domain/prediction/predict'
import type { EmulatorRequest } from '../tools/emulator'

// The emulator's fused multiply-add needs relaxed SIMD, which Node 20 supports only with a flag.
if (process.versions.node.startsWith('20.')) setFlagsFromString('--experimental-wasm-relaxed-simd')

const send = (message: unknown): void =>
  parentPort ? parentPort.postMessage(message) : void process.send!(message)

const onRequest = ({ job, predictOn }: EmulatorRequest): void => {
  // A message that is a number reports progress. The last message contains the result.
  send(predictOn ? predict(job, predictOn) : emulate(job, send))
}
if (parentPort) parentPort.on('message', onRequest)
else
  process
    .on('message', ({ job, ...request }: EmulatorRequest) => {
      // Data received from a channel can be unaligned, but the emulator compares aligned words.
      const buffers = job.buffers.map((buffer) => ({
        ...buffer,
        contents: buffer.contents && new Uint8Array(buffer.contents),
        ...(buffer.earlier && { earlier: new Uint8Array(buffer.earlier) }),
      }))
      onRequest({ ...request, job: { ...job, buffers } })
    })
    .on('disconnect', () => process.exit())
