import { describe, expect, it } from 'vitest'
import { metricsAtLevel } from '../../../src-main/domain/metrics/metrics'
import { parseNcuRawCsv, type NcuLaunch } from '../../../src-main/parsers/ncu/ncu-csv'
import { toMetrics } from '../../../src-main/parsers/ncu/ncu-metrics'
import { ncuCapture } from '../captures'
import { said } from '../../said'

const { launches } = parseNcuRawCsv(ncuCapture('launches-two-rungs'))
const ofRung = (id: string) => launches.filter(({ rung }) => rung === id)
const onlyKernel = ofRung('03_a')
const twoKernels = ofRung('04_b')

const without = (kernels: NcuLaunch[], ...names: string[]): NcuLaunch[] =>
  kernels.map((launch) => ({
    ...launch,
    metrics: Object.fromEntries(
      Object.entries(launch.metrics).filter(([name]) => !names.includes(name)),
    ),
  }))
const withFigure = (kernel: NcuLaunch, name: string, value: number | null, unit: string) => ({
  ...kernel,
  metrics: { ...kernel.metrics, [name]: { value, unit } },
})

describe('a rung of one kernel', () => {
  const metrics = toMetrics(onlyKernel, 'card')

  it('has every metric of the level', () => {
    expect(Object.keys(metrics)).toEqual(metricsAtLevel('card').map(({ id }) => id))
    expect(toMetrics(onlyKernel, 'none')).toEqual({})
  })

  it('has the values of the report, in units of the registry', () => {
    expect(metrics).toMatchObject({
      wavesPerSm: { value: 3.88, unit: 'waves', evidence: 'measured' },
      theoreticalOccupancy: { value: 100, unit: '%', evidence: 'measured' },
      achievedOccupancy: { value: 93.81, unit: '%', evidence: 'measured' },
      sharedLoads: { value: 67108864, unit: 'inst', evidence: 'measured' },
      fmaUtilization: { value: 8.65, unit: '%', evidence: 'measured' },
      sharedLoadBankConflicts: { value: 32497, unit: 'conflicts', evidence: 'measured' },
      sharedStoreBankConflicts: { value: 32866072, unit: 'conflicts', evidence: 'measured' },
      registersPerThread: { value: 32, unit: 'registers', evidence: 'measured' },
    })
  })

  it('needs no duration', () => {
    const metrics = toMetrics(without(onlyKernel, 'gpu__time_duration.sum'), 'card')
    expect(metrics.achievedOccupancy?.value).toBe(93.81)
    expect(metrics.registersPerThread?.value).toBe(32)
  })
})

describe('a rung of two kernels, of 401408 and 4928 ns', () => {
  const metrics = toMetrics(twoKernels, 'card')

  it('adds counts', () => {
    expect(metrics.sharedLoads?.value).toBe(67108864 + 0)
    expect(metrics.sharedStoreBankConflicts?.value).toBe(15154225)
  })

  it('weighs rates with the time that each kernel took', () => {
    const expected = (89.96 * 401408 + 68.89 * 4928) / (401408 + 4928)
    expect(metrics.achievedOccupancy?.value).toBeCloseTo(expected, 9)
  })

  it('takes properties of a launch from the kernel that ran longest, in whichever order', () => {
    expect(metrics.registersPerThread?.value).toBe(32)
    expect(toMetrics(twoKernels.toReversed(), 'card').registersPerThread?.value).toBe(32)
  })

  it('cannot weigh without the durations, and says so; counts need none', () => {
    const metrics = toMetrics(without(twoKernels, 'gpu__time_duration.sum'), 'card')
    expect(said(metrics.achievedOccupancy)).toMatchObject({
      value: null,
      evidence: 'unavailable',
      reason: expect.stringContaining('gpu__time_duration.sum'),
    })
    expect(metrics.registersPerThread?.value).toBeNull()
    expect(metrics.sharedLoads?.value).toBe(67108864)
  })
})

describe("ncu's names are tried in the registry's order", () => {
  const [first, second] = [
    'smsp__inst_executed_op_shared_ld.sum',
    'smsp__sass_inst_executed_op_shared_ld.sum',
  ] as const

  it('the first that the report holds is taken', () => {
    const kernel = withFigure(onlyKernel[0]!, second, 7, 'inst')
    expect(toMetrics([kernel], 'card').sharedLoads?.value).toBe(67108864)
    expect(toMetrics(without([kernel], first), 'card').sharedLoads?.value).toBe(7)
  })

  it('a name that lacks a figure for one of the kernels is passed over for one that has all', () => {
    const kernels = [withFigure(twoKernels[0]!, first, null, 'inst'), twoKernels[1]!]
    expect(toMetrics(kernels, 'card').sharedLoads?.value).toBe(67108864)
  })
})

describe('unavailable is not zero, and has its reason', () => {
  it('none of the names was reported', () => {
    const names = [
      'smsp__inst_executed_op_shared_ld.sum',
      'smsp__sass_inst_executed_op_shared_ld.sum',
    ]
    expect(said(toMetrics(without(onlyKernel, ...names), 'card').sharedLoads)).toEqual({
      value: null,
      unit: 'inst',
      evidence: 'unavailable',
      reason: `ncu did not report ${names[0]} or ${names[1]} on this GPU.`,
    })
  })

  it('a metric that this ncu does not know leaves its column out', () => {
    const { launches } = parseNcuRawCsv(ncuCapture('unknown-metric'))
    const metrics = toMetrics(launches.slice(0, 1), 'card')
    expect(said(metrics.achievedOccupancy?.reason)).toMatch(/^ncu did not report sm__warps_active/)
    expect(metrics.wavesPerSm?.value).toBe(3.88)
  })

  it('the name was reported without a figure, and the kernel is named', () => {
    const name = 'sm__warps_active.avg.pct_of_peak_sustained_active'
    const kernels = [twoKernels[0]!, withFigure(twoKernels[1]!, name, null, '%')]
    expect(said(toMetrics(kernels, 'card').achievedOccupancy)).toMatchObject({
      value: null,
      reason: `ncu reported no value of ${name} for the kernel scale(float *, int).`,
    })
  })

  it('a figure is not finite', () => {
    const name = 'launch__waves_per_multiprocessor'
    const kernel = withFigure(onlyKernel[0]!, name, Infinity, '')
    expect(toMetrics([kernel], 'card').wavesPerSm).toMatchObject({ value: null })
  })

  it('a share is not in percent', () => {
    const name = 'sm__warps_active.avg.pct_of_peak_sustained_active'
    const kernel = withFigure(onlyKernel[0]!, name, 0.93, 'ratio')
    expect(said(toMetrics([kernel], 'card').achievedOccupancy?.reason)).toMatch(
      /ratio instead of percent/,
    )
  })

  it('no kernel of the rung was profiled', () => {
    const metrics = toMetrics([], 'card')
    expect(Object.values(metrics).map(({ evidence }) => evidence)).toEqual(
      metricsAtLevel('card').map(() => 'unavailable'),
    )
    expect(said(metrics.sharedLoads?.reason)).toMatch('no kernel')
  })
})

it('counts traffic in bytes where ncu counts sectors', () => {
  const sectors = withFigure(onlyKernel[0]!, 'l1tex__t_sectors.sum', 1000, 'sector')
  expect(toMetrics([sectors], 'standard')['l1Bytes']).toEqual({
    value: 32_000,
    unit: 'bytes',
    evidence: 'measured',
  })
})
