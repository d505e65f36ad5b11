/** Tests forecasts of a change against the measured change. */
import { describe, expect, it } from 'vitest'
import { outcomeOf, parseForecast } from '../../../src-main/domain/next/forecast'

const forecast = { move: 'pad', from: '03_tile', to: '03_tile_copy', low: 1, high: 2 }
const outcome = (ms: number | null, to = '03_tile_copy') =>
  outcomeOf(forecast, { id: '03_tile', ms: 10 }, { id: to, ms })

describe('the outcome of a forecast', () => {
  it('is within, slower than, or faster than the predicted range', () => {
    expect(outcome(7)).toEqual({ verdict: 'within', lowMs: 5, highMs: 10, ms: 7 })
    expect(outcome(10.04)!.verdict).toBe('within')
    expect(outcome(10.2)!.verdict).toBe('slower')
    expect(outcome(4)!.verdict).toBe('faster')
  })

  it('is null for a different pair of rungs, or if the changed rung has no time', () => {
    expect(outcome(7, '04_other')).toBeNull()
    expect(outcome(null)).toBeNull()
    expect(outcomeOf(null, { id: '03_tile', ms: 1 }, { id: '03_tile_copy', ms: 1 })).toBeNull()
  })

  it('can be parsed only from valid text', () => {
    expect(parseForecast(JSON.stringify(forecast))).toEqual(forecast)
    for (const text of ['', '{', '{"move":1}', 'null']) expect(parseForecast(text)).toBeNull()
  })
})
