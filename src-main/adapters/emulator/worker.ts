/** A thread that emulates one rung after another. The build makes one piece of text of it: `virtual:emulator-worker`. */
import { setFlagsFromString } from 'node:v8'
import { parentPort } from 'node:worker_threads'
import { emulate, type EmulationJob } from '../../domain/emulation/job'

// Node 20 has relaxed SIMD, with which the emulator multiplies and adds in one step, only on request.
if (process.versions.node.startsWith('20.')) setFlagsFromString('--experimental-wasm-relaxed-simd')

parentPort!.on('message', (job: EmulationJob) => {
  // A number is how far it is; the answer comes last.
  parentPort!.postMessage(emulate(job, (instructions) => parentPort!.postMessage(instructions)))
})
