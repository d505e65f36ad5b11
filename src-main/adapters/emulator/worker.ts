/** A thread that emulates one rung after another. The build makes one piece of text of it: `virtual:emulator-worker`. */
import { parentPort } from 'node:worker_threads'
import { emulate, type EmulationJob } from '../../domain/emulation/job'

parentPort!.on('message', (job: EmulationJob) => parentPort!.postMessage(emulate(job)))
