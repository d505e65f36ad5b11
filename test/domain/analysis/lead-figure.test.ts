import { describe, expect, it } from 'vitest'
import { leadFigure, leadOf, leadText } from '../../../src-main/domain/analysis/lead-figure'
import { Task } from '../../../src-main/domain/task/task'
import { usualProblem } from '../../../src-main/domain/task/problem'
import { gemm, gemmProblem } from '../../gemm'

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
  ...{ ratioToReference: null, referenceMedianMs: null },
  ...{ smClockBeforeMHz: null, smClockAfterMHz: null },
})
const of = (task: Task, problem: ReturnType<typeof gemmProblem>) => ({
  ladder: { task },
  problem,
  device,
  ceilings,
})

describe('a rung is told', () => {
  const copied = of(copy, usualProblem(copy, { N: 1e9 }))

  it('by bytes a second and their share of what memory was measured to give, where no operations are counted', () => {
    const rung = { timing: timing(2.5, null), flags: [] }
    expect(leadOf(copied)).toMatchObject({ of: 'bytes', roof: { value: { value: 4_000 } } })
    expect(leadFigure(copied, rung)).toEqual({
      rate: { value: 3_200, unit: 'GB/s', evidence: 'derived' },
      share: 80,
    })
    expect(leadText(copied, rung)).toBe('3.20 TB/s (80.0 % of DRAM)')
    expect(leadText({ ...copied, ceilings: undefined, device: null }, rung)).toBe('3.20 TB/s')
  })

  it('by operations a second where the GPU makes fewer of a byte than the task', () => {
    const large = of(gemm, gemmProblem(4096))
    expect(leadOf(large).of).toBe('operations')
    expect(leadText(large, { timing: timing(2.5, 54_976), flags: [] })).toBe('55.0 TFLOP/s')
    // 2 operations for each element of A that is read: a matrix times a vector.
    expect(leadOf(of(gemm, gemmProblem(4096, 1, 4096))).of).toBe('bytes')
    expect(leadOf({ ...large, device: null, ceilings: undefined }).of).toBe('operations')
    // Tensor cores need more operations of a byte before memory is no limit.
    expect(leadOf(of(gemm, gemmProblem(256, 256, 256, { dtype: 'bf16' }))).of).toBe('bytes')
  })

  it('by nothing without a time, and by operations in an import', () => {
    expect(leadFigure(copied, { timing: null, flags: [] })).toBeNull()
    expect(leadOf({ ladder: { task: null }, problem: null, device }).of).toBe('operations')
  })
})
