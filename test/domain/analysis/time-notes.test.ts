/** Tests the notes that qualify a time. */
import { describe, expect, it } from 'vitest'
import { ownGpuMs, timeNotes } from '../../../src-main/domain/analysis/time-notes'
import type { Timing } from '../../../src-main/domain/session/session'
import { inEnglish } from '../../../src-main/domain/text/english'
import { rung } from '../../renderer/samples'

const timing = (over: Partial<Timing>): Timing => ({
  ...rung('01', 1).timing!,
  settled: true,
  ...over,
})
const notes = (over: Partial<Timing>) => timeNotes(timing(over)).map(inEnglish)

const state = {
  ...{ smClockLowMHz: null, smClockHighMHz: null, memoryClockMHz: null, temperatureC: null },
  ...{ powerW: null, powerLimitW: null },
}

describe('a time', () => {
  it('has no notes if it settled without disturbance or is from an older session', () => {
    expect(notes({})).toEqual([])
    expect(notes({ clockMHz: 1500, referenceClockMHz: 1510 })).toEqual([])
    expect(notes({ late: 0, includesHost: false, gpuMs: 0.9, emptyMs: 0.002 })).toEqual([])
  })

  it.each<[string, Partial<Timing>]>([
    ['did not settle', { settled: false }],
    ['at the power cap', { gpu: { ...state, heldDownBy: ['powerCap', 'softwareThermal'] } }],
    ['clocks limited', { gpu: { ...state, heldDownBy: ['softwareThermal'] } }],
    ['includes the host: the launch waits for the GPU', { includesHost: true }],
    ['1500 MHz, the reference at 1650 MHz', { clockMHz: 1500.2, referenceClockMHz: 1650 }],
    ['1 late launch left out', { late: 1 }],
    ['7 late launches left out', { late: 7 }],
    ['GPU 2.08 µs', { medianMs: 0.004, gpuMs: 0.00208 }],
  ])('has the note "%s"', (note, over) => {
    expect(notes(over)).toEqual([note])
  })

  it('has every note that applies', () => {
    expect(notes({ settled: false, late: 2, includesHost: true })).toEqual([
      'did not settle',
      'includes the host: the launch waits for the GPU',
      '2 late launches left out',
    ])
  })

  it('below 10 µs has a note with the GPU time, if CUPTI was available', () => {
    expect(ownGpuMs(timing({ medianMs: 0.0099, gpuMs: 0.007 }))).toBe(0.007)
    expect(ownGpuMs(timing({ medianMs: 0.01, gpuMs: 0.007 }))).toBeNull()
    expect(ownGpuMs(timing({ medianMs: 0.004, gpuMs: null }))).toBeNull()
    expect(ownGpuMs(timing({ medianMs: 0.004 }))).toBeNull()
  })
})
