import { describe, expect, it } from 'vitest'
import { readSession } from '../../../src-main/adapters/sessions/session-store'
import {
  compareRungs,
  dynamicMetricNoise,
  parameterWords,
} from '../../../src-main/domain/analysis/compare'
import type { MetricValue } from '../../../src-main/domain/metrics/metrics'
import { rungBefore, rungOf, type RungResult } from '../../../src-main/domain/session/session'

const session = await readSession('resources/recordings/gemm-fp32-h200-4096')
const rung = (id: string): RungResult => rungOf(session, id)!
const compare = (a: RungResult, b: RungResult) =>
  compareRungs({ session, rung: a }, { session, rung: b })
const measured = (value: number, unit: MetricValue['unit'] = '%'): MetricValue => ({
  value,
  unit,
  evidence: 'measured',
})
const withMetric = (base: RungResult, id: string, value: MetricValue): RungResult => ({
  ...base,
  metrics: { ...base.metrics, [id]: value },
})
const verdict = (id: string, a: MetricValue, b: MetricValue): string | undefined =>
  compare(
    withMetric(rung('01_naive'), id, a),
    withMetric(rung('02_coalesced'), id, b),
  ).metrics.find((delta) => delta.id === id)?.verdict

describe('comparing two rungs', () => {
  it('says how much faster b is than a', () => {
    const { time } = compare(rung('01_naive'), rung('02_coalesced'))
    expect(time.verdict).toBe('better')
    expect(time.speedup).toBeCloseTo(
      rung('01_naive').timing!.medianMs / rung('02_coalesced').timing!.medianMs,
    )
    expect(compare(rung('02_coalesced'), rung('01_naive')).time.verdict).toBe('worse')
  })

  it('gives no verdict on a time inside the two spreads', () => {
    const a = rung('05_thread_tile_2d')
    const near = (share: number): RungResult => ({
      ...a,
      timing: { ...a.timing!, medianMs: a.timing!.medianMs * share, spread: 0.01 },
    })
    expect(compare(near(1), near(1.015)).time.verdict).toBe('same')
    expect(compare(near(1), near(1.03)).time.verdict).toBe('worse')
    expect(compare(near(1), near(0.97)).time.verdict).toBe('better')
  })

  it.each([
    ['fmaUtilization', 10, 20, 'better'],
    ['fmaUtilization', 20, 10, 'worse'],
    ['fmaUtilization', 20, 20 * (1 + dynamicMetricNoise / 2), 'same'],
    ['instructions', 1000, 990, 'better'],
    ['instructions', 1000, 1010, 'worse'],
    ['instructions', 1000, 1004, 'same'],
    ['tensorUtilization', 0, 0.31, 'same'],
    ['stallDispatch', 0.29, 0.33, 'same'],
    ['stallLongScoreboard', 1.02, 0.03, 'better'],
    ['stallNotSelected', 1.8, 2.3, 'changed'],
    ['achievedOccupancy', 24.3, 23.8, 'same'],
    ['sharedLoads', 0, 0, 'same'],
    ['theoreticalOccupancy', 50, 100, 'changed'],
  ])('%s from %d to %d is %s', (id, a, b, expected) => {
    expect(verdict(id, measured(a), measured(b))).toBe(expected)
  })

  it('gives no verdict on a count that is nothing beside what it is a part of', () => {
    const counted = (conflicts: number, bits: number): RungResult => ({
      ...rung('05_thread_tile_2d'),
      metrics: {
        sharedLoadWavefronts: measured(1e6),
        instructions: measured(1e6),
        sharedLoadBankConflicts: measured(conflicts),
        bitInstructions: measured(bits),
      },
    })
    const verdicts = (conflicts: number, bits: number): string[] =>
      compare(counted(0, 0), counted(conflicts, bits))
        .metrics.filter(({ id }) => /Conflicts|bit/.test(id))
        .map((delta) => delta.verdict)
    expect(verdicts(19_000, 150_000)).toEqual(['same', 'same'])
    expect(verdicts(21_000, 170_000)).toEqual(['worse', 'worse'])
  })

  it('gives none on a time below half a percent, however small the spreads', () => {
    const timed = (medianMs: number): RungResult => ({
      ...rung('05_thread_tile_2d'),
      timing: { ...rung('05_thread_tile_2d').timing!, medianMs, spread: 0 },
    })
    expect(compare(timed(1), timed(1.004)).time.verdict).toBe('same')
    expect(compare(timed(1), timed(1.006)).time.verdict).toBe('worse')
  })

  it('knows nothing where a side was not collected, and does not take that for zero', () => {
    const missing: MetricValue = { value: null, unit: '%', evidence: 'unavailable', reason: 'x' }
    expect(verdict('fmaUtilization', missing, measured(5))).toBe('unknown')
    expect(verdict('fmaUtilization', measured(0), measured(5))).toBe('better')
  })

  it('tells which predictions of b’s header came true', () => {
    const { metrics } = compare(rung('04_thread_tile_1d'), rung('05_thread_tile_2d'))
    const expected = Object.fromEntries(
      metrics.flatMap(({ id, expected: prediction }) => (prediction ? [[id, prediction.met]] : [])),
    )
    expect(expected).toEqual({
      sharedLoads: true,
      fmaUtilization: true,
      registersPerThread: true,
      achievedOccupancy: true,
    })
  })

  it('holds a header to its predictions against the rung that it comes after, and no other', () => {
    const predicted = (a: string, b: string): boolean =>
      compare(rung(a), rung(b)).metrics.some(({ expected }) => expected !== null)
    expect(predicted('10_conflict_free', '11_warp_tile')).toBe(true)
    expect(predicted('06_float4', '11_warp_tile')).toBe(false)
    expect(predicted('11_warp_tile', '11_half_block')).toBe(false)
  })

  it('names the parameters that two variants of one source differ in, and none of two sources', () => {
    const { parameters } = compare(rung('11_warp_tile'), rung('11_half_block'))
    expect(parameters).toEqual([
      { name: 'BM', a: 128, b: 64 },
      { name: 'BK', a: 8, b: 16 },
      { name: 'WM', a: 64, b: 32 },
      { name: 'WN', a: 32, b: 64 },
    ])
    expect(parameterWords(parameters)).toBe('BM 128 → 64, BK 8 → 16, WM 64 → 32, WN 32 → 64')
    expect(compare(rung('11_half_block'), rung('12_register_prefetch')).parameters).toEqual([])
  })

  it.each([
    [1000, 1009, true, 'same'],
    [1000, 1011, false, 'worse'],
    [0, 0, true, 'same'],
    [0, 1, false, 'worse'],
  ])('from %d to %d loads a prediction of the same is met: %s', (a, b, met, told) => {
    const predicting = (value: number) => ({
      ...rung('03_shared_tile'),
      after: null,
      expect: [{ metric: 'sharedLoads', direction: 'same' as const }],
      metrics: { sharedLoads: measured(value) },
    })
    const { metrics } = compare(predicting(a), predicting(b))
    const loads = metrics.find(({ id }) => id === 'sharedLoads')!
    expect([loads.expected?.met, loads.verdict]).toEqual([met, told])
  })
})

describe('kernels that only ncu timed', () => {
  const kernel = (medianMs: number, spread: number | null = null): RungResult => ({
    ...rung('01_naive'),
    timing: null,
    profiledTime: {
      ...{ launches: 1, totalMs: medianMs, medianMs },
      ...{ minMs: medianMs, maxMs: medianMs, spread },
    },
  })

  it('are compared by their median launch, single ones within what those vary by', () => {
    expect(compare(kernel(2), kernel(1)).time).toMatchObject({ speedup: 2, verdict: 'better' })
    expect(compare(kernel(1), kernel(1.04)).time.verdict).toBe('same')
    expect(compare(kernel(1, 0.001), kernel(1.04, 0.001)).time.verdict).toBe('worse')
  })

  it('are not compared with what a runner timed', () => {
    expect(compare(rung('01_naive'), kernel(1)).time).toMatchObject({
      bMs: null,
      speedup: null,
      verdict: 'unknown',
    })
  })
})

describe('the rung before', () => {
  it('is the one it names, and never the reference', () => {
    expect(rungBefore(session, '03_shared_tile')?.id).toBe('02_coalesced')
    expect(rungBefore(session, '01_naive')).toBeUndefined()
    expect(rungBefore(session, '00_cublas')).toBeUndefined()
  })

  it('is none for a rung whose header names the reference', async () => {
    const tensor = await readSession('resources/recordings/gemm-tensor-h200-4096')
    expect(rungOf(tensor, '51_wmma_naive')?.after).toBe('50_cublas_tensor')
    expect(rungBefore(tensor, '51_wmma_naive')).toBeUndefined()
  })
})
