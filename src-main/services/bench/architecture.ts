/** Selects the target architecture for compilation. */
import { message, type Statement } from '../../domain/messages/message'
import type { Device } from '../../domain/gpu/device'

/** Converts a compute capability such as `9.0` to `90`. */
export const smOf = (device: Pick<Device, 'computeCapability'>): string =>
  device.computeCapability.replace('.', '')

/**
 * Returns the architecture for which a rung is compiled on this GPU. If the GPU cannot run the
 * rung, returns the reason. A feature letter (`sm_90a`) restricts the rung to exactly that
 * architecture.
 */
export function architectureFor(
  requires: string | null,
  device: Pick<Device, 'name' | 'computeCapability'>,
): { sm: string } | { unsupported: Statement } {
  const own = smOf(device)
  if (requires === null) return { sm: own }
  const [, number, feature] = /^sm_(\d+)([af]?)$/.exec(requires) ?? []
  const fits = feature === 'a' ? number === own : Number(own) >= Number(number)
  if (fits) return { sm: feature ? `${number}${feature}` : own }
  return {
    unsupported: message('records.needsArchitecture', {
      requires,
      gpu: device.name,
      computeCapability: device.computeCapability,
    }),
  }
}

/** Architecture of the GPU on which the shipped recordings were made. */
export const recordedArchitecture = '90'

const digits = (architecture: string): string => architecture.replace(/\D/g, '')

/**
 * Converts an architecture such as `90` or `100` to a compute capability such as `9.0` or `10.0`.
 */
export const capabilityOf = (architecture: string): string =>
  digits(architecture).replace(/^(\d+)(\d)$/, '$1.$2')

/** Returns the target architecture for a source, which can require one, such as `sm_90a`. */
export function builtArchitecture(requires: string | null, own: string | null): string {
  const chosen = architectureFor(requires, {
    name: 'this GPU',
    computeCapability: capabilityOf(own ?? recordedArchitecture),
  })
  // nvcc compiles for the required architecture even if the GPU is too old to run the code.
  return 'sm' in chosen ? chosen.sm : requires!.replace('sm_', '')
}
