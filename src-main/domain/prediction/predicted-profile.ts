/** Where the cycles go, per launch and instruction, in the shape of a deep profile. */
import { message } from '../messages/message'
import type { DeepProfile } from '../session/deep'
import type { Prediction } from './prediction'

/** `counted` has the launches of the rung in order, with the emulator's counters. */
export const predictedProfile = (counted: DeepProfile, { launches }: Prediction): DeepProfile => ({
  ...counted,
  kernels: counted.kernels.map((kernel, index) => {
    const launch = launches[index]
    if (!launch) return kernel
    const { kernel: _name, instructions, ...predicted } = launch
    return {
      ...kernel,
      predicted,
      instructions: kernel.instructions.map((instruction) => {
        const found = instructions[instruction.index]
        return found
          ? { ...instruction, predicted: { share: found.share, stalls: found.stalls } }
          : instruction
      }),
    }
  }),
  notes: [message('prediction.counted')],
})
