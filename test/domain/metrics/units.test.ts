import { describe, expect, it } from 'vitest'
import {
  formatBytes,
  formatCount,
  formatGflops,
  formatMs,
  formatRatio,
  formatValue,
  units,
} from '../../../src-main/domain/metrics/units'

describe('a figure reads as an engineer writes it', () => {
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
  ])('%s', (text, expected) => {
    expect(text).toBe(expected)
  })

  it('names its unit, whichever it is', () => {
    for (const unit of units) expect(formatValue(12, unit)).toMatch(/^\d[\d.]*\s?\S*/)
    expect(formatValue(3.88, 'waves')).toBe('3.88 waves')
    expect(formatValue(93.81, '%')).toBe('93.8 %')
  })
})
