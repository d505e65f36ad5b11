/**
 * Theoretical occupancy: how many blocks of a kernel one SM can hold, and what limits them.
 * The rules are those of cuda_occupancy.h; the results equal ncu's launch__occupancy_limit_* and
 * sm__maximum_warps_per_active_cycle_pct on every launch of the shipped recordings (a test).
 *
 * Not derivable here: the carve-out that the driver picks for a launch (pass `carveOutBytes` if ncu reported it;
 * it affects the shared-memory limit but, in the recordings, never the occupancy), how many clusters the GPU
 * can hold at once, and tensor memory limits from compute capability 10.0 on.
 */
import { message, type AnyMessage } from '../messages/message'
import {
  registerGranularity,
  registersPerThreadMax,
  schedulersPerSm,
  threadsPerBlockMax,
  warpSize,
  type SmLimits,
} from './gpu'

export interface KernelResources {
  /** Threads per block. */
  threads: number
  /** Registers per thread, as counted by ptxas and CUDA. */
  registers: number
  /** Shared memory per block in bytes, without CUDA's reserved part. */
  staticSharedBytes: number
  dynamicSharedBytes: number
  /** Barriers per block (ncu's launch__barrier_count); 1 if unknown, as CUDA's calculator assumes. */
  barriers?: number
  /** Shared memory configured for the SM at launch (launch__shared_mem_config_size), bytes; the maximum if unknown. */
  carveOutBytes?: number
}

export const occupancyLimiters = ['warps', 'blocks', 'registers', 'shared', 'barriers'] as const
export type OccupancyLimiter = (typeof occupancyLimiters)[number]

export interface Occupancy {
  blocksPerSm: number
  warpsPerBlock: number
  warpsPerSm: number
  warpsPerSmMax: number
  /** Resident warps as a share of what an SM can hold, percent. */
  percent: number
  /** Blocks an SM could hold if this were the only limit; null if it does not limit. */
  limits: Record<OccupancyLimiter, number | null>
  /** The limits reached first; empty if not even one block fits. */
  limiters: OccupancyLimiter[]
  /** What one block takes after rounding up, including CUDA's own share. */
  allocated: { registersPerBlock: number; sharedBytesPerBlock: number }
  /** Why no block can run; absent if one can. */
  unlaunchable?: AnyMessage
}

const roundUp = (value: number, step: number): number => Math.ceil(value / step) * step

export const warpsOf = (threads: number): number => Math.ceil(threads / warpSize)

/** Registers of one warp, rounded up to the allocation granularity. */
export const registersPerWarp = (registers: number): number =>
  roundUp(registers * warpSize, registerGranularity)

/** Shared memory of one block in bytes, including CUDA's own share and rounding. */
export const sharedAllocated = (limits: SmLimits, bytes: number): number =>
  roundUp(bytes + limits.sharedReserved, limits.sharedGranularity)

function registerLimit(limits: SmLimits, registers: number, warps: number): number | null {
  const perWarp = registersPerWarp(registers)
  if (perWarp === 0) return null
  const warpsPerScheduler = Math.floor(limits.registersPerSm / schedulersPerSm / perWarp)
  return Math.floor((warpsPerScheduler * schedulersPerSm) / warps)
}

function sharedLimit(limits: SmLimits, kernel: KernelResources, allocated: number): number | null {
  if (allocated === 0) return null
  return Math.floor((kernel.carveOutBytes ?? limits.sharedPerSm) / allocated)
}

/** ncu and CUDA cap this limit at the SM's block limit. */
const barrierLimit = (limits: SmLimits, barriers: number): number | null =>
  limits.barriersPerSm === null
    ? null
    : Math.min(limits.blocksPerSm, Math.floor(limits.barriersPerSm / Math.max(barriers, 1)))

function whyUnlaunchable(limits: SmLimits, kernel: KernelResources): AnyMessage | undefined {
  const { threads, registers } = kernel
  const shared = kernel.staticSharedBytes + kernel.dynamicSharedBytes
  const held = registersPerWarp(registers) * roundUp(warpsOf(threads), schedulersPerSm)
  if (threads > threadsPerBlockMax)
    return message('occupancy.threads', { most: threadsPerBlockMax, threads })
  if (registers > registersPerThreadMax)
    return message('occupancy.registers', { most: registersPerThreadMax, registers })
  if (shared > limits.sharedPerBlock)
    return message('occupancy.shared', {
      most: limits.sharedPerBlock,
      computeCapability: limits.computeCapability,
      bytes: shared,
    })
  // CUDA assumes that the warps of a block are spread evenly over the schedulers.
  if (held > limits.registersPerSm)
    return message('occupancy.registersOfBlock', { held, most: limits.registersPerSm })
  return undefined
}

/** Throws a RangeError for counts that are fractional or below their minimum: a programming error. */
function requireCounts(kernel: KernelResources): void {
  const least = { threads: 1, registers: 0, staticSharedBytes: 0, dynamicSharedBytes: 0 } as const
  for (const name of ['threads', 'registers', 'staticSharedBytes', 'dynamicSharedBytes'] as const)
    if (!Number.isSafeInteger(kernel[name]) || kernel[name] < least[name])
      throw new RangeError(`${name} must be a whole number from ${least[name]}: ${kernel[name]}.`)
}

export function occupancy(limits: SmLimits, kernel: KernelResources): Occupancy {
  requireCounts(kernel)
  const warpsPerBlock = warpsOf(kernel.threads)
  const warpsPerSmMax = limits.threadsPerSm / warpSize
  const sharedBytesPerBlock = sharedAllocated(
    limits,
    kernel.staticSharedBytes + kernel.dynamicSharedBytes,
  )
  const unlaunchable = whyUnlaunchable(limits, kernel)
  const own: Occupancy['limits'] = {
    warps: Math.floor(warpsPerSmMax / warpsPerBlock),
    blocks: limits.blocksPerSm,
    registers: registerLimit(limits, kernel.registers, warpsPerBlock),
    shared: sharedLimit(limits, kernel, sharedBytesPerBlock),
    barriers: barrierLimit(limits, kernel.barriers ?? 1),
  }
  const blocksPerSm = unlaunchable
    ? 0
    : Math.min(...Object.values(own).filter((limit) => limit !== null))
  const warpsPerSm = blocksPerSm * warpsPerBlock
  return {
    blocksPerSm,
    warpsPerBlock,
    warpsPerSm,
    warpsPerSmMax,
    percent: (warpsPerSm / warpsPerSmMax) * 100,
    limits: own,
    limiters: unlaunchable ? [] : occupancyLimiters.filter((name) => own[name] === blocksPerSm),
    allocated: {
      registersPerBlock: registersPerWarp(kernel.registers) * warpsPerBlock,
      sharedBytesPerBlock,
    },
    ...(unlaunchable ? { unlaunchable } : {}),
  }
}

// What would let an SM hold more blocks of a kernel, and its occupancy as a function of each resource. Pure.

/** One resource value that, together with the others of the same advice, yields `blocksPerSm`. */
export interface ResourceChange {
  resource: 'registers' | 'shared' | 'threads'
  from: number
  /** The nearest value that suffices: registers per thread, bytes of shared memory, or threads per block. */
  to: number
}

export interface OccupancyAdvice {
  /** Needed together. */
  changes: ResourceChange[]
  blocksPerSm: number
  percent: number
}

export const sharedOf = (kernel: KernelResources): number =>
  kernel.staticSharedBytes + kernel.dynamicSharedBytes

/** The kernel with another amount of shared memory; the static part is kept if possible. */
export function withShared(kernel: KernelResources, bytes: number): KernelResources {
  const staticSharedBytes = Math.min(kernel.staticSharedBytes, bytes)
  return { ...kernel, staticSharedBytes, dynamicSharedBytes: bytes - staticSharedBytes }
}

// With a smaller demand the driver may also pick another carve-out; the largest is always available.
const free = ({ carveOutBytes: _, ...kernel }: KernelResources): KernelResources => kernel

const limitOf = (limits: SmLimits, kernel: KernelResources, name: OccupancyLimiter): number =>
  occupancy(limits, kernel).limits[name] ?? Infinity

/** The maximum registers per thread for which `blocks` fit by registers; 0 if there is none. */
function registersFor(limits: SmLimits, kernel: KernelResources, blocks: number): number {
  for (let registers = kernel.registers; registers >= 1; registers -= 1)
    if (limitOf(limits, { ...kernel, registers }, 'registers') >= blocks) return registers
  return 0
}

/** The maximum shared memory per block for which `blocks` fit, in bytes; null if even 0 is too much. */
function sharedFor(limits: SmLimits, kernel: KernelResources, blocks: number): number | null {
  const share = Math.floor(limits.sharedPerSm / blocks / limits.sharedGranularity)
  const bytes = share * limits.sharedGranularity - limits.sharedReserved
  return bytes < 0 ? null : Math.min(bytes, sharedOf(kernel))
}

/** The registers and shared memory that would allow one more resident block; null if neither can. */
function oneMoreBlock(limits: SmLimits, kernel: KernelResources): OccupancyAdvice | null {
  const blocks = occupancy(limits, kernel).blocksPerSm + 1
  if ((['warps', 'blocks', 'barriers'] as const).some((it) => limitOf(limits, kernel, it) < blocks))
    return null
  const registers = registersFor(limits, kernel, blocks)
  const shared = sharedFor(limits, kernel, blocks)
  if (registers === 0 || shared === null) return null
  const changed = withShared({ ...kernel, registers }, shared)
  const then = occupancy(limits, changed)
  const changes: ResourceChange[] = []
  if (registers !== kernel.registers)
    changes.push({ resource: 'registers', from: kernel.registers, to: registers })
  if (shared !== sharedOf(kernel))
    changes.push({ resource: 'shared', from: sharedOf(kernel), to: shared })
  return { changes, blocksPerSm: then.blocksPerSm, percent: then.percent }
}

/** The nearest whole-warp block sizes on either side with a higher occupancy, all else unchanged. */
function otherBlockSizes(limits: SmLimits, kernel: KernelResources): OccupancyAdvice[] {
  const now = occupancy(limits, kernel).percent
  const find = (from: number, step: number): OccupancyAdvice[] => {
    for (
      let threads = from;
      threads >= warpSize && threads <= threadsPerBlockMax;
      threads += step
    ) {
      const { percent, blocksPerSm } = occupancy(limits, { ...kernel, threads })
      if (percent > now + 1e-9)
        return [
          {
            changes: [{ resource: 'threads', from: kernel.threads, to: threads }],
            blocksPerSm,
            percent,
          },
        ]
    }
    return []
  }
  const below = Math.ceil(kernel.threads / warpSize) * warpSize - warpSize
  const above = (Math.floor(kernel.threads / warpSize) + 1) * warpSize
  return [...find(below, -warpSize), ...find(above, warpSize)]
}

/**
 * The smallest changes that raise the occupancy: one more block through fewer registers or less shared memory,
 * or another block size. Empty at 100 % and if no single change helps. Whether a kernel can be written with so
 * few registers, and benefits, is another question.
 */
export function occupancyAdvice(limits: SmLimits, kernel: KernelResources): OccupancyAdvice[] {
  const own = free(kernel)
  const now = occupancy(limits, own)
  if (now.percent >= 100) return []
  const more = now.unlaunchable ? null : oneMoreBlock(limits, own)
  return [...(more ? [more] : []), ...otherBlockSizes(limits, own)]
}

export interface CurvePoint {
  /** Threads per block, registers per thread, or bytes of shared memory per block. */
  x: number
  percent: number
  blocksPerSm: number
}

const steps = (from: number, to: number, step: number): number[] =>
  Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step)

/** Occupancy over the full range of one resource, with the others as in `kernel`. */
export function occupancyCurve(
  limits: SmLimits,
  kernel: KernelResources,
  resource: ResourceChange['resource'],
): CurvePoint[] {
  const own = free(kernel)
  const at: Record<
    ResourceChange['resource'],
    { xs: number[]; of: (x: number) => KernelResources }
  > = {
    threads: {
      xs: steps(warpSize, threadsPerBlockMax, warpSize),
      of: (threads) => ({ ...own, threads }),
    },
    registers: {
      xs: steps(1, registersPerThreadMax, 1),
      of: (registers) => ({ ...own, registers }),
    },
    shared: {
      xs: steps(0, limits.sharedPerBlock, 1024),
      of: (bytes) => withShared(own, bytes),
    },
  }
  const { xs, of } = at[resource]
  return xs.map((x) => {
    const { percent, blocksPerSm } = occupancy(limits, of(x))
    return { x, percent, blocksPerSm }
  })
}

/**
 * Waves: how often a grid fills the SMs, how full the last wave is, and the schedule that results if all blocks
 * take equally long. Reality differs if blocks differ; the schedule is a model and labeled as such.
 */
export interface Waves {
  blocks: number
  /** Blocks that run concurrently: SMs × blocks per SM. */
  slots: number
  /** The same as ncu's launch__waves_per_multiprocessor. */
  waves: number
  /** Waves, counting the last one as a full one. */
  wholeWaves: number
  /** Share of the slots used in the last wave, from 0 (exclusive) to 1. */
  lastWaveFill: number
  /** Share of the slot time used over the whole run, 0 to 1: waves / wholeWaves. */
  efficiency: number
}

/** Null if no block fits. Otherwise counts are positive integers. */
export function wavesOf(blocks: number, smCount: number, blocksPerSm: number): Waves | null {
  const slots = smCount * blocksPerSm
  if (slots <= 0 || blocks <= 0) return null
  const waves = blocks / slots
  const wholeWaves = Math.ceil(waves)
  return {
    blocks,
    slots,
    waves,
    wholeWaves,
    lastWaveFill: waves - (wholeWaves - 1),
    efficiency: waves / wholeWaves,
  }
}

export interface ScheduledBlock {
  /** In launch order, from 0. */
  block: number
  /** Slot within its SM, from 0 to blocksPerSm - 1. */
  slot: number
  /** In units of one block's duration. */
  start: number
  end: number
}

export interface Schedule {
  /** By SM, each in chronological order. */
  sms: ScheduledBlock[][]
  /** The waves to draw: the first and last ones of a long run. */
  drawnWaves: number[]
  /** The omitted waves in between, as [from, to), or null if there are none. */
  leftOut: [number, number] | null
  wholeWaves: number
}

/** With more waves than this, the middle is omitted. */
const mostWaves = 8

/**
 * Assigns blocks to SMs, wave by wave: each SM gets one block before any gets a second, as CUDA's work
 * distributor does. Long runs keep their first waves and the last two, which contain the tail.
 */
export function scheduleOf(
  blocks: number,
  smCount: number,
  blocksPerSm: number,
  maxWaves = mostWaves,
): Schedule | null {
  const waves = wavesOf(blocks, smCount, blocksPerSm)
  if (!waves) return null
  const { slots, wholeWaves } = waves
  const head = wholeWaves <= maxWaves ? wholeWaves : Math.max(1, maxWaves - 2)
  const tail = wholeWaves <= maxWaves ? 0 : Math.min(2, wholeWaves - head)
  const drawnWaves = [
    ...Array.from({ length: head }, (_, wave) => wave),
    ...Array.from({ length: tail }, (_, index) => wholeWaves - tail + index),
  ]
  const sms: ScheduledBlock[][] = Array.from({ length: smCount }, () => [])
  for (const wave of drawnWaves)
    for (let index = 0; index < slots; index += 1) {
      const block = wave * slots + index
      if (block >= blocks) break
      sms[index % smCount]!.push({
        block,
        slot: Math.floor(index / smCount),
        start: wave,
        end: wave + 1,
      })
    }
  return { sms, drawnWaves, leftOut: tail === 0 ? null : [head, wholeWaves - tail], wholeWaves }
}
