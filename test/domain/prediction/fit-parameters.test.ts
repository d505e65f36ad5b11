import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  readCalibration,
  type Measurement,
} from '../../../src-main/domain/prediction/calibration-output'
import { fitParameters } from '../../../src-main/domain/prediction/fit-parameters'
import {
  gpuId,
  isPlausible,
  parameterIds,
  type GpuParameters,
} from '../../../src-main/domain/prediction/gpu-parameters'
import { saying } from '../../support'

const captured = readFileSync(
  join(import.meta.dirname, '../../captures/calibrate/h100.jsonl'),
  'utf8',
)
const lines = readCalibration(captured)

const changed = (
  isMeant: (line: Measurement) => boolean,
  change: Partial<Measurement>,
): Measurement[] =>
  lines.map((line) => (isMeant(line) ? ({ ...line, ...change } as Measurement) : line))

const without = (benchmark: string): Measurement[] =>
  lines.filter((line) => line.benchmark !== benchmark)

const valuesOf = (all: readonly Measurement[]): GpuParameters['values'] => fitParameters(all).values

describe('the parameters fitted for an H100', () => {
  const gpu = fitParameters(lines)

  it('have the name from the GPU table and are not marked as validated', () => {
    expect(gpu).toMatchObject({
      ...{ name: 'h100', gpu: 'NVIDIA H100 80GB HBM3', computeCapability: '9.0' },
      validated: false,
    })
  })

  it('are complete, within their ranges, and based on measurements', () => {
    expect(Object.keys(gpu.values)).toEqual(parameterIds)
    for (const id of parameterIds) {
      expect(isPlausible(id, gpu.values[id].value), id).toBe(true)
      expect(['measured', 'derived'], id).toContain(gpu.values[id].evidence)
    }
  })

  it.each([
    // The expected values are NVIDIA's published rates: lanes per sub-core, or multiply-adds per
    // cycle and SM.
    ['pipeFma', 1],
    ['pipeAlu', 2],
    ['pipeFp64', 2],
    ['pipeXu', 8],
    ['hgmmaMacsPerCycle', 2048],
    ['smCount', 132],
    // Shared memory has 32 banks of 4 bytes.
    ['l1WavefrontsPerCycle', 1],
  ] as const)('%s matches the architecture: %d', (id, value) => {
    expect(gpu.values[id].value / value).toBeCloseTo(1, 1)
  })

  it('include each value exactly as printed, with its spread and source', () => {
    const line = lines.find(({ benchmark }) => benchmark === 'latency.ldsm')!
    expect(gpu.values.latencyLdsm).toEqual({
      ...{ value: line.cycles, evidence: 'measured', spread: line.spread },
      source: 'latency.ldsm, matrices 4',
    })
  })

  it('describe how a derived value was computed', () => {
    expect(gpu.values.barrierPerWarp).toMatchObject({
      evidence: 'derived',
      source: '(latency.barrier, warps 32) less (latency.barrier, warps 1), over 31',
    })
    expect(gpu.values.barrierPerWarp.value).toBeCloseTo(2, 1)
  })
})

describe("a value's inputs", () => {
  it('include the measured clock, if times are converted to cycles', () => {
    const slow = changed(({ benchmark, load }) => benchmark === 'clock' && load === 'fp32', {
      mhz: 990,
    })
    const ratio = valuesOf(slow).dramBytesPerCycle.value / valuesOf(lines).dramBytesPerCycle.value
    expect(ratio).toBeCloseTo(2, 2)
  })

  it('include the loaded latency only below saturation', () => {
    const { value } = valuesOf(lines).dramLoadedLatency
    const far = changed(
      ({ benchmark, gbs }) =>
        benchmark === 'latency.dram.loaded' && Number(gbs) > 3090 && Number(gbs) < 3110,
      { cycles: 99_999 },
    )
    expect(valuesOf(far).dramLoadedLatency.value).toBe(value)
  })

  it('do not depend on the order of the output lines', () => {
    expect(valuesOf(lines.toReversed())).toEqual(valuesOf(lines))
  })
})

describe('a GPU without WGMMA, bulk copies, and try_wait', () => {
  const ampere = changed(({ benchmark }) => benchmark === 'gpu', {
    name: 'NVIDIA A100-SXM4-40GB',
    computeCapability: '8.0',
  }).filter(({ benchmark, load }) => !/wgmma|bulk|mbarrier/.test(benchmark) && load !== 'wgmma')

  it('has assumed values for these instructions, and the tensor clock of mma.sync', () => {
    const { name, values } = fitParameters(ampere)
    expect(name).toBe('a100')
    for (const id of ['hgmmaMacsPerCycle', 'hgmmaLeastCycles', 'latencyHgmma'] as const)
      expect(values[id]).toMatchObject({
        evidence: 'assumed',
        source: expect.stringMatching(/never read/),
      })
    expect(values.latencyBulkCopy).toMatchObject({ evidence: 'assumed' })
    expect(values.clockTensorMHz.source).toBe('clock, load mma.sync')
  })
})

describe('output that yields no parameters', () => {
  it.each([
    ['a line is missing', without('latency.l2'), /no usable value of latency\.l2\./],
    [
      'a value is not a number',
      changed(({ benchmark }) => benchmark === 'latency.l1', { cycles: null }),
      /no usable value of latency\.l1\./,
    ],
    [
      'a value is out of range',
      changed(({ benchmark }) => benchmark === 'latency.dram', { cycles: 123_456 }),
      /latencyDram was measured as 123456 cycles, which is not between 1 and 4000/,
    ],
  ])('is rejected with the line or parameter if %s', (_, all, sentence) => {
    expect(() => fitParameters(all)).toThrow(
      expect.objectContaining({ kind: 'input', statement: saying(sentence) }),
    )
  })

  it.each([
    ['is empty', '', /did not finish/],
    ['is truncated', captured.slice(0, captured.length / 2), /did not finish/],
    [
      'has an incomplete line',
      captured.replace('{"benchmark":"latency.l2"', '{"benchm'),
      /Line \d+ .* is not a measurement/,
    ],
    [
      'has a value of the wrong type',
      captured.replace('"latency.l2"', '{}'),
      /Line \d+ .* is not a measurement/,
    ],
  ])('is rejected if it %s', (_, text, sentence) => {
    expect(() => readCalibration(text)).toThrow(sentence)
  })
})

describe('a GPU id', () => {
  it.each([
    ['NVIDIA H200', 'h200'],
    ['NVIDIA H100 80GB HBM3', 'h100'],
    ['NVIDIA H100 PCIe', 'h100-pcie'],
    ['NVIDIA A100-SXM4-40GB', 'a100'],
    ['Tesla T4', 't4'],
    ['NVIDIA GeForce RTX 3090', 'rtx-3090'],
    ['NVIDIA GeForce RTX 3090 Ti', 'rtx-3090-ti'],
    ['NVIDIA GeForce RTX 4090 Laptop GPU', 'rtx-4090-laptop-gpu'],
    ['../../etc', 'etc'],
    ['', 'gpu'],
  ])('for %j is %s', (name, id) => {
    expect(gpuId(name)).toBe(id)
  })
})
