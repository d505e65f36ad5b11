/** Adds the predicted cycles of each launch and instruction to a deep profile. */
import { message } from '../messages/message'
import type { DeepProfile } from '../session/deep'
import type { Prediction } from './prediction'

/**
 * Returns a profile with the prediction added. `counted` contains the rung's launches in order,
 * with the emulator's counters.
 */
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
