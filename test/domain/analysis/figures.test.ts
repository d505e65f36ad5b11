/** Tests the figures derived from measurements, and the cost of measuring. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { derivedMetrics } from '../../../src-main/domain/analysis/derived-metrics'
import { type Launch } from '../../../src-main/domain/session/session'
import { said, gemm, gemmProblem } from '../../support'
import { leadFigure, leadOf, leadText } from '../../../src-main/domain/analysis/lead-figure'
import { Task } from '../../../src-main/domain/task/task'
import { usualProblem } from '../../../src-main/domain/task/problem'
import { planProfile, profileSeconds } from '../../../src-main/domain/analysis/pass-plan'
import {
  fewestSamples,
  medianInterval,
  quantile,
  ratioInterval,
} from '../../../src-main/domain/analysis/confidence-intervals'

describe('derived metrics', () => {
  /** The runner's captured launch and ncu's figures for the same rung on the same GPU. */
  const captured = JSON.parse(
    readFileSync(join(import.meta.dirname, '../../captures/runner/h200/launches.json'), 'utf8'),
  ) as {
    device: { computeCapability: string; smCount: number }
    rungs: { rung: string; runner: Launch[]; ncu: Launch[]; metrics: Record<string, number> }[]
  }

  const launch = (
    over: Partial<Launch> = {},
    resources: Partial<Launch['resources']> = {},
  ): Launch => ({
    name: 'k',
    grid: [64, 1, 1],
    block: [256, 1, 1],
    resources: {
      registersPerThread: 64,
      staticSharedBytes: 0,
      dynamicSharedBytes: 0,
      barriers: null,
      carveOutBytes: null,
      clusterBlocks: 0,
      ...resources,
    },
    ...over,
  })
  const h200 = { computeCapability: '9.0', smCount: 132 }

  describe.each(captured.rungs)('the launch of $rung on an H200', ({ runner, ncu, metrics }) => {
    it('has the same shape and resources in the runner and in ncu', () => {
      const told = (launches: Launch[]) =>
        launches.map(({ grid, block, resources }) => {
          const { barriers: _, carveOutBytes: __, ...rest } = resources
          return { grid, block, ...rest }
        })
      expect(told(runner)).toEqual(told(ncu))
    })

    it('yields what ncu derives without counters, or the reason for a missing value', () => {
      const derived = derivedMetrics(runner, captured.device)
      for (const [id, value] of Object.entries(metrics)) {
        const own = derived[id]!
        const clustered = runner.some(({ resources }) => (resources.clusterBlocks ?? 0) > 0)
        if (id === 'wavesPerSm' && clustered) {
          expect(own).toMatchObject({ value: null, evidence: 'unavailable' })
          expect(said(own.reason)).toMatch(/clusters/)
        } else {
          expect(own.evidence).toBe('derived')
          expect(Math.abs(own.value! - value), id).toBeLessThan(0.006)
        }
      }
    })
  })

  describe('figures from a launch', () => {
    const derivedOf = (launches: Launch[], device = h200) =>
      derivedMetrics(launches, device)['theoreticalOccupancy']

    it('are available only if all kernels have the same value', () => {
      expect(said(derivedOf([launch(), launch()]))).toMatchObject({
        value: 50,
        evidence: 'derived',
      })
      expect(said(derivedOf([launch(), launch({}, { registersPerThread: 255 })]))).toEqual({
        value: null,
        unit: '%',
        evidence: 'unavailable',
        reason:
          'The rung launches 2 kernels that differ in this value. Without counters, it is unknown which of them runs longest.',
      })
    })

    it('are unavailable if the GPU is not in the built-in table, or if the register count is unknown', () => {
      expect(
        said(derivedOf([launch()], { computeCapability: '7.0', smCount: 80 })?.reason),
      ).toMatch(/7\.0/)
      expect(said(derivedOf([launch({}, { registersPerThread: null })])?.reason)).toMatch(/unknown/)
      expect(said(derivedOf([])?.reason)).toBe('The rung launches no kernel.')
    })
  })
})

describe('the lead figure', () => {
  const copy = Task.parse({
    id: 'copy',
    title: 'Copy',
    sizes: { N: {} },
    buffers: {
      x: { dtype: 'f32', shape: ['N'], access: 'in', fill: { kind: 'iota' } },
      y: { dtype: 'f32', shape: ['N'], access: 'out' },
    },
    reference: 'reference.cu',
    check: { y: { exact: true } },
    work: { reads: '4*N', writes: '4*N' },
  })
  const device = {
    name: 'H200',
    computeCapability: '9.0',
    smCount: 132,
    driver: null,
    cudaDriver: null,
    smClockMaxMHz: 1980,
    memoryTotalBytes: 1,
    l2Bytes: 1,
    sharedPerSmBytes: 1,
    sharedPerBlockOptinBytes: 1,
    registersPerSm: 1,
    maxThreadsPerSm: 1,
    maxBlocksPerSm: 1,
  }
  const ceilings = { fp32Gflops: 60_000, l1GBs: null, l2GBs: null, dramGBs: 4_000 }
  const timing = (medianMs: number, gflops: number | null) => ({
    ...{ medianMs, gflops, spread: 0, samples: 1, samplesMs: [medianMs], settled: true },
    ...{ ratioToReference: null, referenceMedianMs: null, cacheState: 'cold' as const },
    ...{ smClockBeforeMHz: null, smClockAfterMHz: null },
  })
  const of = (task: Task, problem: ReturnType<typeof gemmProblem>) => ({
    ladder: { task },
    problem,
    device,
    ceilings,
  })

  describe('a rung is described', () => {
    const copied = of(copy, usualProblem(copy, { N: 1e9 }))

    it('by bytes per second and its share of the measured memory bandwidth, if no operations are counted', () => {
      const rung = { timing: timing(2.5, null), flags: [] }
      expect(leadOf(copied)).toMatchObject({ of: 'bytes', roof: { value: { value: 4_000 } } })
      expect(leadFigure(copied, rung)).toEqual({
        rate: { value: 3_200, unit: 'GB/s', evidence: 'derived' },
        ...{ share: 80, aboveRoof: null },
      })
      expect(leadText(copied, rung)).toBe('3.20 TB/s (80.0 % of DRAM)')
      expect(leadText({ ...copied, ceilings: undefined, device: null }, rung)).toBe('3.20 TB/s')
    })

    it('without a share, but with the reason, if the share would exceed 100 %', () => {
      const fast = { timing: timing(1.9, null), flags: [] }
      expect(leadFigure(copied, fast)).toMatchObject({
        share: null,
        aboveRoof: { key: 'figures.aboveMemory' },
      })
      expect(leadText(copied, fast)).toBe('4.21 TB/s (part of the data was in L2)')
      expect(leadFigure(copied, { ...fast, timing: timing(2, null) })!.share).toBe(100)
      const large = of(gemm, gemmProblem(4096))
      expect(leadFigure(large, { timing: timing(2, 70_000), flags: [] })).toMatchObject({
        share: null,
        aboveRoof: { key: 'figures.abovePeak' },
      })
    })

    it("by operations per second if the task's operations per byte exceed the GPU's ridge point", () => {
      const large = of(gemm, gemmProblem(4096))
      expect(leadOf(large).of).toBe('operations')
      expect(leadText(large, { timing: timing(2.5, 54_976), flags: [] })).toBe('55.0 TFLOP/s')
      // A matrix-vector product does 2 operations per element of A that it reads.
      expect(leadOf(of(gemm, gemmProblem(4096, 1, 4096))).of).toBe('bytes')
      expect(leadOf({ ...large, device: null, ceilings: undefined }).of).toBe('operations')
      // With tensor cores, a kernel is memory-bound up to a higher arithmetic intensity.
      expect(leadOf(of(gemm, gemmProblem(256, 256, 256, { dtype: 'bf16' }))).of).toBe('bytes')
    })

    it('by no figure if there is no time, and by operations in an import', () => {
      expect(leadFigure(copied, { timing: null, flags: [] })).toBeNull()
      expect(leadOf({ ladder: { task: null }, problem: null, device }).of).toBe('operations')
    })
  })
})

describe('sample intervals', () => {
  const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1)

  /** Returns a seeded generator of numbers uniform in [0, 1). */
  function uniform(seed: number): () => number {
    let state = seed
    return () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0
      return state / 2 ** 32
    }
  }

  describe('the interval of a median', () => {
    it('requires at least six samples', () => {
      expect(fewestSamples).toBe(6)
      expect(medianInterval(upTo(5))).toBeNull()
      expect(medianInterval(upTo(6))).toEqual({ low: 1, high: 6 })
    })

    // The ranks of the 95 % interval are from tables of the sign test.
    it.each([
      [8, 1, 8],
      [9, 2, 8],
      [15, 4, 12],
    ])('for %i samples is between order statistics %i and %i', (count, low, high) => {
      expect(medianInterval(upTo(count).toReversed())).toEqual({ low, high })
    })

    it('is never narrower than the quartiles, even with many samples', () => {
      const samples = upTo(5000)
      const interval = medianInterval(samples)!
      expect(interval).toEqual({ low: quantile(samples, 0.25), high: quantile(samples, 0.75) })
    })

    it("contains a skewed distribution's median with at least the stated probability", () => {
      const next = uniform(7)
      const runs = 2000
      let held = 0
      for (let run = 0; run < runs; run += 1) {
        const { low, high } = medianInterval(
          Array.from({ length: 7 }, () => 1 - Math.log(1 - next())),
        )!
        const median = 1 + Math.LN2
        if (low <= median && median <= high) held += 1
      }
      expect(held / runs).toBeGreaterThan(0.95)
    })

    it('also yields the interval of a ratio of medians', () => {
      expect(ratioInterval({ low: 2, high: 4 }, { low: 4, high: 8 })).toEqual({ low: 1, high: 4 })
    })
  })
})

describe('planned passes', () => {
  const rungs = [
    { id: '01_naive', medianMs: 262 },
    { id: '06_float4', medianMs: 4.5 },
    { id: '07_unknown', medianMs: null },
  ]

  describe('the cost of profiling', () => {
    it("is estimated per rung, and increases with the profile level and the rung's time", () => {
      const seconds = (['card', 'standard', 'deep'] as const).map((level) =>
        planProfile({ level, computeCapability: '9.0', rungs }),
      )
      expect(seconds.map(({ passes }) => passes)).toEqual([1, 7, 40])
      for (const { rungs: planned } of seconds)
        expect(planned[0]!.seconds).toBeGreaterThan(planned[1]!.seconds!)
      expect(seconds[0]!.seconds).toBeLessThan(seconds[1]!.seconds)
      expect(seconds[1]!.seconds).toBeLessThan(seconds[2]!.seconds)
    })

    it('adds up over the included rungs', () => {
      const all = planProfile({ level: 'deep', computeCapability: '9.0', rungs })
      const some = planProfile({
        level: 'deep',
        computeCapability: '9.0',
        rungs,
        skip: ['01_naive'],
      })
      expect(some.rungs.map(({ skipped }) => skipped)).toEqual([true, false, false])
      expect(all.seconds - some.seconds).toBeCloseTo(profileSeconds('deep', { medianMs: 262 }), 6)
    })

    it('counts the passes of each kernel in a launch', () => {
      const [one, three] = [1, 3].map((kernels) =>
        profileSeconds('standard', { medianMs: 0.01, kernels }),
      )
      expect(three! / one!).toBeCloseTo(3, 1)
    })

    it('includes compiling rungs at load time and one Python import', () => {
      const estimate = (...prepared: { seconds: number; loadSeconds?: number }[]) =>
        planProfile({
          ...{ level: 'card', computeCapability: '9.0' },
          rungs: prepared.map((own, index) => ({ id: `r${index}`, medianMs: 0, prepared: own })),
        }).seconds
      const [once, twice] = [estimate({ seconds: 2 }), estimate({ seconds: 2 }, { seconds: 3 })]
      expect(once).toBeGreaterThan(6)
      expect(twice - once).toBeCloseTo(3, 1)
      // In this measurement, the first rung also starts Python.
      const measured = estimate({ seconds: 2, loadSeconds: 7 }, { seconds: 3, loadSeconds: 0.1 })
      expect(measured - estimate()).toBeCloseTo(12.1, 1)
    })

    it('omits rungs that are expected to exceed a limit, but no rung of unknown duration', () => {
      const { rungs: planned } = planProfile({
        level: 'deep',
        computeCapability: '9.0',
        rungs,
        limitSeconds: 5,
      })
      expect(planned.filter(({ skipped }) => skipped).map(({ id }) => id)).toEqual(['01_naive'])
      expect(planned[2]).toEqual({ id: '07_unknown', seconds: null, skipped: false })
    })

    it('reports whether the known cost is from a different GPU', () => {
      const on = (computeCapability: string | null): boolean =>
        planProfile({ level: 'card', computeCapability, rungs }).otherGpu
      expect([on('9.0'), on('8.6'), on(null)]).toEqual([false, true, true])
    })
  })
})
