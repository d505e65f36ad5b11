import { describe, expect, it } from 'vitest'
import { scheduleOf, wavesOf } from '../../../src-main/domain/gpu/waves'

// That the waves equal ncu's on every recorded launch is in occupancy.test.ts.

describe('waves of a grid', () => {
  it('tell how full the last one is and what that costs', () => {
    expect(wavesOf(1024, 132, 2)).toEqual({
      blocks: 1024,
      slots: 264,
      waves: 1024 / 264,
      wholeWaves: 4,
      lastWaveFill: 1024 / 264 - 3,
      efficiency: 1024 / 264 / 4,
    })
  })

  it('have no tail where the grid fills them exactly', () => {
    expect(wavesOf(264, 132, 2)).toMatchObject({ wholeWaves: 1, lastWaveFill: 1, efficiency: 1 })
  })

  it('are a fraction of one where the grid is smaller than the GPU', () => {
    expect(wavesOf(66, 132, 1)).toMatchObject({ waves: 0.5, lastWaveFill: 0.5, efficiency: 0.5 })
  })

  it('are none where nothing fits', () => {
    expect(wavesOf(10, 132, 0)).toBeNull()
    expect(scheduleOf(10, 132, 0)).toBeNull()
  })
})

describe('the schedule of a grid', () => {
  const drawn = (schedule: ReturnType<typeof scheduleOf>) => schedule!.sms.flat()

  it('gives every SM a block before any gets a second', () => {
    const schedule = scheduleOf(5, 4, 2)!
    expect(schedule.sms.map((blocks) => blocks.map(({ block, slot }) => [block, slot]))).toEqual([
      [
        [0, 0],
        [4, 1],
      ],
      [[1, 0]],
      [[2, 0]],
      [[3, 0]],
    ])
  })

  it('places each block once, never two in one slot at a time', () => {
    const schedule = scheduleOf(1000, 132, 2)
    const blocks = drawn(schedule)
    expect(blocks.map(({ block }) => block).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 1000 }, (_, index) => index),
    )
    for (const sm of schedule!.sms) {
      const places = sm.map(({ slot, start }) => `${slot}@${start}`)
      expect(new Set(places).size).toBe(places.length)
    }
  })

  it('leaves out the middle of a long run, and says so, but never its tail', () => {
    const schedule = scheduleOf(16_384, 132, 2)!
    expect(schedule.wholeWaves).toBe(63)
    expect(schedule.drawnWaves).toEqual([0, 1, 2, 3, 4, 5, 61, 62])
    expect(schedule.leftOut).toEqual([6, 61])
    const blocks = drawn(schedule)
    expect(Math.max(...blocks.map(({ block }) => block))).toBe(16_383)
    expect(blocks.length).toBe(16_384 - 55 * 264)
  })
})
