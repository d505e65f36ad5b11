/** Tests the ranking of a real sweep: 286 points on two H200s. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { heightsOf } from '../../charts/parallel-chart'
import { barOf, paramWords, sameValues, timedInTurn, timesAsFast } from './tuning-figures'
import { strategyNames } from '../../../src-main/domain/tune/search-strategy'
import en from '../../locales/en/screens.json'
import { KeptTuning } from '../../../src-main/domain/tune/kept-tuning'

const file = new URL('../../../test/captures/tune-h200.json', import.meta.url)
const { report } = KeptTuning.parse(JSON.parse(readFileSync(file, 'utf8')))
const names = report.space.axes.map(({ name }) => name)

describe('the tuning screen', () => {
  it('sorts the finalists by time, including the rung’s default values', () => {
    const again = timedInTurn(report)
    expect(again.map(({ own }) => own)).toEqual([false, false, false, false, false, true])
    expect(sameValues(again[0]!.params, report.winner, names)).toBe(true)
    const gain = timesAsFast(again[0]!)!
    expect([gain.times, gain.low, gain.high].map((x) => x.toFixed(3))).toEqual([
      '1.131',
      '1.130',
      '1.132',
    ])
    expect(timesAsFast(again.at(-1)!)).toBeNull()
  })

  it('draws a bar for each point that has a time, and none for the other points', () => {
    const slowest = Math.max(...report.rows.map(({ medianMs }) => medianMs ?? 0))
    const bars = report.rows.map((row) => barOf(row, slowest))
    expect(bars.filter((bar) => bar === null)).toHaveLength(12)
    expect(Math.max(...bars.map((bar) => bar?.share ?? 0))).toBe(1)
  })

  it('places each point on every axis, and the fastest point at the end of the time axis', () => {
    const points = report.rows.flatMap(({ params, medianMs }) =>
      medianMs === null ? [] : [{ params, ms: medianMs }],
    )
    const heights = heightsOf({ axes: report.space.axes, points })
    expect(heights).toHaveLength(274)
    for (const line of heights) {
      expect(line).toHaveLength(names.length + 1)
      expect(Math.min(...line)).toBeGreaterThanOrEqual(0)
      expect(Math.max(...line)).toBeLessThanOrEqual(1)
    }
    expect([heights[0]!.at(-1), heights.at(-1)!.at(-1)]).toEqual([0, 1])
    const [low, high] = [64, 256].map((value) =>
      points.findIndex(({ params }) => params['BM'] === value),
    )
    expect(heights[low!]![0]).toBeLessThan(heights[high!]![0]!)
  })

  it('formats the winner as options of the run command', () => {
    expect(paramWords(report)).toMatch(
      /^--param 08_warp_tile\.BM=128 --param 08_warp_tile\.BN=128 /,
    )
    expect(paramWords({ ...report, winner: null })).toBe('')
  })
})

it('the UI has a word for every sweep strategy', () => {
  expect(Object.keys(en.tunings.strategies)).toEqual([...strategyNames])
})
