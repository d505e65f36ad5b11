/**
 * Tests the climb, which is a chain of steps between rungs. The product of the step factors is the
 * claimed speedup.
 */
import { describe, expect, it } from 'vitest'
import { climbOf, climbWords, stepTo, stepWords } from '../../../src-main/domain/analysis/climb'
import { inEnglish } from '../../../src-main/domain/text/english'
import { recording, rung, session } from '../../renderer/samples'

describe('the climb of gemm-fp32', () => {
  const recorded = recording('gemm-fp32-h200-4096')
  const climb = climbOf(recorded)!

  it('ends at the fastest rung, with each rung built on the previous one', () => {
    const times = recorded.rungs
      .filter(({ id, timing }) => timing && id !== recorded.ladder.reference)
      .map(({ timing }) => timing!.medianMs)
    expect(climb.rungs.at(-1)!.timing!.medianMs).toBe(Math.min(...times))
    climb.rungs
      .slice(1)
      .forEach((rung, index) => expect(stepTo(recorded, rung)!.from).toBe(climb.rungs[index]))
  })

  it('claims the product of its own steps, not of all steps in the table', () => {
    const product = (factors: number[]) => factors.reduce((all, factor) => all * factor, 1)
    const steps = climb.rungs.slice(1).map((rung) => stepTo(recorded, rung)!.factor)
    expect(product(steps)).toBeCloseTo(climb.factor, 6)
    const all = recorded.rungs.flatMap((rung) => stepTo(recorded, rung)?.factor ?? [])
    expect(Math.abs(product(all) / climb.factor - 1)).toBeGreaterThan(0.1)
  })
})

describe('a climb', () => {
  const reference = rung('00_library', 1)
  const ladder = (rungs: ReturnType<typeof rung>[]) => {
    const made = session([reference, ...rungs])
    return { ...made, ladder: { ...made.ladder, reference: '00_library' } }
  }

  it('omits rungs on other branches', () => {
    const climbed = ladder([
      rung('01_naive', 8),
      rung('02_dead_end', 16, { after: '01_naive' }),
      rung('03_tile', 2, { after: '01_naive' }),
    ])
    const { rungs, factor } = climbOf(climbed)!
    expect(rungs.map(({ id }) => id)).toEqual(['01_naive', '03_tile'])
    expect(factor).toBe(4)
    expect(inEnglish(climbWords(climbed)!)).toBe(
      'The total speedup from 01_naive to 03_tile is 4.00× (steps: 1).',
    )
  })

  it('never starts at the reference, and does not exist for a single rung', () => {
    expect(climbOf(ladder([rung('01_naive', 8)]))).toBeNull()
    expect(climbOf(ladder([]))).toBeNull()
  })

  it('ends even if two rungs build on each other', () => {
    const around = [rung('01', 4, { after: '02' }), rung('02', 2, { after: '01' })]
    expect(climbOf(ladder(around))!.rungs.map(({ id }) => id)).toEqual(['01', '02'])
    const untimed = [rung('01', null, { after: '02' }), rung('02', null, { after: '01' })]
    expect(climbOf(ladder([...untimed, rung('03', 2)]))).toBeNull()
  })
})

describe('a step', () => {
  const made = session([
    rung('01_naive', 8),
    rung('02_tile', 4),
    rung('03_other', 2, { after: '01_naive' }),
    rung('04_untimed', null),
  ])
  const words = (index: number) => {
    const said = stepWords(made, made.rungs[index]!)
    return said && inEnglish(said)
  }

  it('shows its starting rung unless that rung is in the previous row', () => {
    expect(words(0)).toBeNull()
    expect(words(1)).toBe('2.00×')
    expect(words(2)).toBe('4.00× from 01_naive')
  })

  it('does not exist if a time is missing, or between times with different L2 contents', () => {
    expect(stepTo(made, made.rungs[3]!)).toBeNull()
    const mixed = session([rung('01', 8), rung('02', 4)])
    mixed.rungs[0]!.timing!.cacheState = 'warm'
    expect(stepTo(mixed, mixed.rungs[1]!)).toBeNull()
    expect(climbOf(mixed)).toBeNull()
  })
})
