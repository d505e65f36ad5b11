/**
 * The fields of the what-if screen, and functions that read them from a URL and convert them to and
 * from a kernel.
 */
import { sharedAllocated, type KernelResources } from '../../../src-main/domain/gpu/occupancy'
import {
  isComputeCapability,
  registersPerThreadMax,
  smLimits,
  threadsPerBlockMax,
  type ComputeCapability,
  type SmLimits,
} from '../../../src-main/domain/gpu/sm-limits'

export const resources = ['threads', 'registers', 'shared'] as const
export type Resource = (typeof resources)[number]

/**
 * Values as typed, even if they are not numbers. `carveOut` is the SM's shared memory in bytes. If
 * `carveOut` is empty, the maximum is used.
 */
export type WhatIfFields = Record<Resource | 'gpu' | 'carveOut', string>

export const defaultFields: WhatIfFields = {
  gpu: '9.0',
  threads: '256',
  registers: '64',
  shared: '16384',
  carveOut: '',
}

export interface Range {
  min: number
  max: number
  /** The slider's step. Typed values can be any whole number. */
  step: number
}

export const rangeOf = (resource: Resource, limits: SmLimits): Range =>
  ({
    threads: { min: 1, max: threadsPerBlockMax, step: 32 },
    registers: { min: 1, max: registersPerThreadMax, step: 1 },
    shared: { min: 0, max: limits.sharedPerBlock, step: limits.sharedGranularity },
  })[resource]

/** Parses a whole number. Returns null if the text is not a whole number within the range. */
export function parseField(text: string, { min, max }: Range): number | null {
  const value = /^\s*\d+\s*$/.test(text) ? Number(text) : NaN
  return value >= min && value <= max ? value : null
}

const first = (value: unknown): unknown => (Array.isArray(value) ? value[0] : value)

/** Returns the fields from the URL. Missing fields get defaults. */
export function fieldsFrom(query: Readonly<Record<string, unknown>>): WhatIfFields {
  const word = (name: keyof WhatIfFields): string => {
    const value = first(query[name])
    return typeof value === 'string' ? value.slice(0, 20) : defaultFields[name]
  }
  const gpu = word('gpu')
  return {
    gpu: isComputeCapability(gpu) ? gpu : defaultFields.gpu,
    threads: word('threads'),
    registers: word('registers'),
    shared: word('shared'),
    carveOut: word('carveOut'),
  }
}

export const limitsOf = ({ gpu }: WhatIfFields): SmLimits => smLimits(gpu) ?? smLimits('9.0')!

/**
 * Returns the SM's shared-memory carve-out in bytes. Returns undefined for the maximum, which every
 * GPU supports.
 */
export const carveOutOf = (fields: WhatIfFields): number | undefined =>
  limitsOf(fields).carveOuts.find((bytes) => String(bytes) === fields.carveOut)

/** Returns the kernel, or the list of invalid fields if there are any. */
export function kernelOf(fields: WhatIfFields): KernelResources | Resource[] {
  const limits = limitsOf(fields)
  const values = Object.fromEntries(
    resources.map((resource) => [
      resource,
      parseField(fields[resource], rangeOf(resource, limits)),
    ]),
  ) as Record<Resource, number | null>
  const { threads, registers, shared } = values
  if (threads === null || registers === null || shared === null)
    return resources.filter((resource) => values[resource] === null)
  const carveOutBytes = carveOutOf(fields)
  return {
    threads,
    registers,
    staticSharedBytes: 0,
    dynamicSharedBytes: shared,
    // The driver never sets aside less shared memory than a block needs.
    ...(carveOutBytes !== undefined && carveOutBytes >= sharedAllocated(limits, shared)
      ? { carveOutBytes }
      : {}),
  }
}

/** Returns the fields for a kernel, with the launch configuration of its rung. */
export const fieldsOf = (
  kernel: Pick<KernelResources, 'threads' | 'registers' | 'carveOutBytes'> & { shared: number },
  gpu: ComputeCapability,
): WhatIfFields => ({
  gpu,
  threads: String(kernel.threads),
  registers: String(kernel.registers),
  shared: String(kernel.shared),
  carveOut: kernel.carveOutBytes === undefined ? '' : String(kernel.carveOutBytes),
})
