/** What holds the occupancy of each rung, worked out from its launch and set against what ncu measured. */
import { occupancy, type Occupancy } from '../../../src-main/domain/occupancy'
import type { ProfiledKernel, RungResult, Session } from '../../../src-main/domain/session'
import { smLimits } from '../../../src-main/domain/sm-limits'
import { scheduleOf, wavesOf, type Schedule, type Waves } from '../../../src-main/domain/waves'

/** A kernel as the profiler or, where nothing was profiled, the runner saw it launched. */
type SeenKernel = Pick<ProfiledKernel, 'grid' | 'block' | 'resources' | 'ncuMetrics'>

export interface RungOccupancy {
  rung: RungResult
  kernel: SeenKernel
  occupancy: Occupancy
  /** Blocks of the grid. */
  blocks: number
}

export type OccupancyGap =
  /** Nothing was profiled, so that neither block nor registers are known. */
  | 'notProfiled'
  /** The profile does not tell what a block holds. */
  | 'noResources'
  | 'noDevice'
  | 'unknownGpu'

/** The kernel that speaks for a rung: the one with the most threads, as its others only tidy up. */
function mainKernel({ profile, launches }: RungResult): SeenKernel | undefined {
  const threads = ({ grid, block }: SeenKernel) =>
    [...grid, ...block].reduce((product, extent) => product * extent, 1)
  const seen: readonly SeenKernel[] | undefined = profile?.kernels ?? launches
  return seen?.reduce<SeenKernel | undefined>(
    (most, kernel) => (!most || threads(kernel) > threads(most) ? kernel : most),
    undefined,
  )
}

/** SMs and compute capability of the GPU; an import has them beside its counters. */
function gpuOf(session: Session, rung: RungResult, kernel: SeenKernel) {
  if (session.device)
    return { cc: session.device.computeCapability, smCount: session.device.smCount }
  const metrics = kernel.ncuMetrics ?? rung.ncuMetrics
  const number = (name: string) => {
    const value = metrics?.[name]?.value
    return typeof value === 'number' ? value : null
  }
  const major = number('device__attribute_compute_capability_major')
  const minor = number('device__attribute_compute_capability_minor')
  const smCount = number('device__attribute_multiprocessor_count')
  return major === null || minor === null || smCount === null
    ? null
    : { cc: `${major}.${minor}`, smCount }
}

export function rungOccupancy(session: Session, rung: RungResult): RungOccupancy | OccupancyGap {
  const kernel = mainKernel(rung)
  if (!kernel) return 'notProfiled'
  const resources = kernel.resources
  if (
    !resources ||
    resources.registersPerThread === null ||
    resources.staticSharedBytes === null ||
    resources.dynamicSharedBytes === null
  )
    return 'noResources'
  const gpu = gpuOf(session, rung, kernel)
  if (!gpu) return 'noDevice'
  const limits = smLimits(gpu.cc)
  if (!limits) return 'unknownGpu'
  return {
    rung,
    kernel,
    blocks: kernel.grid.reduce((product, extent) => product * extent, 1),
    occupancy: occupancy(limits, {
      threads: kernel.block.reduce((product, extent) => product * extent, 1),
      registers: resources.registersPerThread,
      staticSharedBytes: resources.staticSharedBytes,
      dynamicSharedBytes: resources.dynamicSharedBytes,
      ...(resources.barriers === null ? {} : { barriers: resources.barriers }),
      ...(resources.carveOutBytes === null ? {} : { carveOutBytes: resources.carveOutBytes }),
    }),
  }
}

export const isKnown = (found: RungOccupancy | OccupancyGap): found is RungOccupancy =>
  typeof found !== 'string'

export interface RungWaves extends RungOccupancy {
  waves: Waves
  schedule: Schedule
  smCount: number
}

/** null where no block fits. */
export function rungWaves(session: Session, own: RungOccupancy): RungWaves | null {
  const gpu = gpuOf(session, own.rung, own.kernel)
  if (!gpu) return null
  const { blocksPerSm } = own.occupancy
  const waves = wavesOf(own.blocks, gpu.smCount, blocksPerSm)
  const schedule = scheduleOf(own.blocks, gpu.smCount, blocksPerSm)
  return waves && schedule ? { ...own, waves, schedule, smCount: gpu.smCount } : null
}
