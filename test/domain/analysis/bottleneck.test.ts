import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readSession } from '../../../src-main/adapters/sessions/session-store'
import {
  bottleneckClasses,
  bottleneckOf,
  bottleneckThresholds,
  type BottleneckClass,
} from '../../../src-main/domain/analysis/bottleneck'
import { metricDefinition, metricsAtLevel } from '../../../src-main/domain/metrics/metrics'
import { rungOf, type RungResult, type Session } from '../../../src-main/domain/session/session'
import { parseNcuRawCsv } from '../../../src-main/parsers/ncu/ncu-csv'
import { toMetrics } from '../../../src-main/parsers/ncu/ncu-metrics'
import { ncuCapture } from '../../parsers/captures'

const recordings = join(import.meta.dirname, '../../../resources/recordings')
const at4096 = await readSession(join(recordings, 'gemm-fp32-h200-4096'))
/** At the level card. */
const at8192 = await readSession(join(recordings, 'gemm-fp32-h200-8192'))
const at1024 = await readSession(join(recordings, 'gemm-fp32-h200-1024'))
const { launches } = parseNcuRawCsv(ncuCapture('import-set-full'))

const rungWith = (metrics: RungResult['metrics']): RungResult => ({
  ...rungOf(at4096, '06_float4')!,
  metrics,
})
const classOf = (session: Session, id: string): BottleneckClass | undefined =>
  bottleneckOf(session, rungOf(session, id)!)?.class

/** A rung in the middle of everything: 3.88 waves, no unit above 30%, warps waiting here and there. */
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

describe('what a rung is limited by', () => {
  it.each<[string, Record<string, number>, BottleneckClass, string]>([
    ['a last wave that is nearly empty', { wavesPerSm: 1.2 }, 'tail', 'wavesPerSm'],
    ['a grid that fills a quarter of the machine', { wavesPerSm: 0.24 }, 'tail', 'wavesPerSm'],
    ['a busy FMA pipe', { fmaUtilization: 79 }, 'fma-issue', 'fmaUtilization'],
    ['full issue slots', { issueSlotsBusy: 88 }, 'fma-issue', 'issueSlotsBusy'],
    ['a busy tensor pipe', { tensorUtilization: 75 }, 'tensor', 'tensorUtilization'],
    ['a full L2', { l2Utilization: 85 }, 'l2-bandwidth', 'l2Utilization'],
    ['full device memory', { dramUtilization: 91 }, 'dram-bandwidth', 'dramUtilization'],
    [
      'a full data stage that serves shared memory',
      { lsuDataUtilization: 92, sharedLoadWavefronts: 4e8 },
      'lsu-mio',
      'lsuDataUtilization',
    ],
    [
      'a full data stage that serves L1',
      { lsuDataUtilization: 92, l1Bytes: 4e10 },
      'l1-bandwidth',
      'lsuDataUtilization',
    ],
    ['waits for the shared queue', { stallMioThrottle: 30 }, 'lsu-mio', 'stallMioThrottle'],
    ['waits for the global queue', { stallLgThrottle: 30 }, 'l1-bandwidth', 'stallLgThrottle'],
    ['nothing above 60%', {}, 'latency', 'fmaUtilization'],
  ])('%s', (_what, changes, expected, counter) => {
    const found = judge(changes)
    expect(found.class).toBe(expected)
    expect(found.leaning).toBe(false)
    const evidence = found.evidence.find(({ id }) => id === counter)!
    expect(evidence.side === 'above' ? evidence.value : -evidence.value).toBeGreaterThanOrEqual(
      evidence.side === 'above' ? evidence.threshold : -evidence.threshold,
    )
  })

  it('takes the unit that is furthest above its threshold, and names the others too', () => {
    const { class: name, evidence } = judge({ l2Utilization: 82, dramUtilization: 95 })
    expect(name).toBe('dram-bandwidth')
    expect(evidence.map(({ id }) => id)).toEqual(['dramUtilization', 'l2Utilization'])
  })

  it('says that it leans where the highest unit is between the thresholds', () => {
    expect(judge({ l2Utilization: 66 })).toMatchObject({ class: 'l2-bandwidth', leaning: true })
  })

  it('says what warps wait for beside a latency', () => {
    const { evidence } = judge({})
    expect(evidence.at(-1)).toMatchObject({ id: 'stallLongScoreboard' })
    expect(evidence.at(-1)!.value).toBeCloseTo((100 * 5) / 14, 6)
  })

  it('does not call it a latency while a unit is not known, and says which', () => {
    expect(judge({ l2Utilization: null })).toEqual({
      class: 'unknown',
      leaning: false,
      evidence: [],
      missing: ['l2Utilization'],
    })
  })

  it('derives the share of device memory from bytes and time where the memory is known', () => {
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

  it('is null for a rung that was not profiled', () => {
    expect(bottleneckOf(at4096, rungWith({}))).toBeNull()
  })

  it('names only metrics of the registry, and classes and thresholds that are stated', () => {
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

describe('on an H200', () => {
  it.each([
    ['the tile kernel whose stores conflict', 0, 'lsu-mio'],
    ['a kernel that scales a small matrix', 2, 'latency'],
  ] as const)('with a full set of counters: %s', (_what, launch, expected) => {
    const metrics = toMetrics([launches[launch]!], 'deep')
    expect(Object.keys(metrics)).toHaveLength(metricsAtLevel('deep').length)
    const { class: name, missing } = bottleneckOf(at4096, rungWith(metrics))!
    expect(name).toBe(expected)
    expect(missing).toEqual([])
  })

  it('with the card alone: a full FMA pipe and a tail can be told, the rest is unknown', () => {
    expect(classOf(at8192, '00_cublas')).toBe('fma-issue')
    expect(classOf(at1024, '06_float4')).toBe('tail')
    expect(classOf(at8192, '01_naive')).toBe('unknown')
    const { missing } = bottleneckOf(at8192, rungOf(at8192, '01_naive')!)!
    expect(missing).toContain('issueSlotsBusy')
    expect(missing).toContain('l2Utilization')
  })
})
