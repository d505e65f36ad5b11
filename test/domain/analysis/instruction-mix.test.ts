/** The standard level over counters that an H200 gave of gemm-fp32 at 1024. */
import { describe, expect, it } from 'vitest'
import { bottleneckOf, type BottleneckClass } from '../../../src-main/domain/analysis/bottleneck'
import { metricDefinition, type MetricValue } from '../../../src-main/domain/metrics/metrics'
import { instructionKinds, lanes } from '../../../src-main/domain/metrics/mix-metrics'
import { notAsked, withRegistry } from '../../../src-main/domain/session/registry-figures'
import { roofline } from '../../../src-main/domain/analysis/roofline'
import type { Session } from '../../../src-main/domain/session/session'
import { toMetrics } from '../../../src-main/parsers/ncu/ncu-metrics'
import { asked, launches, metricsThen, standardSession } from '../standard-session'
import { said } from '../../said'

const session = await standardSession()
const byRung = new Map(session.rungs.map(({ id, metrics }) => [id, metrics]))
const ids = [...byRung.keys()]
const value = (id: string, metric: string): number => byRung.get(id)![metric]!.value!
const product = 2 * 1024 ** 3

describe.each(ids)('%s at the standard level', (id) => {
  const own = ids.filter((one) => one !== '00_cublas').includes(id)

  it('has a figure for each metric, counted or derived', () => {
    const metrics = byRung.get(id)!
    expect(metricsThen.length).toBeGreaterThan(40)
    for (const { id: metric, derived } of metricsThen)
      expect(metrics[metric]?.evidence, metric).toBe(derived ? 'derived' : 'measured')
  })

  it('executes kinds that are 98% of its lanes, and never more than all', () => {
    const sum = instructionKinds.reduce((so, kind) => so + value(id, kind), 0)
    const whole = lanes * value(id, 'instructions')
    expect(sum).toBeLessThanOrEqual(whole)
    expect(sum / whole).toBeGreaterThan(0.98)
  })

  it('computes the product, and its FFMA are FP32 instructions', () => {
    const operations = value(id, 'fp32Operations')
    expect(operations).toBeGreaterThanOrEqual(product)
    expect(operations).toBeLessThan(1.002 * product)
    // One multiplication by alpha for each element of C, and nothing else beside the FFMA.
    if (own) expect(operations - product).toBe(1024 ** 2)
    expect(value(id, 'ffmaInstructions')).toBeLessThanOrEqual(value(id, 'fp32Instructions'))
  })

  it('stands in the roofline by the operations that were counted', () => {
    const { paths, missing } = roofline(session)
    expect(missing).toEqual([])
    for (const path of Object.values(paths)) {
      const point = path.find(({ rung }) => rung === id)!
      expect(point).toMatchObject({ basis: 'counted', operations: value(id, 'fp32Operations') })
    }
  })
})

it('shows what the climb is for: the share of FFMA rises from less than a quarter to 89%', () => {
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
])('is enough to say what limits %s: %s', (id, expected) => {
  const rung = session.rungs.find((one) => one.id === id)!
  expect(bottleneckOf(session, rung)).toMatchObject({ class: expected, missing: [] })
})

describe('operations of a rung whose work is on the tensor pipe', () => {
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

  it("are the product's: counters of FP32 do not see them", () => {
    expect(roofline(onTensor(44)).paths.dram[0]).toMatchObject({
      basis: 'tensor',
      operations: product,
    })
  })

  it('are the counted ones where the pipe does nothing but show its noise', () => {
    expect(roofline(onTensor(0.04)).paths.dram[0]).toMatchObject({ basis: 'counted' })
    expect(Math.max(...ids.map((id) => value(id, 'tensorUtilization')))).toBe(0.04)
  })
})

describe('a session of before', () => {
  const then = new Set([...asked].filter((name) => !/_op_ffma_/.test(name)))
  const without = (launch: (typeof launches)[number]) => ({
    ...launch,
    metrics: Object.fromEntries(
      Object.entries(launch.metrics).filter(([name]) => !/_op_ffma_/.test(name)),
    ),
  })

  it('says, replayed, that its run did not ask, and not that its GPU lacks it', () => {
    const metrics = toMetrics([without(launches[1]!)], 'standard', then)
    expect(metrics.ffmaInstructions).toEqual(notAsked(metricDefinition('ffmaInstructions')!))
    expect(said(metrics.ffmaInstructions?.reason)).toBe(
      'The run did not request smsp__sass_thread_inst_executed_op_ffma_pred_on.sum from ncu.',
    )
    expect(metrics.ffmaShare).toMatchObject({ value: null, evidence: 'unavailable' })
    expect(said(metrics.ffmaShare?.reason)).toMatch(
      /^It is derived from Thread-level FFMA.*did not request/,
    )
    expect(metrics.integerShare?.evidence).toBe('derived')
  })

  it('says, asked and not reported, that its GPU lacks it', () => {
    const metrics = toMetrics([without(launches[1]!)], 'standard', asked)
    expect(said(metrics.ffmaInstructions?.reason)).toMatch(/^ncu did not report .* on this GPU\.$/)
  })

  it('opens as it replays', () => {
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

  it('keeps the reason for which a rung has no counters', () => {
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
})
