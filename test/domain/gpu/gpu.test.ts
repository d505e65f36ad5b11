/** Tests the occupancy and the waves of kernels. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readRaw } from '../../../src-main/adapters/tools/raw-files'
import { inEnglish } from '../../../src-main/domain/text/english'
import { type KernelResources, occupancy } from '../../../src-main/domain/gpu/occupancy'
import { type NcuLaunch, parseNcuRawCsv } from '../../../src-main/parsers/ncu/ncu-csv'
import { ncuCapture } from '../../captures'
import { computeCapabilities, smLimits } from '../../../src-main/domain/gpu/sm-limits'
import { scheduleOf, wavesOf } from '../../../src-main/domain/gpu/waves'
import {
  occupancyAdvice,
  occupancyCurve,
  sharedOf,
  withShared,
} from '../../../src-main/domain/gpu/occupancy-advice'
import { sharedSessions, sharingSessions } from '../../../src-main/adapters/disk/shared-sessions'

describe('occupancy', async () => {
  const root = join(import.meta.dirname, '../../..')
  const recordings = join(root, 'resources/recordings')

  /**
   * Folders with all launches that ncu profiled: built-in recordings, lab recordings, and ncu
   * captures.
   */
  const folders = [
    ...(await sharingSessions(join(recordings, sharedSessions))),
    ...(await sharingSessions(join(recordings, 'labs', sharedSessions))).map((name) =>
      join('labs', name),
    ),
  ]
  const tables = [
    ...(await Promise.all(
      folders.map(async (name) => ({
        name,
        text: (await readRaw(join(recordings, name), 'ncu/profile'))?.stdout ?? '',
      })),
    )),
    ...['import-set-full', 'launches-two-rungs', 'import-five-kernels', 'standard-mix'].map(
      (name) => ({ name, text: ncuCapture(name) }),
    ),
  ]
  /**
   * Names of the tables to compare. Recordings of programs are skipped, because their ncu output is
   * not a list of metrics.
   */
  const profiled = tables.map(({ name }) => name).filter((name) => !name.startsWith('feed-forward'))
  /**
   * Returns whether a block fits according to ncu. With 48 KiB of dynamic shared memory and some
   * static shared memory, ncu reports that no block fits, although the kernel ran.
   */
  const fitsByNcu = (launch: NcuLaunch): boolean =>
    launch.metrics['launch__occupancy_limit_shared_mem']?.value !== 0
  const reports = tables.map(({ name, text }) => ({
    name,
    launches: parseNcuRawCsv(text).launches.filter(fitsByNcu),
  }))

  const figure = (launch: NcuLaunch, name: string): number => {
    const value = launch.metrics[name]?.value
    if (typeof value !== 'number') throw new Error(`${launch.kernelName} has no ${name}`)
    return value
  }

  const resourcesOf = (launch: NcuLaunch): KernelResources & { carveOutBytes: number } => ({
    threads: figure(launch, 'launch__block_size'),
    registers: figure(launch, 'launch__registers_per_thread'),
    staticSharedBytes: figure(launch, 'launch__shared_mem_per_block_static'),
    dynamicSharedBytes: figure(launch, 'launch__shared_mem_per_block_dynamic'),
    barriers: figure(launch, 'launch__barrier_count'),
    carveOutBytes: figure(launch, 'launch__shared_mem_config_size'),
  })

  const limitsOf = (launch: NcuLaunch) => smLimits(launch.computeCapability ?? '')!
  const hopper = smLimits('9.0')!
  const kernel = (given: Partial<KernelResources> = {}): KernelResources => ({
    threads: 256,
    registers: 128,
    staticSharedBytes: 8192,
    dynamicSharedBytes: 0,
    ...given,
  })

  it('is compared with ncu’s occupancy in every profiled recording', () => {
    const compared = reports.filter(({ launches }) => launches.length > 0).map(({ name }) => name)
    expect(profiled.length).toBeGreaterThan(70)
    expect(compared.toSorted()).toEqual(profiled.toSorted())
  })

  describe.each(reports)('of profiled launches in $name', ({ launches }) => {
    it.each(launches.map((launch) => ({ launch, name: launch.kernelName.slice(0, 60) })))(
      "matches ncu's limits, allocations, and percentage for $name",
      ({ launch }) => {
        const found = occupancy(limitsOf(launch), resourcesOf(launch))
        expect(found.limits).toEqual({
          warps: figure(launch, 'launch__occupancy_limit_warps'),
          blocks: figure(launch, 'launch__occupancy_limit_blocks'),
          registers: figure(launch, 'launch__occupancy_limit_registers'),
          shared: figure(launch, 'launch__occupancy_limit_shared_mem'),
          barriers: figure(launch, 'launch__occupancy_limit_barriers'),
        })
        expect(found.allocated.sharedBytesPerBlock).toBe(
          figure(launch, 'launch__shared_mem_per_block_allocated'),
        )
        const theoretical = figure(launch, 'sm__maximum_warps_per_active_cycle_pct')
        expect(Math.abs(found.percent - theoretical)).toBeLessThan(0.1)
        expect(found.unlaunchable).toBeUndefined()
      },
    )

    it('does not depend on the carve-out that the driver chose', () => {
      for (const launch of launches) {
        const { carveOutBytes: _, barriers: __, ...known } = resourcesOf(launch)
        const { percent } = occupancy(limitsOf(launch), known)
        const theoretical = figure(launch, 'sm__maximum_warps_per_active_cycle_pct')
        expect(Math.abs(percent - theoretical), launch.kernelName).toBeLessThan(0.1)
      }
    })

    it('yields as many waves as ncu reports', () => {
      for (const launch of launches) {
        const { blocksPerSm } = occupancy(limitsOf(launch), resourcesOf(launch))
        const [x, y, z] = launch.grid!
        const found = wavesOf(x * y * z, figure(launch, 'launch__sm_count'), blocksPerSm)
        const ncu = figure(launch, 'launch__waves_per_multiprocessor')
        // ncu rounds the number of waves to two decimals.
        expect(Math.abs(found!.waves - ncu), launch.kernelName).toBeLessThanOrEqual(0.00501)
      }
    })
  })

  describe("in CUDA 13.0's cuda_occupancy.h", () => {
    const [header, ...rows] = readFileSync(
      join(root, 'test/captures/cuda-occupancy/13.0/grid.csv'),
      'utf8',
    )
      .trim()
      .split('\n')
      .map((line) => line.split(','))
    const named = rows.map((row) => Object.fromEntries(header!.map((name, at) => [name, row[at]!])))

    it.each(computeCapabilities)('is the same for compute capability %s', (computeCapability) => {
      const own = named.filter(({ cc }) => cc === computeCapability)
      expect(own.length).toBe(240)
      for (const row of own) {
        const n = (name: string): number => Number(row[name])
        const limit = (name: string): number | null => (n(name) < 0 ? null : n(name))
        const found = occupancy(smLimits(computeCapability)!, {
          threads: n('threads'),
          registers: n('registers'),
          staticSharedBytes: 0,
          dynamicSharedBytes: n('shared'),
          barriers: n('barriers'),
        })
        const at = JSON.stringify(row)
        expect(found.blocksPerSm, at).toBe(n('blocks'))
        expect(found.limits.warps, at).toBe(n('warpLimit'))
        expect(found.limits.blocks, at).toBe(n('blockLimit'))
        // cuda_occupancy.h returns 0 if a block does not fit, whereas `occupancy` returns an error
        // message.
        if (!found.unlaunchable) {
          expect(found.limits.registers, at).toBe(n('registerLimit'))
          expect(found.limits.shared, at).toBe(limit('sharedLimit'))
        }
        if (n('barrierLimit') >= 0)
          expect(found.limits.barriers, at).toBe(Math.min(n('barrierLimit'), n('blockLimit')))
        expect(found.allocated, at).toEqual({
          registersPerBlock: n('registersAllocated'),
          sharedBytesPerBlock: n('sharedAllocated'),
        })
      }
    })
  })

  it('lists all limiting resources if several are exhausted at the same block count', () => {
    expect(occupancy(hopper, kernel()).limiters).toEqual(['registers'])
    expect(occupancy(hopper, kernel({ threads: 1024, registers: 32 })).limiters).toEqual([
      'warps',
      'registers',
    ])
    expect(occupancy(hopper, kernel({ threads: 32, registers: 16 })).limiters).toContain('shared')
    expect(
      occupancy(hopper, kernel({ threads: 32, registers: 16, staticSharedBytes: 0 })).limiters,
    ).toEqual(['blocks', 'barriers'])
  })

  it.each([
    [{ threads: 1025 }, 'A block can have at most 1024 threads; this one has 1025.'],
    [{ registers: 256 }, 'A thread can have at most 255 registers; this one has 256.'],
    [
      { staticSharedBytes: 232_449 },
      'A block can have at most 232448 bytes of shared memory on compute capability 9.0; this one requests 232449.',
    ],
    [
      { threads: 1024, registers: 72 },
      'One block needs 73728 registers, but an SM has only 65536.',
    ],
  ])('reports why a block with %j cannot run', (given, reason) => {
    const found = occupancy(hopper, kernel(given))
    expect(found).toMatchObject({ blocksPerSm: 0, percent: 0, limiters: [] })
    expect(inEnglish(found.unlaunchable!)).toBe(reason)
  })

  it('rejects invalid counts', () => {
    for (const given of [{ threads: 0 }, { threads: 1.5 }, { registers: -1 }, { threads: NaN }])
      expect(() => occupancy(hopper, kernel(given))).toThrow(RangeError)
  })

  it('has no limits for compute capabilities outside the table', () => {
    for (const word of ['7.0', '12.1', '9', '', 'toString']) expect(smLimits(word)).toBeUndefined()
  })

  describe('advice', () => {
    it('suggests the largest register count that allows one more block', () => {
      const [advice] = occupancyAdvice(hopper, kernel())
      expect(advice).toMatchObject({
        changes: [{ resource: 'registers', from: 128, to: 80 }],
        blocksPerSm: 3,
        percent: 37.5,
      })
    })

    it('suggests registers and shared memory together if both limit the occupancy', () => {
      const both = kernel({ staticSharedBytes: 0, dynamicSharedBytes: 100 * 1024 })
      const [advice] = occupancyAdvice(hopper, both)
      expect(advice!.changes).toEqual([
        { resource: 'registers', from: 128, to: 80 },
        { resource: 'shared', from: 102_400, to: 76_800 },
      ])
    })

    it('suggests a different block size if the current block size leaves warp slots unused', () => {
      const advice = occupancyAdvice(hopper, kernel({ threads: 384, registers: 168 }))
      const sizes = advice.flatMap(({ changes }) =>
        changes.filter(({ resource }) => resource === 'threads').map(({ to }) => to),
      )
      for (const threads of sizes)
        expect(occupancy(hopper, kernel({ threads, registers: 168 })).percent).toBeGreaterThan(
          18.75,
        )
      expect(sizes.length).toBe(0)
      expect(
        occupancyAdvice(hopper, kernel({ threads: 640, registers: 40 }))[1]!.changes[0],
      ).toEqual({ resource: 'threads', from: 640, to: 512 })
    })

    it('suggests nothing if the occupancy is 100 %', () => {
      expect(occupancyAdvice(hopper, kernel({ registers: 32 }))).toEqual([])
    })

    it('suggests the nearest sufficient values for every recorded kernel', () => {
      for (const launch of reports.flatMap(({ launches }) => launches)) {
        const limits = limitsOf(launch)
        const { carveOutBytes: _, ...own } = resourcesOf(launch)
        const now = occupancy(limits, own).percent
        for (const { changes, percent } of occupancyAdvice(limits, own)) {
          const apply = (slack: number): KernelResources =>
            changes.reduce<KernelResources>((changed, { resource, from, to }) => {
              const value = to + slack * Math.sign(from - to) * (resource === 'threads' ? 32 : 1)
              return resource === 'shared'
                ? withShared(changed, value)
                : { ...changed, [resource]: value }
            }, own)
          expect(percent, launch.kernelName).toBeGreaterThan(now)
          expect(occupancy(limits, apply(0)).percent).toBe(percent)
          expect(occupancy(limits, apply(1)).percent, launch.kernelName).toBeLessThanOrEqual(now)
        }
      }
    })
  })

  describe('as a function of one resource', () => {
    it.each(['threads', 'registers', 'shared'] as const)(
      'has a point with the kernel’s own occupancy: %s',
      (resource) => {
        const own = kernel()
        const x = resource === 'shared' ? sharedOf(own) : own[resource]
        const point = occupancyCurve(hopper, own, resource).find((candidate) => candidate.x === x)
        expect(point?.percent).toBe(occupancy(hopper, own).percent)
      },
    )

    it('does not increase with more registers or more shared memory', () => {
      for (const resource of ['registers', 'shared'] as const) {
        const percents = occupancyCurve(hopper, kernel(), resource).map(({ percent }) => percent)
        expect(percents).toEqual([...percents].sort((a, b) => b - a))
      }
    })
  })
})

describe('waves', () => {
  // The test "yields as many waves as ncu reports" compares the waves of every recorded launch with
  // ncu's values.

  describe('of a grid', () => {
    it('include the last wave’s fill and the efficiency', () => {
      expect(wavesOf(1024, 132, 2)).toEqual({
        blocks: 1024,
        slots: 264,
        waves: 1024 / 264,
        wholeWaves: 4,
        lastWaveFill: 1024 / 264 - 3,
        efficiency: 1024 / 264 / 4,
      })
    })

    it('have no tail if the grid fills every wave exactly', () => {
      expect(wavesOf(264, 132, 2)).toMatchObject({ wholeWaves: 1, lastWaveFill: 1, efficiency: 1 })
    })

    it('are a fraction of one wave if the grid is too small to fill the GPU', () => {
      expect(wavesOf(66, 132, 1)).toMatchObject({ waves: 0.5, lastWaveFill: 0.5, efficiency: 0.5 })
    })

    it('are null if no block fits', () => {
      expect(wavesOf(10, 132, 0)).toBeNull()
      expect(scheduleOf(10, 132, 0)).toBeNull()
    })
  })

  describe('the schedule of a grid', () => {
    const drawn = (schedule: ReturnType<typeof scheduleOf>) => schedule!.sms.flat()

    it('assigns one block to every SM before any SM gets a second block', () => {
      const schedule = scheduleOf(5, 4, 2)!
      expect(schedule.sms.map((blocks) => blocks.map(({ block, slot }) => [block, slot]))).toEqual([
        [
          [0, 0],
          [4, 1],
        ],
        [[1, 0]],
        [[2, 0]],
        [[3, 0]],
      ])
    })

    it('has each block once, and at most one block per slot at a time', () => {
      const schedule = scheduleOf(1000, 132, 2)
      const blocks = drawn(schedule)
      expect(blocks.map(({ block }) => block).sort((a, b) => a - b)).toEqual(
        Array.from({ length: 1000 }, (_, index) => index),
      )
      for (const sm of schedule!.sms) {
        const places = sm.map(({ slot, start }) => `${slot}@${start}`)
        expect(new Set(places).size).toBe(places.length)
      }
    })

    it('omits the middle waves of a long run, but never its tail', () => {
      const schedule = scheduleOf(16_384, 132, 2)!
      expect(schedule.wholeWaves).toBe(63)
      expect(schedule.drawnWaves).toEqual([0, 1, 2, 3, 4, 5, 61, 62])
      expect(schedule.leftOut).toEqual([6, 61])
      const blocks = drawn(schedule)
      expect(Math.max(...blocks.map(({ block }) => block))).toBe(16_383)
      expect(blocks.length).toBe(16_384 - 55 * 264)
    })
  })
})
