/**
 * Tests the functions that show what limits a rung: the bottleneck, the roofline, and the
 * instruction mix.
 */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readSession } from '../../../src-main/adapters/sessions/session-store'
import {
  type BottleneckClass,
  bottleneckClasses,
  bottleneckOf,
  bottleneckThresholds,
} from '../../../src-main/domain/analysis/bottleneck'
import {
  metricDefinition,
  metricsAtLevel,
  unavailable,
  type MetricValue,
} from '../../../src-main/domain/metrics/metrics'
import { rungOf, type RungResult, type Session } from '../../../src-main/domain/session/session'
import { parseNcuRawCsv } from '../../../src-main/parsers/ncu/ncu-csv'
import { toMetrics } from '../../../src-main/parsers/ncu/ncu-metrics'
import { ncuCapture, standardMix, standardSession } from '../../captures'
import { ceilingsOf } from '../../../src-main/domain/gpu/ceilings'
import { message } from '../../../src-main/domain/messages/message'
import { inEnglish } from '../../../src-main/domain/text/english'
import { ridge, roofline } from '../../../src-main/domain/analysis/roofline'
import { limiterOf, type UnitId } from '../../../src-main/domain/why/units'
import { readRecordings } from '../../../src-main/services/sessions/recordings'
import { rung, session } from '../../renderer/samples'
import { recordingsDir } from '../../services/support'
import { gemmProblem, said } from '../../support'
import { instructionKinds, lanes } from '../../../src-main/domain/metrics/instruction-mix-metrics'
import { notAsked, withRegistry } from '../../../src-main/domain/session/registry-figures'
import type { Device } from '../../../src-main/domain/gpu/device'

describe('the bottleneck', async () => {
  const recordings = join(import.meta.dirname, '../../../resources/recordings')
  const at4096 = await readSession(join(recordings, 'gemm-fp32-h200-4096'))
  /** Recordings made at the card profile level. */
  const at8192 = await readSession(join(recordings, 'gemm-fp32-h200-8192'))
  const at1024 = await readSession(join(recordings, 'gemm-fp32-h200-1024'))
  const { launches } = parseNcuRawCsv(ncuCapture('import-set-full'))

  const rungWith = (metrics: RungResult['metrics']): RungResult => ({
    ...rungOf(at4096, '06_float4')!,
    metrics,
  })
  const classOf = (session: Session, id: string): BottleneckClass | undefined =>
    bottleneckOf(session, rungOf(session, id)!)?.class

  /** A rung without a clear limit, with 3.88 waves, no unit above 30 %, and mixed stall reasons. */
  const figures: Record<string, number> = {
    wavesPerSm: 3.88,
    fmaUtilization: 30,
    tensorUtilization: 0,
    issueSlotsBusy: 30,
    lsuDataUtilization: 30,
    lsuUtilization: 30,
    l2Utilization: 30,
    dramUtilization: 30,
    sharedLoadWavefronts: 1e6,
    sharedStoreWavefronts: 1e6,
    l1Bytes: 1e8,
    stallLongScoreboard: 5,
    stallShortScoreboard: 1,
    stallMioThrottle: 1,
    stallLgThrottle: 1,
    stallBarrier: 1,
    stallMathPipe: 1,
    stallNotSelected: 1,
    stallWait: 1,
    stallDispatch: 1,
  }
  const made = (changes: Record<string, number | null>): RungResult =>
    rungWith(
      Object.fromEntries(
        Object.entries({ ...figures, ...changes }).map(([id, value]) => [
          id,
          {
            value,
            unit: metricDefinition(id)!.unit,
            evidence: value === null ? ('unavailable' as const) : ('measured' as const),
          },
        ]),
      ),
    )
  const judge = (changes: Record<string, number | null>) => bottleneckOf(at4096, made(changes))!

  describe('limit classification', () => {
    it.each<[string, Record<string, number>, BottleneckClass, string]>([
      ['a nearly empty last wave', { wavesPerSm: 1.2 }, 'tail', 'wavesPerSm'],
      ['a grid that fills a quarter of the GPU', { wavesPerSm: 0.24 }, 'tail', 'wavesPerSm'],
      ['a busy FMA pipe', { fmaUtilization: 79 }, 'fma-issue', 'fmaUtilization'],
      ['full issue slots', { issueSlotsBusy: 88 }, 'fma-issue', 'issueSlotsBusy'],
      ['a busy tensor pipe', { tensorUtilization: 75 }, 'tensor', 'tensorUtilization'],
      ['a saturated L2', { l2Utilization: 85 }, 'l2-bandwidth', 'l2Utilization'],
      ['saturated device memory', { dramUtilization: 91 }, 'dram-bandwidth', 'dramUtilization'],
      [
        'an L1 data stage saturated by shared memory',
        { lsuDataUtilization: 92, sharedLoadWavefronts: 4e8 },
        'lsu-mio',
        'lsuDataUtilization',
      ],
      [
        'an L1 data stage saturated by L1 traffic',
        { lsuDataUtilization: 92, l1Bytes: 4e10 },
        'l1-bandwidth',
        'lsuDataUtilization',
      ],
      [
        'stalls on the shared-memory queue',
        { stallMioThrottle: 30 },
        'lsu-mio',
        'stallMioThrottle',
      ],
      [
        'stalls on the global-memory queue',
        { stallLgThrottle: 30 },
        'l1-bandwidth',
        'stallLgThrottle',
      ],
      ['nothing above 60%', {}, 'latency', 'fmaUtilization'],
    ])('determines the limit of a rung with %s', (_what, changes, expected, counter) => {
      const found = judge(changes)
      expect(found.class).toBe(expected)
      expect(found.leaning).toBe(false)
      const evidence = found.evidence.find(({ id }) => id === counter)!
      expect(evidence.side === 'above' ? evidence.value : -evidence.value).toBeGreaterThanOrEqual(
        evidence.side === 'above' ? evidence.threshold : -evidence.threshold,
      )
    })

    it('lists the unit furthest above its threshold before other units', () => {
      const { class: name, also, evidence } = judge({ l2Utilization: 82, dramUtilization: 95 })
      expect([name, ...also]).toEqual(['dram-bandwidth', 'l2-bandwidth'])
      expect(evidence.map(({ id }) => id)).toEqual(['dramUtilization', 'l2Utilization'])
    })

    it("lists two equally limiting units, with the unit of the task's main work first", () => {
      expect(judge({ l2Utilization: 76, issueSlotsBusy: 74 })).toMatchObject({
        ...{ class: 'l2-bandwidth', also: ['fma-issue'], leaning: true },
      })
      expect(judge({ fmaUtilization: 72, l2Utilization: 84 })).toMatchObject({
        ...{ class: 'fma-issue', also: ['l2-bandwidth'], leaning: false },
        evidence: [{ id: 'fmaUtilization' }, { id: 'l2Utilization' }],
      })
    })

    it('does not depend on small counter differences around a threshold', () => {
      const waits = { stallMioThrottle: 10, stallShortScoreboard: 10 }
      // The utilization values were measured for a Pallas kernel and for the same function under
      // jax.jit.
      expect(judge({ ...waits, dramUtilization: 78.9 })).toMatchObject({
        ...{ class: 'dram-bandwidth', also: ['lsu-mio'], leaning: true },
      })
      expect(judge({ ...waits, dramUtilization: 81 })).toMatchObject({ class: 'dram-bandwidth' })
      for (let dramUtilization = 60; dramUtilization < 100; dramUtilization += 0.1)
        expect(judge({ ...waits, dramUtilization }).class).toBe('dram-bandwidth')
    })

    it('treats stalls on a unit near its limit as confirmation of that limit', () => {
      expect(judge({ stallMioThrottle: 30, lsuDataUtilization: 74 })).toMatchObject({
        ...{ class: 'lsu-mio', also: [], leaning: false },
        evidence: [{ id: 'stallMioThrottle' }, { id: 'lsuDataUtilization' }],
      })
    })

    it('lists a unit at its limit in addition to idle parts of the GPU', () => {
      expect(judge({ wavesPerSm: 0.2, fmaUtilization: 82 })).toMatchObject({
        ...{ class: 'tail', also: ['fma-issue'] },
        evidence: [{ id: 'wavesPerSm' }, { id: 'fmaUtilization' }],
      })
    })

    it("marks the limit as a tendency if the busiest unit's utilization is between the two thresholds", () => {
      expect(judge({ l2Utilization: 66 })).toMatchObject({ class: 'l2-bandwidth', leaning: true })
    })

    it('reports the main stall reason if latency is the limit', () => {
      const { evidence } = judge({})
      expect(evidence.at(-1)).toMatchObject({ id: 'stallLongScoreboard' })
      expect(evidence.at(-1)!.value).toBeCloseTo((100 * 5) / 14, 6)
    })

    it("lists the missing counter instead of a latency limit if a unit's utilization is unknown", () => {
      expect(judge({ l2Utilization: null })).toEqual({
        class: 'unknown',
        also: [],
        leaning: false,
        evidence: [],
        missing: ['l2Utilization'],
      })
    })

    it('derives device memory utilization from bytes and time if the memory bandwidth is known', () => {
      const session = {
        ...at4096,
        ceilings: { fp32Gflops: null, l1GBs: null, l2GBs: null, dramGBs: 4000 },
      }
      const rung = made({ dramUtilization: null })
      rung.metrics.dramBytes = {
        value: 0.9 * 4e12 * (rung.timing!.medianMs / 1000),
        unit: 'bytes',
        evidence: 'measured',
      }
      expect(bottleneckOf(session, rung)).toMatchObject({
        class: 'dram-bandwidth',
        evidence: [{ id: 'dramUtilization', how: { kind: 'dram-traffic', ceilingGBs: 4000 } }],
      })
      expect(bottleneckOf(session, rung)!.evidence[0]!.value).toBeCloseTo(90, 6)
    })

    it('returns null for a rung that was not profiled', () => {
      expect(bottleneckOf(at4096, rungWith({}))).toBeNull()
    })

    it('returns null for an emulated rung, which has no times and does not fill the GPU', () => {
      const emulated: Session = { ...at4096, target: { kind: 'emulated', name: 'h200' } }
      const small = made({ wavesPerSm: 0.06 })
      expect(bottleneckOf(at4096, small)).toMatchObject({ class: 'tail' })
      expect(bottleneckOf(emulated, small)).toBeNull()
    })

    it('uses only registry metrics, and documented classes and thresholds', () => {
      const cases: Record<string, number>[] = [
        {},
        { wavesPerSm: 0.2 },
        { stallMioThrottle: 30 },
        { fmaUtilization: 90 },
      ]
      for (const changes of cases) {
        const { class: name, evidence } = judge(changes)
        expect(bottleneckClasses).toContain(name)
        for (const { id } of evidence) expect(metricDefinition(id), id).toBeDefined()
      }
      expect(bottleneckThresholds.unit).toBe(80)
    })
  })

  it("agrees with the limiting unit in each step's causes, for every recorded rung", async () => {
    const told: Partial<Record<UnitId, readonly BottleneckClass[]>> = {
      fma: ['fma-issue'],
      issue: ['fma-issue'],
      tensor: ['tensor'],
      l1Data: ['lsu-mio', 'l1-bandwidth'],
      lsu: ['lsu-mio'],
      l2: ['l2-bandwidth'],
      dram: ['dram-bandwidth'],
    }
    for (const { name, session } of await readRecordings(recordings))
      for (const rung of session.rungs) {
        const found = bottleneckOf(session, rung)
        const limiter = limiterOf({ session, rung })
        if (!found || !limiter || ['tail', 'unknown'].includes(found.class)) continue
        expect(told[limiter.unit.id], `${name} ${rung.id}`).toContain(found.class)
      }
  })

  describe('on an H200', () => {
    it.each([
      ['a tile kernel with store conflicts', 0, 'lsu-mio'],
      ['a kernel that scales a small matrix', 2, 'latency'],
    ] as const)('with a full set of counters: %s', (_what, launch, expected) => {
      const metrics = toMetrics([launches[launch]!], 'deep')
      expect(Object.keys(metrics)).toHaveLength(metricsAtLevel('deep').length)
      const { class: name, missing } = bottleneckOf(at4096, rungWith(metrics))!
      expect(name).toBe(expected)
      expect(missing).toEqual([])
    })

    it('is identified from card metrics alone only if it is the FMA pipe or a tail', () => {
      expect(classOf(at8192, '00_cublas')).toBe('fma-issue')
      expect(classOf(at1024, '06_float4')).toBe('tail')
      expect(classOf(at8192, '01_naive')).toBe('unknown')
      const { missing } = bottleneckOf(at8192, rungOf(at8192, '01_naive')!)!
      expect(missing).toContain('issueSlotsBusy')
      expect(missing).toContain('l2Utilization')
    })
  })
})

describe('the roofline', () => {
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

  const bytes = (value: number) => ({
    value,
    unit: 'bytes' as const,
    evidence: 'measured' as const,
  })
  const withTraffic = (id: string, ms: number | null, over: Partial<RungResult> = {}): RungResult =>
    rung(id, ms, { metrics: { l2Bytes: bytes(4e7), dramBytes: bytes(1.2e7) }, ...over })
  const climbed = (rungs: RungResult[], over: Partial<Session> = {}): Session => ({
    ...session(rungs),
    device: h200,
    ...over,
  })

  describe("a GPU's roofs", () => {
    it("are derived from an H200's clocks, and marked as derived", () => {
      const { compute, memory } = ceilingsOf({ device: h200 })
      expect(compute.fp32.value).toMatchObject({ unit: 'GFLOP/s', evidence: 'derived' })
      // NVIDIA publishes 66.9 TFLOP/s and 4.8 TB/s for the H200.
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
        reason:
          'The peak was not measured in this session, and there is no published value for this GPU.',
      })
    })

    it('are measured if the session contains measurements', () => {
      const ceilings = { fp32Gflops: 60_000, l1GBs: 30_000, l2GBs: 7000, dramGBs: null }
      const { compute, memory } = ceilingsOf({ device: h200, ceilings })
      expect(compute.fp32.value).toEqual({ value: 60_000, unit: 'GFLOP/s', evidence: 'measured' })
      expect(memory.l2.value).toEqual({ value: 7000, unit: 'GB/s', evidence: 'measured' })
      expect(memory.dram.value.evidence).toBe('derived')
    })

    it('are not guessed for unknown clocks or GPUs, other architectures, or product-specific rates', () => {
      const reason = (device: Device | null) => ceilingsOf({ device }).compute.fp32.value.reason
      expect(said(reason(null))).toBe('The session does not specify a GPU.')
      expect(said(reason({ ...h200, smClockMaxMHz: null }))).toBe(
        'The maximum SM clock is unknown.',
      )
      expect(said(reason({ ...h200, computeCapability: '7.0' }))).toBe(
        'Compute capability 7.0 is not in the built-in table.',
      )
      expect(
        said(
          ceilingsOf({ device: { ...h200, computeCapability: '8.9' } }).compute.tensor.value.reason,
        ),
      ).toBe('GPUs of compute capability 8.9 differ in their tensor rate.')
    })

    it('have the tensor rate that NVIDIA publishes for an H100 at its boost clock', () => {
      const device = { ...h200, smClockMaxMHz: 1830 }
      expect(ceilingsOf({ device }).compute.tensor.value.value).toBeCloseTo(989_400, -3)
    })

    it("match NVIDIA's rates for 8-bit inputs: twice the BF16 rate and the same FP32 rate", () => {
      const device = { ...h200, smClockMaxMHz: 1830 }
      const of = (dtype: string) => ceilingsOf({ device, problem: { options: { dtype } } }).compute
      expect(of('e4m3').tensor.value.value).toBeCloseTo(1_978_900, -3)
      expect(of('e4m3').tensor.how).toMatchObject({ values: { bits: 8, rate: 8192 } })
      expect(of('bf16').tensor.value.value).toBeCloseTo(989_400, -3)
      expect(of('e4m3').fp32.value).toEqual(of('bf16').fp32.value)
    })
  })

  it('places a rung by its operations per byte, under the lower roof', () => {
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

  it('connects the rungs in ladder order', () => {
    const { paths } = roofline(climbed(['02_b', '01_a', '03_c'].map((id) => withTraffic(id, 2))))
    expect(paths.l2.map(({ rung: id }) => id)).toEqual(['02_b', '01_a', '03_c'])
  })

  it('omits rungs without a position, with a reason, instead of drawing them at zero', () => {
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

  it('takes the operations and time of an import from its counters', () => {
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

  it('does not attribute FP32-pipe operations to the tensor pipe', async () => {
    // In two rungs, the tensor pipe is busy for 1.7 % of the cycles, but all additions are FP32
    // instructions.
    const sum = await readSession(join(recordingsDir, 'reduction-h200'))
    expect(new Set(roofline(sum).paths.dram.map(({ basis }) => basis))).toEqual(
      new Set(['counted']),
    )
    const product = await readSession(join(recordingsDir, 'gemm-tensor-h200-4096'))
    expect(new Set(roofline(product).paths.dram.map(({ basis }) => basis))).toEqual(
      new Set(['tensor']),
    )
  })

  it('uses the tensor roof for 16-bit inputs', () => {
    const problem = gemmProblem(1000, 1000, 1000, { dtype: 'bf16' })
    expect(roofline(climbed([], { problem })).arithmetic).toBe('tensor')
  })

  it('has its ridge point where the memory and compute roofs meet', () => {
    expect(ridge(roofline(climbed([])), 'dram')).toBeCloseTo(66_908 / 4814, 1)
    expect(ridge(roofline(climbed([])), 'l2')).toBeNull()
  })

  it('reports that shipped recordings at the card level did not collect traffic', async () => {
    for (const { session: recorded } of await readRecordings(recordingsDir)) {
      if (recorded.settings.profile !== 'card') continue
      const { paths, missing } = roofline(recorded)
      expect(Object.values(paths).flat()).toEqual([])
      expect(missing).toHaveLength(3 * recorded.rungs.length)
    }
  })
})

describe('the instruction mix', async () => {
  const session = await standardSession()
  const { asked, launches, metrics: metricsThen } = standardMix()
  const byRung = new Map(session.rungs.map(({ id, metrics }) => [id, metrics]))
  const ids = [...byRung.keys()]
  const value = (id: string, metric: string): number => byRung.get(id)![metric]!.value!
  const product = 2 * 1024 ** 3

  describe.each(ids)('%s at the standard level', (id) => {
    const own = ids.filter((one) => one !== '00_cublas').includes(id)

    it('has a measured or derived figure for each metric', () => {
      const metrics = byRung.get(id)!
      expect(metricsThen.length).toBeGreaterThan(40)
      for (const { id: metric, derived } of metricsThen)
        expect(metrics[metric]?.evidence, metric).toBe(derived ? 'derived' : 'measured')
    })

    it('assigns between 98 % and 100 % of the lanes to categories', () => {
      const sum = instructionKinds.reduce((so, kind) => so + value(id, kind), 0)
      const whole = lanes * value(id, 'instructions')
      expect(sum).toBeLessThanOrEqual(whole)
      expect(sum / whole).toBeGreaterThan(0.98)
    })

    it("counts the product's operations, and includes FFMA in the FP32 instructions", () => {
      const operations = value(id, 'fp32Operations')
      expect(operations).toBeGreaterThanOrEqual(product)
      expect(operations).toBeLessThan(1.002 * product)
      // In addition to the FFMAs, the kernel multiplies each element of C by alpha once.
      if (own) expect(operations - product).toBe(1024 ** 2)
      expect(value(id, 'ffmaInstructions')).toBeLessThanOrEqual(value(id, 'fp32Instructions'))
    })

    it('provides the counted operations for the roofline', () => {
      const { paths, missing } = roofline(session)
      expect(missing).toEqual([])
      for (const path of Object.values(paths)) {
        const point = path.find(({ rung }) => rung === id)!
        expect(point).toMatchObject({ basis: 'counted', operations: value(id, 'fp32Operations') })
      }
    })
  })

  it('shows that the share of FFMA rises along the ladder from less than a quarter to 89%', () => {
    expect(value('01_naive', 'ffmaShare')).toBeCloseTo(22.5, 1)
    expect(value('03_shared_tile', 'ffmaShare')).toBeCloseTo(37.8, 1)
    expect(value('06_float4', 'ffmaShare')).toBeCloseTo(89.1, 1)
    expect(value('06_float4', 'integerShare')).toBeCloseTo(1.9, 1)
    expect(value('01_naive', 'memoryShare')).toBeCloseTo(45.1, 1)
  })

  it.each<[string, BottleneckClass]>([
    ['00_cublas', 'tail'],
    ['01_naive', 'l1-bandwidth'],
    ['02_coalesced', 'lsu-mio'],
    ['03_shared_tile', 'lsu-mio'],
    ['06_float4', 'tail'],
  ])('is sufficient to determine what limits %s: %s', (id, expected) => {
    const rung = session.rungs.find((one) => one.id === id)!
    expect(bottleneckOf(session, rung)).toMatchObject({ class: expected, missing: [] })
  })

  describe('the operation count of a tensor-pipe rung', () => {
    const onTensor = (tensor: number): Session => ({
      ...session,
      rungs: session.rungs.slice(0, 1).map((rung) => ({
        ...rung,
        metrics: {
          ...rung.metrics,
          tensorUtilization: { value: tensor, unit: '%', evidence: 'measured' },
          fp32Operations: { value: 1e6, unit: 'FLOP', evidence: 'derived' },
        },
      })),
    })

    it("is the product's count, because FP32 counters exclude tensor operations", () => {
      expect(roofline(onTensor(44)).paths.dram[0]).toMatchObject({
        basis: 'tensor',
        operations: product,
      })
    })

    it("comes from the counters if the tensor pipe's utilization is only noise", () => {
      expect(roofline(onTensor(0.04)).paths.dram[0]).toMatchObject({ basis: 'counted' })
      expect(Math.max(...ids.map((id) => value(id, 'tensorUtilization')))).toBe(0.04)
    })
  })

  describe('an older session', () => {
    const then = new Set([...asked].filter((name) => !/_op_ffma_/.test(name)))
    const without = (launch: (typeof launches)[number]) => ({
      ...launch,
      metrics: Object.fromEntries(
        Object.entries(launch.metrics).filter(([name]) => !/_op_ffma_/.test(name)),
      ),
    })

    it('reports after a replay that a counter was not requested, not that the GPU lacks it', () => {
      const metrics = toMetrics([without(launches[1]!)], 'standard', then)
      expect(metrics.ffmaInstructions).toEqual(notAsked(metricDefinition('ffmaInstructions')!))
      expect(said(metrics.ffmaInstructions?.reason)).toBe(
        'The run did not request smsp__sass_thread_inst_executed_op_ffma_pred_on.sum from ncu.',
      )
      expect(metrics.ffmaShare).toMatchObject({ value: null, evidence: 'unavailable' })
      expect(said(metrics.ffmaShare?.reason)).toMatch(
        /^The metric is derived from Thread-level FFMA.*did not request/,
      )
      expect(metrics.integerShare?.evidence).toBe('derived')
    })

    it('reports a requested counter without a value as missing on the GPU', () => {
      const metrics = toMetrics([without(launches[1]!)], 'standard', asked)
      expect(said(metrics.ffmaInstructions?.reason)).toMatch(
        /^ncu did not report .* on this GPU\.$/,
      )
    })

    it('has the same values when opened and when replayed', () => {
      const made: Session = {
        ...session,
        rungs: session.rungs.map((rung) => ({
          ...rung,
          metrics: Object.fromEntries(
            Object.entries(rung.metrics).filter(
              ([id]) => id !== 'ffmaInstructions' && !metricDefinition(id)!.derived,
            ),
          ),
        })),
      }
      const replayed = toMetrics([without(launches[1]!)], 'standard', then)
      const opened = withRegistry(made).rungs.find(({ id }) => id === '01_naive')!
      expect(opened.metrics).toEqual(replayed)
      expect(withRegistry(session)).toBe(session)
    })

    it('preserves the reason that a rung has no counters', () => {
      const none: MetricValue = {
        value: null,
        unit: '%',
        evidence: 'unavailable',
        reason: 'The rung has no time, so it was not profiled.',
      }
      const [rung] = session.rungs
      const failed = { ...rung!, profile: null, metrics: { achievedOccupancy: none } }
      const { metrics } = withRegistry({ ...session, rungs: [failed] }).rungs[0]!
      expect(Object.keys(metrics)).toContain('ffmaShare')
      expect(new Set(Object.values(metrics).map(({ reason }) => said(reason)))).toEqual(
        new Set([said(none.reason)]),
      )
    })

    it('never takes a metric-specific reason from another metric', () => {
      const kernelsDiffer = unavailable('%', message('figures.kernelsDiffer', { count: 3 }))
      const excluded = unavailable('%', message('records.profilingSkipped'))
      const opened = (metrics: RungResult['metrics'], target = session.target) =>
        withRegistry({
          ...session,
          target,
          rungs: [{ ...session.rungs[0]!, profile: null, metrics }],
        }).rungs[0]!.metrics.ffmaInstructions

      const both = { theoreticalOccupancy: kernelsDiffer, achievedOccupancy: excluded }
      expect(opened(both)?.reason).toEqual(excluded.reason)
      expect(opened({ theoreticalOccupancy: kernelsDiffer })).toEqual(
        notAsked(metricDefinition('ffmaInstructions')!),
      )
      const emulated = { kind: 'emulated', name: 'h200' } as const
      const timeless = unavailable('%', message('emulation.notEmulated'))
      expect(said(opened({ achievedOccupancy: timeless }, emulated)?.reason)).toBe(
        'The run did not collect this metric.',
      )
    })
  })
})
