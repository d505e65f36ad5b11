/** Selects from the built-in table the GPUs that can be emulated. */
import { inputError } from '../../domain/errors'
import { buildGpu, gpus, type BuildGpu } from '../../domain/gpu/gpu-table'
import { message } from '../../domain/messages/message'
import { defaultEmulatedGpu } from '../../domain/targets/kinds'
import type { Session } from '../../domain/session/session'

/** Whether the emulator supports machine code for the GPU's architecture. */
const isEmulated = ({ computeCapability }: Pick<BuildGpu, 'computeCapability'>): boolean =>
  Number(computeCapability) <= 9

/** Returns the GPU with the given name. Throws an error if the GPU cannot be emulated. */
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

/** Returns the session's GPU, or an emulatable GPU with the same compute capability. */
export function gpuLike(device: Session['device']): BuildGpu {
  const alike = gpus.filter(
    ({ computeCapability }) =>
      computeCapability === device?.computeCapability && Number(computeCapability) <= 9,
  )
  return emulatedGpu(
    (alike.find(({ name }) => device?.name.endsWith(name)) ?? alike[0])?.id ?? null,
  ).gpu
}
