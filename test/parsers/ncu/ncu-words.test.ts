/** Tests the parsers for short texts from ncu: cells, launches, metric lists, and failures. */
import { describe, expect, it } from 'vitest'
import {
  hasDecimalComma,
  parseNcuCell,
  plainNumber,
} from '../../../src-main/parsers/ncu/ncu-values'
import { type NcuLaunch, parseNcuRawCsv } from '../../../src-main/parsers/ncu/ncu-csv'
import { toMetrics } from '../../../src-main/parsers/ncu/ncu-metrics'
import { ncuCapture } from '../../captures'
import { metricsAtLevel } from '../../../src-main/domain/metrics/metrics'
import { said } from '../../support'
import { ncuFailures } from '../../fakes/ncu.mjs'
import { recognizeNcuFailure, unknownMetrics } from '../../../src-main/parsers/ncu/ncu-failure'
import { launchResources } from '../../../src-main/parsers/ncu/ncu-launch-resources'
import { toBaseUnit } from '../../../src-main/parsers/ncu/ncu-base-units'

describe('values printed by ncu', () => {
  describe('a table cell', () => {
    it.each([
      ['67108864', 67108864],
      ['8.16', 8.16],
      ['0', 0],
      ['1,234.5', 1234.5],
      ['150,109,880,320', 150109880320],
      ['-3', -3],
      ['1.5e-3', 0.0015],
    ])('%s is the number %d', (cell, value) => expect(parseNcuCell(cell)).toBe(value))

    it.each(['', ' ', 'n/a', 'N/A', 'nan', '-nan', '(!) nan', '(!) n/a', 'inf', '-inf', 'no data'])(
      '%j means a missing figure, not zero',
      (cell) => expect(parseNcuCell(cell)).toBeNull(),
    )

    it.each(['PolicySpread', 'all', 'No-CC', 'NVIDIA H200', '12,34'])('%s remains text', (cell) =>
      expect(parseNcuCell(cell)).toBe(cell),
    )

    it('has a decimal comma only if the comma cannot be a thousands separator', () => {
      expect(['8,16', '1.234,5', '67.108.864,00'].map(hasDecimalComma)).toEqual([true, true, true])
      expect(['8.16', '1,234', '1,234.5', 'all'].map(hasDecimalComma)).toEqual(Array(4).fill(false))
    })
  })

  describe('a unit is converted to the base unit and a factor', () => {
    it.each([
      ['ns', 'ns', 1],
      ['nsecond', 'ns', 1],
      ['usecond', 'ns', 1e3],
      ['us', 'ns', 1e3],
      ['msecond', 'ns', 1e6],
      ['second', 'ns', 1e9],
      ['Kbyte', 'byte', 1e3],
      ['Mbyte', 'byte', 1e6],
      ['Gbyte/second', 'byte/s', 1e9],
      ['Kbyte/block', 'byte/block', 1e3],
      ['byte/s', 'byte/s', 1],
      ['Ghz', 'hz', 1e9],
      ['cycle/nsecond', 'cycle/s', 1e9],
      ['Ginst', 'inst', 1e9],
      ['inst', 'inst', 1],
      ['inst/cycle', 'inst/cycle', 1],
      ['register/thread', 'register/thread', 1],
      ['SM', 'SM', 1],
      ['%/byte', '%/byte', 1],
      // ncu prints 24400 %/byte as 24.4 %/Kbyte.
      ['%/Kbyte', '%/byte', 1e3],
      ['%', '%', 1],
      ['', '', 1],
      ['constructor', 'constructor', 1],
    ])('%s → %s × %d', (text, unit, factor) => expect(toBaseUnit(text)).toEqual({ unit, factor }))
  })

  it('only plain numbers are parsed, as in JavaScript', () => {
    let seed = 5
    const random = (below: number): number => (seed = (seed * 1103515245 + 12345) % 2 ** 31) % below
    for (let round = 0; round < 5000; round += 1) {
      const digits = Array.from({ length: 1 + random(15) }, () => random(10)).join('')
      const point = random(digits.length + 1)
      const text = `${random(4) ? '' : '-'}${digits.slice(0, point)}${point > 0 && point < digits.length ? '.' : ''}${digits.slice(point)}`
      expect(Object.is(plainNumber(text), Number(text)), text).toBe(true)
    }
    for (const text of ['', '-', '.', '1.', '.5', '1,5', '1e3', '+1', 'nan', '1234567890123456'])
      expect(plainNumber(text), text).toBeNaN()
  })
})

describe('launches', () => {
  const { launches } = parseNcuRawCsv(ncuCapture('import-set-full'))

  it('have the resources of each block, in bytes and counts', () => {
    expect(launches.map(launchResources)[0]).toEqual({
      registersPerThread: 32,
      staticSharedBytes: 8192,
      dynamicSharedBytes: 0,
      barriers: 1,
      carveOutBytes: 32768,
      clusterBlocks: 0,
    })
  })

  it('have null for a missing resource, and no resources without metrics', () => {
    const { metrics } = launches[0]!
    const { launch__barrier_count: _, ...rest } = metrics
    expect(launchResources({ metrics: rest })).toMatchObject({
      barriers: null,
      dynamicSharedBytes: 0,
    })
    expect(launchResources({ metrics: {} })).toBeUndefined()
  })
})

describe('metric lists', () => {
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

  describe('a rung with one kernel', () => {
    const metrics = toMetrics(onlyKernel, 'card')

    it('has every metric of the level', () => {
      expect(Object.keys(metrics)).toEqual(metricsAtLevel('card').map(({ id }) => id))
      expect(toMetrics(onlyKernel, 'none')).toEqual({})
    })

    it("has the report's values in the registry's units", () => {
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

    it('requires no duration', () => {
      const metrics = toMetrics(without(onlyKernel, 'gpu__time_duration.sum'), 'card')
      expect(metrics.achievedOccupancy?.value).toBe(93.81)
      expect(metrics.registersPerThread?.value).toBe(32)
    })
  })

  describe('a rung with kernels of 401408 and 4928 ns', () => {
    const metrics = toMetrics(twoKernels, 'card')

    it('adds counts', () => {
      expect(metrics.sharedLoads?.value).toBe(67108864 + 0)
      expect(metrics.sharedStoreBankConflicts?.value).toBe(15154225)
    })

    it("weights rates by each kernel's time", () => {
      const expected = (89.96 * 401408 + 68.89 * 4928) / (401408 + 4928)
      expect(metrics.achievedOccupancy?.value).toBeCloseTo(expected, 9)
    })

    it("uses the longest kernel's launch properties, regardless of kernel order", () => {
      expect(metrics.registersPerThread?.value).toBe(32)
      expect(toMetrics(twoKernels.toReversed(), 'card').registersPerThread?.value).toBe(32)
    })

    it('adds counts even without durations, but reports that rates cannot be weighted', () => {
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

  describe('ncu metric names', () => {
    const [first, second] = [
      'smsp__inst_executed_op_shared_ld.sum',
      'smsp__sass_inst_executed_op_shared_ld.sum',
    ] as const

    it("are tried in the registry's order", () => {
      const kernel = withFigure(onlyKernel[0]!, second, 7, 'inst')
      expect(toMetrics([kernel], 'card').sharedLoads?.value).toBe(67108864)
      expect(toMetrics(without([kernel], first), 'card').sharedLoads?.value).toBe(7)
    })

    it("are skipped in favor of a complete name if a kernel's figure is missing", () => {
      const kernels = [withFigure(twoKernels[0]!, first, null, 'inst'), twoKernels[1]!]
      expect(toMetrics(kernels, 'card').sharedLoads?.value).toBe(67108864)
    })
  })

  describe('instead of zero, an unavailable metric has a reason', () => {
    it('if ncu reported none of its names', () => {
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

    it('if its column is missing because this ncu does not support it', () => {
      const { launches } = parseNcuRawCsv(ncuCapture('unknown-metric'))
      const metrics = toMetrics(launches.slice(0, 1), 'card')
      expect(said(metrics.achievedOccupancy?.reason)).toMatch(
        /^ncu did not report sm__warps_active/,
      )
      expect(metrics.wavesPerSm?.value).toBe(3.88)
    })

    it('that names the kernel whose figure is missing', () => {
      const name = 'sm__warps_active.avg.pct_of_peak_sustained_active'
      const kernels = [twoKernels[0]!, withFigure(twoKernels[1]!, name, null, '%')]
      expect(said(toMetrics(kernels, 'card').achievedOccupancy)).toMatchObject({
        value: null,
        reason: `ncu reported no value for ${name} of the kernel scale(float *, int).`,
      })
    })

    it('if a figure is not finite', () => {
      const name = 'launch__waves_per_multiprocessor'
      const kernel = withFigure(onlyKernel[0]!, name, Infinity, '')
      expect(toMetrics([kernel], 'card').wavesPerSm).toMatchObject({ value: null })
    })

    it('if a small figure was rounded to zero', () => {
      const name = 'launch__waves_per_multiprocessor'
      const kernel = withFigure(onlyKernel[0]!, name, 0, '')
      expect(said(toMetrics([kernel], 'card').wavesPerSm)).toMatchObject({
        value: null,
        reason: `ncu printed ${name} with two decimals, so its value was rounded to 0.`,
      })
    })

    it('if the unit of a share is not percent', () => {
      const name = 'sm__warps_active.avg.pct_of_peak_sustained_active'
      const kernel = withFigure(onlyKernel[0]!, name, 0.93, 'ratio')
      expect(said(toMetrics([kernel], 'card').achievedOccupancy?.reason)).toMatch(
        /ratio instead of percent/,
      )
    })

    it('if no kernel of the rung was profiled', () => {
      const metrics = toMetrics([], 'card')
      expect(Object.values(metrics).map(({ evidence }) => evidence)).toEqual(
        metricsAtLevel('card').map(() => 'unavailable'),
      )
      expect(said(metrics.sharedLoads?.reason)).toMatch('no kernel')
    })
  })

  it('convert traffic from sectors to bytes', () => {
    const sectors = withFigure(onlyKernel[0]!, 'l1tex__t_sectors.sum', 1000, 'sector')
    expect(toMetrics([sectors], 'standard')['l1Bytes']).toEqual({
      value: 32_000,
      unit: 'bytes',
      evidence: 'measured',
    })
  })
})

describe('diagnosis', () => {
  describe('no failure is reported', () => {
    it.each(['launches-two-rungs', 'set-full', 'no-nvtx'])('for the successful run %s', (name) =>
      expect(recognizeNcuFailure(ncuCapture(name), 0)).toBeNull(),
    )

    it('if ncu 2025.3 omits an unsupported metric without a message', () => {
      expect(recognizeNcuFailure(ncuCapture('unknown-metric'), 0)).toBeNull()
    })

    it('if an out-of-bounds write by a kernel is not trapped', () => {
      expect(recognizeNcuFailure(ncuCapture('out-of-bounds-application'), 0)).toBeNull()
    })

    it('if ncu only prints a file name that looks like a failure', () => {
      const text = '==PROF== Connected to process 7 (./nsight-compute-lock)'
      expect(recognizeNcuFailure(text, 0)).toBeNull()
    })

    it('if the program, not ncu, prints the text of a failure', () => {
      expect(recognizeNcuFailure('grep ERR_NVGPUCTRPERM\nNo kernels were profiled', 0)).toBeNull()
    })
  })

  describe('captured failures', () => {
    it('include a run that exits with 0 without profiling a kernel', () => {
      expect(recognizeNcuFailure(ncuCapture('no-kernels'), 0)?.kind).toBe('no-kernels')
    })

    it('name a program that cannot be started', () => {
      expect(said(recognizeNcuFailure(ncuCapture('not-an-executable'), 1))).toMatchObject({
        kind: 'not-executable',
        message: expect.stringContaining('./nothere'),
      })
    })
  })

  // No captures of these texts exist. test/fakes/ncu.mjs documents their sources.
  describe('quoted failures', () => {
    const quoted = (kind: keyof typeof ncuFailures): string => ncuFailures[kind].text

    it.each([
      ['counter-permission', /NVreg_RestrictProfilingToAdminUsers=0.*SYS_ADMIN/],
      ['counters-busy', /dcgmi profile --pause/],
      ['driver-library', /same driver version/],
      ['driver-incompatible', /Update the driver/],
      ['application-failed', /without profiling/],
      ['unknown-metric', /ncu of/],
      ['lock-file', /TMPDIR/],
      ['no-kernels', /without profiling/],
    ] as const)('%s is reported with its remedy', (kind, remedy) => {
      const text = `==PROF== Connected to process 1 (./r)\n${quoted(kind)}\n`
      const failure = recognizeNcuFailure(text, ncuFailures[kind].exitCode)
      expect(failure?.kind).toBe(kind)
      expect(said(failure?.remedy)).toMatch(remedy)
    })

    it('contain the metric or the exit code from ncu', () => {
      expect(
        said(recognizeNcuFailure('==ERROR== Failed to find metric sm__nope.sum', 1)?.message),
      ).toMatch('sm__nope.sum')
      expect(said(recognizeNcuFailure(quoted('application-failed'), 9)?.message)).toMatch(
        'exit code 9',
      )
    })

    it('are recognized by their cause, not by its consequences', () => {
      const all = [
        '==ERROR== An error was reported by the driver:',
        quoted('counters-busy'),
        '==ERROR== Failed to profile "gemm" in process 7',
        quoted('application-failed'),
        '==WARNING== No kernels were profiled.',
      ].join('\r\n')
      expect(recognizeNcuFailure(all, 9)?.kind).toBe('counters-busy')
      expect(
        recognizeNcuFailure(
          `${quoted('counter-permission')}\n==WARNING== No kernels were profiled.`,
          0,
        )?.kind,
      ).toBe('counter-permission')
    })
  })

  describe('an unexpected failure', () => {
    it("is reported with ncu's message about its cause, not with its consequences", () => {
      const text =
        '==ERROR== Failed to profile "gemm" in process 7\n==ERROR== The moon is full.\n==ERROR== The application returned an error code (9).'
      expect(said(recognizeNcuFailure(text, 9))).toMatchObject({
        kind: 'other',
        message: 'ncu failed: The moon is full.',
      })
    })

    it('is identified by the exit code if ncu printed nothing', () => {
      expect(said(recognizeNcuFailure('', 139)?.message)).toMatch('139')
      expect(said(recognizeNcuFailure('', null)?.message)).toMatch('signal')
    })
  })

  it('a line that contains only quotes is scanned once, not from each quote', () => {
    const line = `==ERROR== ${"'".repeat(400_000)}`
    expect(recognizeNcuFailure(line, 1)?.kind).toBe('other')
  })

  describe('metrics that ncu does not support', () => {
    it.each([
      ['==ERROR== Failed to find metric regex:^sm__nope\\.(sum|min)$', ['sm__nope']],
      ['==ERROR== Failed to find metric sm__nope.sum', ['sm__nope.sum']],
      [
        '==ERROR== Failed to find metric a__b\n==ERROR== Failed to find metric c__d.avg',
        ['a__b', 'c__d.avg'],
      ],
      ['Failed to find metric sm__nope.sum', []],
      [ncuCapture('unknown-metric'), []],
    ])("are read only from ncu's own error messages", (text, names) => {
      expect(unknownMetrics(text)).toEqual(names)
    })
  })
})
