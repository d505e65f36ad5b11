/** What can be said of a rung without counters: from what it launches and what its GPU can hold. Pure. */
import { unavailable, type MetricValue } from './metrics'
import { occupancy } from './occupancy'
import type { ProfiledKernel } from './session'
import type { Device } from './device'
import { smLimits } from './sm-limits'
import type { Unit } from './units'
import { wavesOf } from './waves'

/** Of a launch: everything that decides how much of it an SM holds. */
export type LaunchLike = Pick<ProfiledKernel, 'grid' | 'block' | 'resources'>

const product = ([x, y, z]: readonly [number, number, number]): number => x * y * z

export const threadsOf = ({ block }: LaunchLike): number => product(block)
export const blocksOf = ({ grid }: LaunchLike): number => product(grid)

type Answer = { value: number; how: string } | { reason: string }
type DeviceLike = Pick<Device, 'computeCapability'> & { smCount: number | null }

function resident(launch: LaunchLike, device: DeviceLike): ReturnType<typeof occupancy> | string {
  const limits = smLimits(device.computeCapability)
  if (!limits)
    return `The limits of compute capability ${device.computeCapability} are not in the table.`
  const { resources } = launch
  if (
    resources?.registersPerThread == null ||
    resources.staticSharedBytes === null ||
    resources.dynamicSharedBytes === null
  )
    return 'The registers and shared memory of the launch are not known.'
  const { registersPerThread, staticSharedBytes, dynamicSharedBytes } = resources
  return occupancy(limits, {
    threads: threadsOf(launch),
    registers: registersPerThread,
    staticSharedBytes,
    dynamicSharedBytes,
    ...(resources.barriers === null ? {} : { barriers: resources.barriers }),
    ...(resources.carveOutBytes === null ? {} : { carveOutBytes: resources.carveOutBytes }),
  })
}

/** The occupancy of one launch on a GPU, or why it cannot be told. */
export const launchOccupancy = resident

const how = (launch: LaunchLike, device: DeviceLike): string => {
  const { registersPerThread, staticSharedBytes, dynamicSharedBytes } = launch.resources!
  return `Computed from ${threadsOf(launch)} threads a block, ${registersPerThread} registers a thread, ${staticSharedBytes! + dynamicSharedBytes!} bytes of shared memory a block and compute capability ${device.computeCapability}.`
}

function theoretical(launch: LaunchLike, device: DeviceLike): Answer {
  const found = resident(launch, device)
  return typeof found === 'string'
    ? { reason: found }
    : { value: found.percent, how: how(launch, device) }
}

function waves(launch: LaunchLike, device: DeviceLike): Answer {
  const found = resident(launch, device)
  if (typeof found === 'string') return { reason: found }
  if (launch.resources!.clusterBlocks === null)
    return { reason: 'Whether it is launched in clusters is not known.' }
  if (launch.resources!.clusterBlocks)
    return {
      reason:
        'It is launched in clusters; how many of them the GPU holds at once depends on how its SMs are grouped.',
    }
  if (device.smCount === null) return { reason: 'How many SMs the GPU has is not known.' }
  const counted = wavesOf(blocksOf(launch), device.smCount, found.blocksPerSm)
  return counted
    ? {
        value: counted.waves,
        how: `${how(launch, device)} A grid of ${blocksOf(launch)} blocks over ${device.smCount} SMs.`,
      }
    : { reason: 'No block of it fits on an SM.' }
}

function registers({ resources }: LaunchLike): Answer {
  return resources?.registersPerThread == null
    ? { reason: 'The registers of the launch are not known.' }
    : {
        value: resources.registersPerThread,
        how: 'What CUDA holds of the kernel that was launched.',
      }
}

/** One figure for a rung of several kernels only where they agree: which one runs longest is not known. */
function overall(unit: Unit, answers: readonly Answer[]): MetricValue {
  const values = answers.map((answer) => ('value' in answer ? answer.value : null))
  const failed = answers.find((answer) => 'reason' in answer)
  const [first] = answers
  if (failed && 'reason' in failed) return unavailable(unit, failed.reason)
  if (!first || !('value' in first)) return unavailable(unit, 'It launches no kernel.')
  if (new Set(values).size > 1)
    return unavailable(
      unit,
      `It launches ${answers.length} kernels that differ in it, and without counters it is not known which runs longest.`,
    )
  return { value: first.value, unit, evidence: 'derived', reason: first.how }
}

/**
 * Registry metrics that follow from the launches and the GPU alone: `registersPerThread`,
 * `theoreticalOccupancy` and `wavesPerSm`, each derived, or unavailable with the reason.
 */
export function derivedMetrics(
  launches: readonly LaunchLike[],
  device: DeviceLike,
): Record<string, MetricValue> {
  return {
    wavesPerSm: overall(
      'waves',
      launches.map((launch) => waves(launch, device)),
    ),
    theoreticalOccupancy: overall(
      '%',
      launches.map((launch) => theoretical(launch, device)),
    ),
    registersPerThread: overall('registers', launches.map(registers)),
  }
}
