/**
 * Emulates rungs one after another, or predicts their times, in a separate thread or process. The build turns it into
 * one text: `virtual:emulator-worker`.
 */
import { setFlagsFromString } from 'node:v8'
import { parentPort } from 'node:worker_threads'
import { emulate } from '../../domain/emulation/job'
import { predict } from '../../domain/prediction/predict'
import type { EmulatorRequest } from '../tools/emulator'

// Node 20 supports relaxed SIMD, which the emulator's fused multiply-add needs, only with this flag.
if (process.versions.node.startsWith('20.')) setFlagsFromString('--experimental-wasm-relaxed-simd')

const send = (message: unknown): void =>
  parentPort ? parentPort.postMessage(message) : void process.send!(message)

const onRequest = ({ job, predictOn }: EmulatorRequest): void => {
  // A number is progress; the answer comes last.
  send(predictOn ? predict(job, predictOn) : emulate(job, send))
}
if (parentPort) parentPort.on('message', onRequest)
else
  process
    .on('message', ({ job, ...request }: EmulatorRequest) => {
      // Data from a channel may be unaligned, and the emulator compares words.
      const buffers = job.buffers.map((buffer) => ({
        ...buffer,
        contents: buffer.contents && new Uint8Array(buffer.contents),
        ...(buffer.earlier && { earlier: new Uint8Array(buffer.earlier) }),
      }))
      onRequest({ ...request, job: { ...job, buffers } })
    })
    .on('disconnect', () => process.exit())
