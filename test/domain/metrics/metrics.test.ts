/** Tests the metric registry and the units. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  cardMetricIds,
  metricDefinition,
  metricDefinitions,
  metricsAtLevel,
} from '../../../src-main/domain/metrics/metrics'
import {
  formatBytes,
  formatCount,
  formatGflops,
  formatMs,
  formatPercent,
  formatRatio,
  formatShare,
  formatValue,
  units,
} from '../../../src-main/domain/metrics/units'

describe('metrics', () => {
  const known = JSON.parse(
    readFileSync(
      join(import.meta.dirname, '../../captures/ncu/query-metrics/2025.3.1.json'),
      'utf8',
    ),
  ) as { chips: string[]; names: Record<string, string[]> }

  /**
   * Matches the metrics that ncu derives from the launch or from the maximum value of a counter.
   * `--query-metrics` lists none of the derived metrics for any chip.
   */
  const ncuOwn = /^(launch__|sm__maximum_warps_per_active_cycle_pct$)/

  /**
   * Returns the name of a counter without suffixes, such as `sm__warps_active` for
   * `sm__warps_active.avg.pct_of_peak_sustained_active`.
   */
  const baseName = (name: string): string => name.split('.')[0]!

  describe('the registry', () => {
    it('has one entry per id', () => {
      const ids = metricDefinitions.map(({ id }) => id)
      expect(new Set(ids).size).toBe(ids.length)
    })

    it('has no duplicate counters', () => {
      const names = metricDefinitions.flatMap(({ ncu }) => ncu)
      expect(new Set(names).size).toBe(names.length)
    })

    it('explains each metric in one sentence', () => {
      for (const { id, meaning, label } of metricDefinitions) {
        expect(meaning, id).toMatch(/^[A-Z].+\.$/s)
        expect(label, id).not.toBe('')
      }
    })

    it('defines each metric by exactly one of ncu names, a formula, or a sum over instructions', () => {
      for (const { id, ncu, derived, perInstruction, level } of metricDefinitions) {
        expect([ncu.length > 0, derived, perInstruction].filter(Boolean).length, id).toBe(1)
        const collected = metricsAtLevel(level).filter(({ aggregate }) => aggregate === 'sum')
        for (const from of derived?.from ?? []) expect(collected).toContain(metricDefinition(from))
      }
    })

    it('has seven metrics at the card level', () => {
      for (const id of cardMetricIds) expect(metricDefinition(id)?.level).toBe('card')
      expect(metricsAtLevel('none')).toEqual([])
      expect(metricsAtLevel('card').length).toBeLessThan(metricsAtLevel('standard').length)
    })

    it.each(known.chips)('prefers counters that %s has, according to ncu 2025.3.1', (chip) => {
      const missing = metricDefinitions
        .flatMap(({ ncu }) => ncu[0] ?? [])
        .filter((name) => !ncuOwn.test(name) && !known.names[baseName(name)]?.includes(chip))
      expect(missing).toEqual([])
    })

    it('contains only alternative names that exist on at least one chip', () => {
      const unknown = metricDefinitions
        .flatMap(({ ncu }) => ncu)
        .filter((name) => !ncuOwn.test(name) && !known.names[baseName(name)])
      expect(unknown).toEqual([])
    })
  })
})

describe('units', () => {
  describe('formatted figures', () => {
    it.each([
      [formatMs(0.0421), '42.1 µs'],
      [formatMs(2.704), '2.70 ms'],
      [formatMs(275.6), '276 ms'],
      [formatMs(1e-150), '1.00e-147 µs'],
      [formatMs(5e-324), '4.94e-321 µs'],
      [formatMs(2190), '2.19 s'],
      [formatGflops(60.8), '60.8 GFLOP/s'],
      [formatGflops(51_173), '51.2 TFLOP/s'],
      [formatCount(0), '0'],
      [formatCount(942), '942'],
      [formatCount(134_217_728), '134 M'],
      [formatCount(2_684_354_560), '2.68 G'],
      [formatBytes(8192), '8 KiB'],
      [formatBytes(150_109_880_320), '140 GiB'],
      [formatRatio(0.0098), '0.010×'],
      [formatRatio(1.013), '1.01×'],
      [formatRatio(11.82), '11.8×'],
      [formatRatio(0.0004), '0.0004×'],
      [formatRatio(0), '0.000×'],
      [formatPercent(0.04), '0.04 %'],
      [formatPercent(0), '0.0 %'],
      [formatShare(0.253), '25 %'],
      [formatShare(0.003), '0.3 %'],
      [formatValue(0.004, 'waves'), '0.00400 waves'],
    ])('include %s', (text, expected) => {
      expect(text).toBe(expected)
    })

    it('include the unit', () => {
      for (const unit of units) expect(formatValue(12, unit)).toMatch(/^\d[\d.]*\s?\S*/)
      expect(formatValue(3.88, 'waves')).toBe('3.88 waves')
      expect(formatValue(93.81, '%')).toBe('93.8 %')
    })
  })
})
