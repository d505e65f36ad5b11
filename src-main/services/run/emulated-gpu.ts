/** The GPUs of the table that the emulator can stand for. */
import { inputError } from '../../domain/errors'
import { buildGpu, gpus, type BuildGpu } from '../../domain/gpu/gpu-table'
import { message } from '../../domain/messages/message'
import { defaultEmulatedGpu } from '../../domain/targets/kinds'
import type { Session } from '../../domain/session/session'

// What an emulated rung comes to: a deep profile, its launches, and the metrics that do not depend on time.

// The GPUs that can be emulated.

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

/** The GPU that the session was measured on, or one of its compute capability, where such a one is emulated. */
export function gpuLike(device: Session['device']): BuildGpu {
  const alike = gpus.filter(
    ({ computeCapability }) =>
      computeCapability === device?.computeCapability && Number(computeCapability) <= 9,
  )
  return emulatedGpu(
    (alike.find(({ name }) => device?.name.endsWith(name)) ?? alike[0])?.id ?? null,
  ).gpu
}
