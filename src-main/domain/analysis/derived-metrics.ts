/** Computes metrics that require no counters, from a launch and the limits of its GPU. */
import { message, says, type AnyMessage } from '../messages/message'
import { unavailable, type MetricValue } from '../metrics/metrics'
import { occupancy, type Occupancy } from '../gpu/occupancy'
import type { ProfiledKernel, RungResult, Session } from '../session/session'
import { can } from '../targets/targets'
import type { Unit } from '../metrics/units'
import type { Device } from '../gpu/device'
import { smLimits } from '../gpu/sm-limits'
import { wavesOf } from '../gpu/waves'

/** The launch fields that determine how many blocks fit on an SM. */
export type LaunchLike = Pick<ProfiledKernel, 'grid' | 'block' | 'resources'>

const product = (extent: readonly [number, number, number] | null): number | null =>
  extent && extent[0] * extent[1] * extent[2]

/** Returns the threads per block, or null if an import lacks this information. */
export const threadsOf = ({ block }: LaunchLike): number | null => product(block)
/**
 * Returns the threads per block from ncu, or from the runner if there is no ncu profile. Returns
 * null if the block size is unknown or differs between kernels.
 */
export function threadsPerBlock({
  profile,
  launches,
}: Pick<RungResult, 'profile' | 'launches'>): number | null {
  const threads = new Set((profile?.kernels ?? launches ?? []).map(threadsOf))
  return threads.size === 1 ? [...threads][0]! : null
}
export const blocksOf = ({ grid }: LaunchLike): number | null => product(grid)

type Answer = { value: number; how: AnyMessage } | { reason: AnyMessage }
type DeviceLike = Pick<Device, 'computeCapability'> & { smCount: number | null }

function resident(
  launch: LaunchLike,
  { computeCapability }: DeviceLike,
): Occupancy | { reason: AnyMessage } {
  const limits = smLimits(computeCapability)
  if (!limits) return { reason: message('figures.limitsUnknown', { computeCapability }) }
  const { resources } = launch
  const threads = threadsOf(launch)
  if (
    threads === null ||
    resources?.registersPerThread == null ||
    resources.staticSharedBytes === null ||
    resources.dynamicSharedBytes === null
  )
    return { reason: message('figures.resourcesUnknown') }
  const { registersPerThread, staticSharedBytes, dynamicSharedBytes } = resources
  return occupancy(limits, {
    threads,
    registers: registersPerThread,
    staticSharedBytes,
    dynamicSharedBytes,
    ...(resources.barriers === null ? {} : { barriers: resources.barriers }),
    ...(resources.carveOutBytes === null ? {} : { carveOutBytes: resources.carveOutBytes }),
  })
}

/** Returns the occupancy of one launch on a GPU, or the reason why the occupancy is unknown. */
export const launchOccupancy = resident

const computedFrom = (launch: LaunchLike, { computeCapability }: DeviceLike) => {
  const { registersPerThread, staticSharedBytes, dynamicSharedBytes } = launch.resources!
  return {
    threads: threadsOf(launch)!,
    registers: registersPerThread!,
    bytes: staticSharedBytes! + dynamicSharedBytes!,
    computeCapability,
  }
}

function theoretical(launch: LaunchLike, device: DeviceLike): Answer {
  const found = resident(launch, device)
  return 'reason' in found
    ? found
    : { value: found.percent, how: message('figures.computed', computedFrom(launch, device)) }
}

function waves(launch: LaunchLike, device: DeviceLike): Answer {
  const found = resident(launch, device)
  if ('reason' in found) return found
  if (launch.resources!.clusterBlocks === null)
    return { reason: message('figures.clustersUnknown') }
  if (launch.resources!.clusterBlocks) return { reason: message('figures.clusters') }
  const { smCount } = device
  if (smCount === null) return { reason: message('figures.smCountUnknown') }
  const blocks = blocksOf(launch)
  if (blocks === null) return { reason: message('figures.resourcesUnknown') }
  const counted = wavesOf(blocks, smCount, found.blocksPerSm)
  return counted
    ? {
        value: counted.waves,
        how: message('figures.computedWaves', {
          ...computedFrom(launch, device),
          blocks,
          smCount,
        }),
      }
    : { reason: message('figures.noBlockFits') }
}

function registers({ resources }: LaunchLike): Answer {
  return resources?.registersPerThread == null
    ? { reason: message('figures.registersUnknown') }
    : {
        value: resources.registersPerThread,
        how: message('figures.registersHeld'),
      }
}

/**
 * Combines the kernels' values into one figure for the rung. The figure is available only if all
 * kernels have the same value. If the values differ, the figure is unavailable, because the longest
 * kernel is unknown.
 */
function overall(unit: Unit, answers: readonly Answer[]): MetricValue {
  const values = answers.map((answer) => ('value' in answer ? answer.value : null))
  const failed = answers.find((answer) => 'reason' in answer)
  const [first] = answers
  if (failed && 'reason' in failed) return unavailable(unit, failed.reason)
  if (!first || !('value' in first)) return unavailable(unit, message('figures.noKernel'))
  if (new Set(values).size > 1)
    return unavailable(unit, message('figures.kernelsDiffer', { count: answers.length }))
  return { value: first.value, unit, evidence: 'derived', reason: first.how }
}

/**
 * Returns registry metrics derived only from the launches and the GPU: `registersPerThread`,
 * `theoreticalOccupancy` and `wavesPerSm`. A metric that cannot be derived is marked as
 * unavailable, with a reason.
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

/**
 * Replaces a wave count that ncu rounded to 0, because ncu prints only two decimals. The new value
 * is derived from the launch, or marked as unavailable with a reason.
 */
export function withSmallWaves(
  metrics: Record<string, MetricValue>,
  launches: readonly LaunchLike[],
  device: DeviceLike | null,
): Record<string, MetricValue> {
  const { wavesPerSm: printed } = metrics
  if (printed?.value !== 0 && !says(printed?.reason, 'records.roundedToZero')) return metrics
  const derived = device && derivedMetrics(launches, device)['wavesPerSm']
  const wavesPerSm =
    derived && derived.value !== null
      ? derived
      : unavailable(
          'waves',
          message('records.roundedToZero', { metricName: 'launch__waves_per_multiprocessor' }),
        )
  return { ...metrics, wavesPerSm }
}

const ofOneLaunch = ['theoreticalOccupancy', 'achievedOccupancy', 'wavesPerSm'] as const

/**
 * Removes occupancy and waves from rows that combine a range's different kernels, because these
 * metrics describe a single launch. Earlier versions saved these metrics in the sessions of imports
 * and programs.
 */
export function withoutRangeOccupancy(session: Session): Session {
  if (can(session.target).knowsRun) return session
  const shapes = ({ profile }: RungResult): Set<string> =>
    new Set(
      (profile?.kernels ?? []).map(({ name, grid, block }) => JSON.stringify([name, grid, block])),
    )
  const rungs = session.rungs.map((rung) => {
    const count = shapes(rung).size
    if (count < 2) return rung
    const reason = message('figures.ofRange', { count })
    const gone = ofOneLaunch.flatMap((id) => {
      const known = rung.metrics[id]
      return known ? [[id, unavailable(known.unit, reason)] as const] : []
    })
    return { ...rung, metrics: { ...rung.metrics, ...Object.fromEntries(gone) } }
  })
  return { ...session, rungs }
}
