import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readSession } from '../../../src-main/adapters/sessions/session-store'
import { ceilingsOf } from '../../../src-main/domain/gpu/ceilings'
import { message } from '../../../src-main/domain/messages/message'
import { inEnglish } from '../../../src-main/domain/text/wording'
import { roofline, ridge } from '../../../src-main/domain/analysis/roofline'
import type { RungResult, Session } from '../../../src-main/domain/session/session'
import type { Device } from '../../../src-main/domain/gpu/device'
import { readRecordings } from '../../../src-main/services/sessions/recording-list'
import { rung, session } from '../../renderer/samples'
import { recordingsDir } from '../../services/support'
import { gemmProblem } from '../../gemm'
import { said } from '../../said'

const h200: Device = {
  name: 'NVIDIA H200',
  computeCapability: '9.0',
  smCount: 132,
  driver: null,
  cudaDriver: null,
  smClockMaxMHz: 1980,
  memoryClockMHz: 3201,
  memoryBusBits: 6016,
  memoryTotalBytes: 150_109_880_320,
  l2Bytes: 62_914_560,
  sharedPerSmBytes: 233_472,
  sharedPerBlockOptinBytes: 232_448,
  registersPerSm: 65_536,
  maxThreadsPerSm: 2048,
  maxBlocksPerSm: 32,
}

const bytes = (value: number) => ({ value, unit: 'bytes' as const, evidence: 'measured' as const })
const withTraffic = (id: string, ms: number | null, over: Partial<RungResult> = {}): RungResult =>
  rung(id, ms, { metrics: { l2Bytes: bytes(4e7), dramBytes: bytes(1.2e7) }, ...over })
const climbed = (rungs: RungResult[], over: Partial<Session> = {}): Session => ({
  ...session(rungs),
  device: h200,
  ...over,
})

describe('the roofs of a GPU', () => {
  it("are derived from an H200's clocks, and say so", () => {
    const { compute, memory } = ceilingsOf({ device: h200 })
    expect(compute.fp32.value).toMatchObject({ unit: 'GFLOP/s', evidence: 'derived' })
    // 66.9 TFLOP/s and 4.8 TB/s are what NVIDIA publishes.
    expect(compute.fp32.value.value).toBeCloseTo(66_908, -1)
    expect(memory.dram.value.value).toBeCloseTo(4814, 0)
    expect(inEnglish(memory.dram.how)).toBe(
      'A 6016-bit bus with two transfers per cycle at 3201 MHz.',
    )
    expect(inEnglish(compute.fp32.how)).toBe(
      '132 SMs at their maximum clock of 1980 MHz, each executing 256 FP32 operations per cycle (an FMA counts as two).',
    )
    expect(said(memory.l2.value)).toEqual({
      value: null,
      unit: 'GB/s',
      evidence: 'unavailable',
      reason: 'It was not measured in this session, and no figure for this GPU is published.',
    })
  })

  it('are measured where the session measured them', () => {
    const ceilings = { fp32Gflops: 60_000, l1GBs: 30_000, l2GBs: 7000, dramGBs: null }
    const { compute, memory } = ceilingsOf({ device: h200, ceilings })
    expect(compute.fp32.value).toEqual({ value: 60_000, unit: 'GFLOP/s', evidence: 'measured' })
    expect(memory.l2.value).toEqual({ value: 7000, unit: 'GB/s', evidence: 'measured' })
    expect(memory.dram.value.evidence).toBe('derived')
  })

  it('are not guessed: no clock, no GPU, another architecture, a rate that products differ in', () => {
    const reason = (device: Device | null) => ceilingsOf({ device }).compute.fp32.value.reason
    expect(said(reason(null))).toBe('The session does not name a GPU.')
    expect(said(reason({ ...h200, smClockMaxMHz: null }))).toBe('The maximum SM clock is unknown.')
    expect(said(reason({ ...h200, computeCapability: '7.0' }))).toBe(
      'Compute capability 7.0 is not in the built-in table.',
    )
    expect(
      said(
        ceilingsOf({ device: { ...h200, computeCapability: '8.9' } }).compute.tensor.value.reason,
      ),
    ).toBe('GPUs of compute capability 8.9 differ in their tensor rate.')
  })

  it('have the tensor rate that NVIDIA publishes of an H100 at its boost clock', () => {
    const device = { ...h200, smClockMaxMHz: 1830 }
    expect(ceilingsOf({ device }).compute.tensor.value.value).toBeCloseTo(989_400, -3)
  })
})

describe('the roofline', () => {
  it('places a rung by its operations a byte, under the lower roof', () => {
    const { paths } = roofline(climbed([withTraffic('01_a', 2)]))
    const [dram] = paths.dram
    expect(dram!.throughput).toEqual({ value: 1000, unit: 'GFLOP/s', evidence: 'derived' })
    expect(dram!.intensity.evidence).toBe('derived')
    expect(dram!.intensity.value).toBeCloseTo(2e9 / 1.2e7, 9)
    expect(dram!.bound).toBe('compute')
    const slow = roofline(climbed([withTraffic('01_a', 2, { metrics: { dramBytes: bytes(4e9) } })]))
      .paths.dram[0]!
    expect(slow.bound).toBe('memory')
    expect(slow.roofGflops).toBeCloseTo(0.5 * 4814, -1)
  })

  it("goes from rung to rung in the ladder's order", () => {
    const { paths } = roofline(climbed(['02_b', '01_a', '03_c'].map((id) => withTraffic(id, 2))))
    expect(paths.l2.map(({ rung: id }) => id)).toEqual(['02_b', '01_a', '03_c'])
  })

  it('leaves out what has no place, with the reason, and never at zero', () => {
    const { paths, missing } = roofline(
      climbed([
        withTraffic('01_failed', null, { reason: 'It crashed.' }),
        withTraffic('02_zero', 2, { metrics: { dramBytes: bytes(0) } }),
      ]),
    )
    expect(Object.values(paths).flat()).toEqual([])
    expect(missing).toContainEqual({ rung: '01_failed', level: 'l1', reason: 'It crashed.' })
    expect(missing).toContainEqual({
      rung: '02_zero',
      level: 'dram',
      reason: message('roofline.noByte'),
    })
    expect(missing).toContainEqual({
      rung: '02_zero',
      level: 'l2',
      reason: message('roofline.notCollected', { metric: { metric: 'l2Bytes' } }),
    })
  })

  it('takes operations and time of an import from its counters', () => {
    const count = (value: number, unit = 'inst') => ({ value, unit })
    const op = (name: string) => `smsp__sass_thread_inst_executed_op_${name}_pred_on.sum`
    const imported = withTraffic('k', null, {
      status: 'ok',
      ncuMetrics: {
        [op('ffma')]: count(1000),
        [op('fadd')]: count(10),
        [op('fmul')]: count(20),
        'gpu__time_duration.sum': count(100, 'ns'),
      },
    })
    const found = roofline(
      climbed([imported], { target: { kind: 'imported', name: 'f.csv' }, problem: null }),
    )
    expect(found.paths.l2[0]!.throughput.value).toBeCloseTo(20.3, 9)
    expect(found.arithmetic).toBe('fp32')
  })

  it('does not credit the tensor pipe with what the FP32 pipe did', async () => {
    // Two of its rungs keep the tensor pipe busy for 1.7 % of the cycles, and add every element in FP32.
    const sum = await readSession(join(recordingsDir, 'reduction-h200'))
    expect(new Set(roofline(sum).paths.dram.map(({ basis }) => basis))).toEqual(
      new Set(['counted']),
    )
    const product = await readSession(join(recordingsDir, 'gemm-tensor-h200-4096'))
    expect(new Set(roofline(product).paths.dram.map(({ basis }) => basis))).toEqual(
      new Set(['tensor']),
    )
  })

  it('stands under the tensor roof for 16-bit inputs', () => {
    const problem = gemmProblem(1000, 1000, 1000, { dtype: 'bf16' })
    expect(roofline(climbed([], { problem })).arithmetic).toBe('tensor')
  })

  it('has its ridge where memory and arithmetic meet', () => {
    expect(ridge(roofline(climbed([])), 'dram')).toBeCloseTo(66_908 / 4814, 1)
    expect(ridge(roofline(climbed([])), 'l2')).toBeNull()
  })

  it('says of the shipped card recordings that traffic was not collected', async () => {
    for (const { session: recorded } of await readRecordings(recordingsDir)) {
      if (recorded.settings.profile !== 'card') continue
      const { paths, missing } = roofline(recorded)
      expect(Object.values(paths).flat()).toEqual([])
      expect(missing).toHaveLength(3 * recorded.rungs.length)
    }
  })
})
