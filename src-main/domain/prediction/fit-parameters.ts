/** Fits the parameters of the timing model to the output of the microbenchmarks alone. */
import { inputError } from '../errors'
import { message } from '../messages/message'
import type { Measurement } from './calibration-output'
import {
  gpuId,
  isPlausible,
  parameterIds,
  type GpuParameters,
  type ParameterValue,
} from './gpu-parameters'
import { assumed, derived, measured, MeasuredLines, type Read } from './measured-lines'
import { parameterTable, type ParameterId } from './parameter-table'

type Fit = (lines: MeasuredLines) => ParameterValue

const line =
  (benchmark: string, wanted: Record<string, string | number> = {}, field = 'cycles'): Fit =>
  (lines) =>
    measured(lines.read(benchmark, wanted, field))

const clock = (lines: MeasuredLines): number => lines.read('clock', { load: 'fp32' }, 'mhz').value

const latencyOf = (lines: MeasuredLines, op: string): number =>
  lines.read('latency.op', { op }).value

/** Returns a measured number, converted to another unit. */
const scaled = ({ value, spread, name }: Read, factor: number, how: string): ParameterValue =>
  derived(value * factor, `${name}; ${how}`, spread === undefined ? undefined : spread * factor)

/** Converts milliseconds to cycles of the SM clock. */
const milliseconds =
  (benchmark: string, wanted: Record<string, string | number> = {}): Fit =>
  (lines) =>
    scaled(lines.read(benchmark, wanted, 'ms'), 1000 * clock(lines), 'times the FP32 clock')

/** Converts GB/s to bytes per cycle of the SM clock. */
const bytesPerCycle =
  (what: string): Fit =>
  (lines) => {
    const { value, name } = lines.read('dram', { what }, 'gbs')
    return derived((value * 1000) / clock(lines), `${name}; GB/s over the FP32 clock`)
  }

/**
 * Returns a fit that tries the given fits in order and uses the first fit whose measurement exists.
 */
const firstOf =
  (...fits: readonly ((lines: MeasuredLines) => ParameterValue | null)[]): Fit =>
  (lines) => {
    for (const fit of fits.slice(0, -1)) {
      const value = fit(lines)
      if (value !== null) return value
    }
    // The last fit either returns a value or throws an error.
    return fits.at(-1)!(lines)!
  }

const optional =
  (benchmark: string, wanted: Record<string, string | number>, field = 'cycles') =>
  (lines: MeasuredLines): ParameterValue | null => {
    const found = lines.find(benchmark, wanted, field)
    return found && measured(found)
  }

const inverse =
  (of: number, benchmark: string, wanted: Record<string, string | number>): Fit =>
  (lines) => {
    const { value, spread = 0, name } = lines.read(benchmark, wanted)
    return derived(of / value, `${of} over ${name}`, (of * spread) / value ** 2)
  }

/** Fits the additional cost per step, which is (last - first) / steps. */
const perStep =
  (
    benchmark: string,
    first: Record<string, string | number>,
    last: Record<string, string | number>,
    steps: number,
  ): Fit =>
  (lines) => {
    const [low, high] = [lines.read(benchmark, first), lines.read(benchmark, last)]
    return derived(
      (high.value - low.value) / steps,
      `(${high.name}) less (${low.name}), over ${steps}`,
      ((low.spread ?? 0) + (high.spread ?? 0)) / steps,
    )
  }

/**
 * Returns the largest size that is still on the plateau of `y`. `share` is the limit for `y`,
 * relative to its first value. A share above 1 means that `y` rises at the end of the plateau.
 * Otherwise, `y` falls.
 */
function plateauEnd(points: readonly { x: number; y: number }[], share: number): number {
  const plateau = points[0]!.y
  const leaves = points.findIndex(({ y }) =>
    share > 1 ? y > plateau * share : y < plateau * share,
  )
  return points[leaves < 0 ? points.length - 1 : Math.max(0, leaves - 1)]!.x
}

const tensorNote = 'no WGMMA on this GPU; never read'

/** Converts nanoseconds per warp to cycles per lane. */
const atomicLane =
  (what: string, addresses: number): Fit =>
  (lines) => {
    const wanted = { what, places: 'random', addresses, lanes: 32 }
    const cycles = clock(lines) / 1000 / 32
    return scaled(lines.read('atomics.global', wanted, 'nsPerWarp'), cycles, 'per lane, in cycles')
  }

/**
 * Number of addresses in the measurement of the cost of one request to a line. The addresses fill
 * 128 lines, so the lanes of a warp rarely share a line.
 */
const scatteredAddresses = 4096
/** Fraction of the warps that send a request to any given line. */
const requestsOfLine = 1 - (1 - 32 / scatteredAddresses) ** 32
const lineRequest: Fit = (lines) => {
  const wanted = { what: 'red.int', places: 'random', addresses: scatteredAddresses, lanes: 32 }
  return scaled(
    lines.read('atomics.global', wanted, 'nsPerWarp'),
    clock(lines) / 1000 / requestsOfLine,
    'per request on one of its 128 lines, in cycles',
  )
}

/** Fits the rate of atomics when there are so many addresses that no two lanes collide. */
const lanesPerCycle =
  (places: string): Fit =>
  (lines) => {
    const points = lines.curve(
      'atomics.global',
      { what: 'red.int', places },
      'addresses',
      'lanesPerNs',
    )
    return derived(
      (points.at(-1)!.y * 1000) / clock(lines),
      `atomics.global, what red.int, places ${places}: the most addresses, over the FP32 clock`,
    )
  }

/**
 * Fits the latency L = L0 · (1 + a · ρ²) by least squares. L0 is the idle latency, and ρ is the
 * fraction of the peak bandwidth. The fit uses only the points at which DRAM is not saturated.
 */
const loadedLatency: Fit = (lines) => {
  const points = lines.curve('latency.dram.loaded', {}, 'gbs', 'cycles')
  const peak = Math.max(...points.map(({ x }) => x))
  const idle = points[0]!.y
  let [above, below] = [0, 0]
  for (const { x, y } of points.filter((point) => point.x < 0.99 * peak)) {
    const square = (x / peak) ** 2
    above += square * (y / idle - 1)
    below += square ** 2
  }
  return derived(
    below === 0 ? 0 : above / below,
    'latency.dram.loaded: least squares of 1 + a·ρ² below 99 % of the peak rate',
  )
}

/**
 * Fits the length of a sub-core's load queue. In the measurement, all four sub-cores are busy, and
 * each load needs 32 wavefronts. The length is the number of loads issued at full speed, minus the
 * number of loads completed by that time.
 */
const queueLength: Fit = (lines) => {
  const gaps = lines.list('queue.lsu', { space: 'shared', warps: 4 }, 'gaps')
  const steady = gaps.at(-1)!
  const stops = gaps.findIndex((gap) => gap > steady / 3)
  const issued = stops < 0 ? gaps.length : stops + 1
  const elapsed = gaps.slice(0, issued - 1).reduce((sum, gap) => sum + gap, 0)
  return derived(
    Math.max(1, Math.round(issued - elapsed / steady)),
    'queue.lsu, space shared, warps 4: loads issued before the first stop, less those done by then',
  )
}

/**
 * Minimum number of bytes in an SM's unified memory that L1 cannot use. For kernels without shared
 * memory, the driver reserves no more than this minimum.
 */
const leastShared = 8192

/**
 * Fits the capacity of the instruction cache with a loop of one warp. The capacity is the largest
 * size before the last increase in time by more than half.
 */
const instructionCache: Fit = (lines) => {
  const points = lines.curve('icache.loop', { warps: 1 }, 'bytes', 'cycles')
  let last = points.length - 1
  points.forEach(({ y }, i) => {
    if (i > 0 && y > 1.5 * points[i - 1]!.y) last = i - 1
  })
  return derived(points[last]!.x, 'icache.loop, warps 1: the last size before a rise by half')
}

const fits: Record<ParameterId, Fit> = {
  smCount: line('gpu', {}, 'sms'),
  clockMHz: line('clock', { load: 'fp32' }, 'mhz'),
  clockTensorMHz: firstOf(
    optional('clock', { load: 'wgmma' }, 'mhz'),
    line('clock', { load: 'mma.sync' }, 'mhz'),
  ),

  launchCycles: (lines) => {
    const kernel = { cache: 'warm', blocks: 1, threads: 32 }
    const [empty, nothing] = [
      lines.read('launch.empty', kernel, 'ms'),
      lines.read('launch.nothing', {}, 'ms'),
    ]
    return derived(
      (empty.value - nothing.value) * 1000 * clock(lines),
      `(${empty.name}) less (${nothing.name}), times the FP32 clock`,
    )
  },
  launchGapCycles: milliseconds('launch.next'),
  blockCycles: line('block.turn', { threads: 1024, sharedBytes: 0 }),
  blocksPerCycle: (lines) => {
    const read = (blocks: number) =>
      lines.read('launch.empty', { cache: 'warm', blocks, threads: 256 }, 'ms').value
    return derived(
      90_000 / ((read(100_000) - read(10_000)) * 1000 * clock(lines)),
      'launch.empty, cache warm, threads 256: 100 000 blocks less 10 000',
    )
  },

  pipeAlu: line('interval', { op: 'iadd3' }),
  pipeFma: line('interval', { op: 'ffma' }),
  pipeImad: line('interval', { op: 'imad' }),
  pipeImadWide: line('interval', { op: 'imad.wide' }),
  pipeFp16: line('interval', { op: 'hfma2' }),
  // Use DADD for the FP64 rate, because DFMA reads three 64-bit operands and is limited by register
  // bandwidth, not by the pipe.
  pipeFp64: line('interval', { op: 'dadd' }),
  pipeXu: line('interval', { op: 'mufu' }),
  pipeLsu: line('interval', { op: 'shfl' }),
  pipeConstant: line('interval.constant', { addresses: 1 }),
  pipeUniform: line('interval.uniform', { warps: 8 }),
  pipeBranch: line('interval.branch', { warps: 8 }),
  pipeHmma: firstOf(optional('interval.mma', { opcode: 'HMMA.16816.F32' }), (lines) =>
    scaled(lines.read('interval.mma', { opcode: 'HMMA.1688.F32' }), 2, 'twice, for twice the work'),
  ),
  pipeImma: firstOf(optional('interval.mma', { opcode: 'IMMA.16832.S8.S8' }), (lines) =>
    scaled(
      lines.read('interval.mma', { opcode: 'IMMA.8816.S8.S8' }),
      4,
      'four times, for four times the work',
    ),
  ),
  pipeDmma: firstOf(optional('interval.mma', { opcode: 'DMMA.884' }), (lines) =>
    assumed(8 * lines.read('interval', { op: 'dfma' }).value, 'eight DFMA; there is no DMMA here'),
  ),
  hgmmaMacsPerCycle: firstOf(
    (lines) => {
      const wanted = { n: 256, macs: 64 * 256 * 16, warpgroups: 2 }
      const [macs, cycles] = [
        lines.find('interval.wgmma', wanted, 'macs'),
        lines.find('interval.wgmma', wanted),
      ]
      return macs && cycles && derived(macs.value / cycles.value, `${macs.name}: macs over cycles`)
    },
    (lines) => assumed((4 * 2048) / fits.pipeHmma(lines).value, tensorNote),
  ),
  hgmmaLeastCycles: firstOf(
    optional('interval.wgmma', { n: 8, macs: 64 * 8 * 16, warpgroups: 1 }),
    (lines) => assumed(fits.pipeHmma(lines).value, tensorNote),
  ),

  latencyShared: (lines) => measured(lines.least('latency.shared', { bytes: 4 })),
  latencySharedWide: (lines) => {
    const [word, wide] = [
      lines.least('latency.shared', { bytes: 4 }),
      lines.least('latency.shared', { bytes: 16 }),
    ]
    return derived((wide.value - word.value) / 3, `(${wide.name}) less (${word.name}), over 3`)
  },
  latencyLdsm: line('latency.ldsm', { matrices: 4 }),
  latencyL1: line('latency.l1'),
  latencyL2: line('latency.l2'),
  latencyDram: line('latency.dram'),
  latencyConstant: (lines) => {
    const { value, spread, name } = lines.read('latency.constant', { bytes: 1024 })
    const shift = latencyOf(lines, 'shf')
    return derived(value - shift, `${name}; less SHF, which makes the address`, spread)
  },
  latencyConstantMiss: line('latency.constant.first', { bytes: 49_152, stride: 256 }),
  latencyXu: line('latency.op', { op: 'mufu' }),
  latencyFp64: line('latency.op', { op: 'dfma' }),
  latencySpecial: firstOf(
    (lines) => {
      const [special, shuffle] = [
        lines.find('special', { what: 's2r' }),
        lines.find('special', { what: 'shfl' }),
      ]
      // In addition to the measured instruction, the S2R and SHFL chains contain LOP3 and CS2R. The
      // S2R chain also contains SHF and SGXT, which compute the index of a warp.
      const rest = latencyOf(lines, 'shfl') - latencyOf(lines, 'shf') - latencyOf(lines, 'iadd3')
      return (
        special &&
        shuffle &&
        derived(
          special.value - shuffle.value + rest,
          `(${special.name}) less (${shuffle.name}), plus SHFL, less SHF and SGXT`,
        )
      )
    },
    (lines) => {
      const chain = lines.read('latency.op', { op: 'isetp+s2r+shf+sgxt' })
      const rest = latencyOf(lines, 'isetp+sel') + latencyOf(lines, 'shf')
      return derived(chain.value - rest, `${chain.name}; less ISETP, SGXT and SHF`, chain.spread)
    },
  ),
  latencyShuffle: line('latency.op', { op: 'shfl' }),
  latencyHmma: firstOf(
    optional('latency.mma', { opcode: 'HMMA.16816.F32' }),
    line('latency.mma', { opcode: 'HMMA.1688.F32' }),
  ),
  latencyHgmma: firstOf(optional('latency.wgmma', { n: 8 }), (lines) =>
    assumed(fits.latencyHmma(lines).value, tensorNote),
  ),
  latencyBarrier: line('latency.barrier', { warps: 1 }),
  barrierPerWarp: perStep('latency.barrier', { warps: 1 }, { warps: 32 }, 31),
  latencyMbarrier: firstOf(
    (lines) => {
      const pair = lines.find('latency.mbarrier', { what: 'arrive+try_wait' })
      // The code between arrive and try_wait consists of two LOP3, two IADD and one SEL.
      const between = 2 * latencyOf(lines, 'lop3') + 3 * latencyOf(lines, 'iadd3')
      return (
        pair &&
        derived((pair.value - between) / 2, `${pair.name}; half of it, less what links them`)
      )
    },
    (lines) =>
      assumed(lines.least('latency.shared', { bytes: 4 }).value, 'latencyShared; no try_wait here'),
  ),
  latencyBulkCopy: firstOf(optional('latency.bulk', { bytes: 2048 }), (lines) =>
    assumed(lines.read('latency.l2').value, 'latencyL2; there are no bulk copies here'),
  ),
  latencyAtomicShared: line('latency.atomic.shared', {
    type: 'int',
    addresses: 'distinct',
    lanes: 32,
  }),
  latencyAtomicGlobal: line('latency.atomic.global', { lanes: 1 }),
  branchTaken: (lines) => {
    const { value, spread, name } = lines.read('loop', { warps: 1, body: 32 })
    // The stall counts are 1 for the last FADD, 6 for BRA, and 4 for each other FADD in the chain.
    const stalls = 32 * latencyOf(lines, 'fadd') + 3
    return derived(value - stalls, `${name}; less the stall counts of its code`, spread)
  },

  l1WavefrontsPerCycle: inverse(32, 'interval.shared', { bytes: 4, ways: 32 }),
  l1TagsPerCycle: inverse(32, 'l1.pattern', { pattern: 'lines', argument: 32 }),
  lsuQueue: queueLength,
  l1Bytes: (lines) =>
    derived(
      plateauEnd(lines.curve('l1.capacity', {}, 'bytes', 'cycles'), 1.15) + leastShared,
      'l1.capacity: the last size before the latency rises, plus 8 KiB that are always shared memory',
    ),
  l1MissBytesPerCycle: (lines) => {
    // A single SM reaches almost twice the rate of an SM that competes with many other SMs.
    const half = Math.floor(lines.read('gpu', {}, 'sms').value / 2)
    const wanted = { sms: half, lines: 'private', sectorsPerRequest: 4 }
    const { value, name } = lines.read('l2.read', wanted, 'typicalBytesPerCycle')
    return derived(value / half, `${name}; of the median SM`)
  },
  storeBytesPerCycle: (lines) =>
    measured(lines.read('l2.write', { sms: 1, sectorsPerRequest: 4 }, 'bytesPerCycle')),

  l2Bytes: (lines) => {
    const points = lines.curve('l2.capacity', {}, 'bytes', 'gbs')
    // For small sizes, the rate depends on the location of the lines, so the best rate of all sizes
    // defines the plateau.
    const best = Math.max(...points.map(({ y }) => y))
    return derived(
      points.findLast(({ y }) => y > 0.85 * best)!.x,
      'l2.capacity: the last size with 85 % of the best rate',
    )
  },
  l2RequestsPerCycle: (lines) => measured(allSms(lines, 'l2.read', 1, 'requestsPerCycle')),
  l2BytesPerCycle: (lines) => measured(allSms(lines, 'l2.read', 4, 'bytesPerCycle')),
  l2StoreRequestsPerCycle: (lines) => measured(allSms(lines, 'l2.write', 1, 'requestsPerCycle')),
  l2StoreBytesPerCycle: (lines) => measured(allSms(lines, 'l2.write', 4, 'bytesPerCycle')),
  l2SharedBytesPerCycle: (lines) => {
    const wanted = { lines: 'shared', sectorsPerRequest: 4 }
    const points = lines.curve('l2.read', wanted, 'lineBytes', 'bytesPerCycle')
    return derived(points.at(-1)!.y, 'l2.read, lines shared, sectorsPerRequest 4: the most lines')
  },
  dramBytesPerCycle: bytesPerCycle('read'),
  dramWriteBytesPerCycle: bytesPerCycle('write'),
  dramCopyBytesPerCycle: bytesPerCycle('copy'),
  dramLoadedLatency: loadedLatency,
  partialWriteCost: (lines) => {
    const [half, full] = [
      lines.read('dram', { what: 'write.half.sectors' }, 'ms'),
      lines.read('dram', { what: 'write' }, 'ms'),
    ]
    return derived(
      half.value / full.value,
      `(${half.name}) over (${full.name}), of the same sectors`,
    )
  },

  atomicSameAddress: atomicLane('red.int', 1),
  atomicSameAddressFloat: atomicLane('red.float', 1),
  atomicSameLine: atomicLane('red.int', 32),
  atomicLineRequest: lineRequest,
  atomicRequestsPerCycle: lanesPerCycle('random'),
  atomicSharedConflict: perStep(
    'latency.atomic.shared',
    { type: 'int', addresses: 'same', lanes: 1 },
    { type: 'int', addresses: 'same', lanes: 32 },
    31,
  ),
  atomicsPerCycle: lanesPerCycle('rows'),

  instructionCacheBytes: instructionCache,
  instructionMissCycles: (lines) => {
    const wanted = { from: 'first launch' }
    const cold = lines.list('icache.cold', wanted, 'cold')
    const cached = lines.read('icache.loop', { bytes: 16_384, warps: 1 })
    // The sizes range from 2 to 32 KiB in steps of 8 cache lines. Each cache line contains 8
    // instructions.
    const perLine = (cold.at(-1)! - cold[0]!) / ((cold.length - 1) * 8)
    return derived(
      perLine - 8 * cached.value,
      `icache.cold, from first launch: per line; less 8 instructions of (${cached.name})`,
    )
  },
}

/** Returns a value measured on all SMs, each of which accesses its own memory lines. */
function allSms(lines: MeasuredLines, benchmark: string, sectors: number, field: string): Read {
  const sms = lines.read('gpu', {}, 'sms').value
  return lines.read(benchmark, { sms, lines: 'private', sectorsPerRequest: sectors }, field)
}

/**
 * Returns the value if it is plausible, and otherwise throws an input error that names the
 * parameter. The most likely cause of an implausible value is that another program used the GPU.
 */
function plausible(id: ParameterId, fitted: ParameterValue): ParameterValue {
  if (isPlausible(id, fitted.value)) return fitted
  const { unit, range } = parameterTable[id]
  throw inputError(
    message('calibration.implausible', {
      ...{ id, value: fitted.value, unit, low: range[0], high: range[1] },
    }),
    message('calibration.idle'),
  )
}

/**
 * Returns the parameters of the measured GPU. Throws an input error if a measurement is missing or
 * implausible.
 */
export function fitParameters(all: readonly Measurement[]): GpuParameters {
  const lines = new MeasuredLines(all)
  const [gpu] = all.filter(({ benchmark }) => benchmark === 'gpu')
  const name = typeof gpu?.name === 'string' ? gpu.name : 'GPU'
  return {
    kernel_ladder_gpu: 1,
    name: gpuId(name),
    gpu: name,
    computeCapability: typeof gpu?.computeCapability === 'string' ? gpu.computeCapability : '0.0',
    validated: false,
    values: Object.fromEntries(
      parameterIds.map((id) => [id, plausible(id, fits[id](lines))]),
    ) as GpuParameters['values'],
  }
}
