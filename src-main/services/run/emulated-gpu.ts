/** The GPUs that can be emulated. */
import { inputError } from '../../domain/errors'
import { buildGpu, gpus, type BuildGpu } from '../../domain/gpu/gpu'
import { message } from '../../domain/messages/message'
import { defaultEmulatedGpu } from '../../domain/target/kinds'

/** Architectures whose machine code the emulator executes. */
const isEmulated = ({ computeCapability }: Pick<BuildGpu, 'computeCapability'>): boolean =>
  Number(computeCapability) <= 9

/** The GPU of that name; throws where the emulator has none like it. */
export function emulatedGpu(name: string | null): { name: string; gpu: BuildGpu } {
  const word = name ?? defaultEmulatedGpu
  const gpu = buildGpu(word)
  const all = gpus.filter(isEmulated).map(({ id }) => id)
  const offered = message('emulation.architectures', { gpus: all.join(', ') })
  if (!gpu) throw inputError(message('asked.noGpu', { gpu: JSON.stringify(word) }), offered)
  if (!isEmulated(gpu))
    throw inputError(
      message('emulation.noArchitecture', {
        gpu: gpu.name,
        computeCapability: gpu.computeCapability,
      }),
      offered,
    )
  return { name: word, gpu }
}
