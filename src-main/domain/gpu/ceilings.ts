/**
 * The ceilings of a roofline. A ceiling is a measured GPU peak, or a peak computed from the GPU's
 * clocks.
 */
import { z } from 'zod'
import { message, type AnyMessage } from '../messages/message'
import { unavailable, type MetricValue } from '../metrics/metrics'
import { dtypeOf, isDtype } from '../task/dtype'
import type { Problem } from '../task/problem'
import type { Device } from './device'
import { isComputeCapability, type ComputeCapability } from './sm-limits'

const reached = z.number().positive().nullable()

/**
 * Results of the runner's microbenchmarks. Each result is the best of a few runs, or null if the
 * microbenchmark failed.
 */
export const Ceilings = z.object({
  /**
   * Rate of FP32 fused multiply-adds on registers in GFLOP/s. Each multiply-add counts as two
   * operations.
   */
  fp32Gflops: reached,
  /**
   * Read bandwidth in 10⁹ bytes per second. The buffer fits into L1 for `l1GBs`, fits into L2 for
   * `l2GBs`, and exceeds both caches for `dramGBs`.
   */
  l1GBs: reached,
  l2GBs: reached,
  dramGBs: reached,
})
export type Ceilings = z.infer<typeof Ceilings>

export const memoryLevels = ['l1', 'l2', 'dram'] as const
export type MemoryLevel = (typeof memoryLevels)[number]

export interface Ceiling {
  /** Peak rate in GFLOP/s for arithmetic, and in GB/s for memory. */
  value: MetricValue
  /** The value's source, or the reason that the value is missing. */
  how: AnyMessage
}

export interface SessionCeilings {
  compute: Record<'fp32' | 'tensor', Ceiling>
  memory: Record<MemoryLevel, Ceiling>
}

/**
 * FP32 lanes per SM. The numbers are from "Arithmetic Instructions" in the CUDA programming guide.
 */
const fp32Lanes: Record<ComputeCapability, number> = {
  '7.5': 64,
  '8.0': 64,
  '8.6': 128,
  '8.7': 128,
  '8.9': 128,
  '9.0': 128,
  '10.0': 128,
  '10.3': 128,
  '12.0': 128,
}

/**
 * Operations per cycle per SM for dense 16-bit tensor instructions with 32-bit accumulation.
 * Source: peak figures in NVIDIA's architecture papers (T4, A100, H100, B200). A compute capability
 * is omitted if its products have different rates. For example, GeForce GPUs have half the rate of
 * other GPUs with the same compute capability.
 */
const tensorFlopsPerCycle: Partial<Record<ComputeCapability, number>> = {
  '7.5': 1024,
  '8.0': 2048,
  '9.0': 4096,
  '10.0': 8192,
}

/**
 * Operations per cycle per SM for 8-bit floating-point inputs: twice the 16-bit rate on supported
 * GPUs. The rates are from NVIDIA's H100 and B200 papers.
 */
const tensor8FlopsPerCycle: typeof tensorFlopsPerCycle = { '9.0': 8192, '10.0': 16384 }

/** Returns the input width, in bits, of a problem's tensor instructions. */
const tensorBits = (problem: Pick<Problem, 'options'> | null | undefined): 8 | 16 =>
  Object.values(problem?.options ?? {}).some(
    (choice) => isDtype(choice) && dtypeOf(choice).bytes === 1,
  )
    ? 8
    : 16

/**
 * L1 bandwidth in bytes per cycle per SM. The bandwidths are from NVIDIA's Turing, A100 and GA102
 * architecture papers.
 */
const l1BytesPerCycle = (computeCapability: ComputeCapability): number =>
  computeCapability === '7.5' ? 64 : 128

const derived = (value: number, unit: 'GFLOP/s' | 'GB/s', how: AnyMessage): Ceiling => ({
  value: { value, unit, evidence: 'derived' },
  how,
})

const missing = (unit: 'GFLOP/s' | 'GB/s', how: AnyMessage): Ceiling => ({
  value: unavailable(unit, how),
  how,
})

const measured = (value: number, unit: 'GFLOP/s' | 'GB/s'): Ceiling => ({
  value: { value, unit, evidence: 'measured' },
  how: message('ceilings.benchmark'),
})

const notMeasured = message('ceilings.notMeasured')

/**
 * Returns the ceilings of the session's GPU. Measured ceilings take precedence over ceilings
 * derived from the clocks.
 */
export function ceilingsOf({
  device,
  ceilings,
  problem,
}: {
  device: Device | null
  ceilings?: Ceilings | null | undefined
  /**
   * Problem whose data types determine the tensor rate. If the problem is absent, 16-bit inputs are
   * assumed.
   */
  problem?: Pick<Problem, 'options'> | null | undefined
}): SessionCeilings {
  const bits = tensorBits(problem)
  const known =
    device && isComputeCapability(device.computeCapability) ? device.computeCapability : null
  const clock = device?.smClockMaxMHz ?? null
  const cycles = device && clock !== null ? device.smCount * clock * 1e6 : null
  const unknown = !device
    ? message('ceilings.noGpu')
    : cycles === null
      ? message('ceilings.noClock')
      : message('ceilings.notInTable', { computeCapability: device.computeCapability })

  const perCycle = (
    unit: 'GFLOP/s' | 'GB/s',
    rate: number | undefined,
    how: 'ceilings.fp32' | 'ceilings.tensor' | 'ceilings.l1',
    otherwise = unknown,
  ): Ceiling => {
    if (!device || known === null || clock === null || cycles === null)
      return missing(unit, unknown)
    if (rate === undefined) return missing(unit, otherwise)
    const { smCount } = device
    return derived((cycles * rate) / 1e9, unit, message(how, { smCount, clock, rate, bits }))
  }

  const bus = device?.memoryBusBits ?? null
  const memoryClock = device?.memoryClockMHz ?? null
  const dram =
    bus === null || memoryClock === null
      ? missing('GB/s', message('ceilings.noBus'))
      : derived(
          (2 * memoryClock * 1e6 * (bus / 8)) / 1e9,
          'GB/s',
          message('ceilings.bus', { bits: bus, clock: memoryClock }),
        )

  return {
    compute: {
      fp32: ceilings?.fp32Gflops
        ? measured(ceilings.fp32Gflops, 'GFLOP/s')
        : perCycle('GFLOP/s', known === null ? undefined : 2 * fp32Lanes[known], 'ceilings.fp32'),
      tensor: perCycle(
        'GFLOP/s',
        known === null
          ? undefined
          : (bits === 8 ? tensor8FlopsPerCycle : tensorFlopsPerCycle)[known],
        'ceilings.tensor',
        known === null ? unknown : message('ceilings.tensorDiffers', { computeCapability: known }),
      ),
    },
    memory: {
      l1: ceilings?.l1GBs
        ? measured(ceilings.l1GBs, 'GB/s')
        : perCycle('GB/s', known === null ? undefined : l1BytesPerCycle(known), 'ceilings.l1'),
      l2: ceilings?.l2GBs ? measured(ceilings.l2GBs, 'GB/s') : missing('GB/s', notMeasured),
      dram: ceilings?.dramGBs ? measured(ceilings.dramGBs, 'GB/s') : dram,
    },
  }
}
