import { describe, expect, it } from 'vitest'
import { parseNcuRep } from '../../../src-main/parsers/ncu/ncu-rep'
import { ncuReport } from '../../captures'
import { said } from '../../support'
import { madeReport, type Ranges } from './made-reports'

const base = ncuReport('launches-two-rungs')
const real = parseNcuRep(base)
const rangesOf = (ranges: Ranges, thread = 466): string[] =>
  parseNcuRep(madeReport(base, [{ thread, ranges }])).launches[0]!.ranges

describe('the NVTX ranges of a launch', () => {
  it('are those of the report that the made ones begin with', () => {
    expect(real.launches.map(({ ranges }) => ranges)).toEqual([['03_a'], ['04_b'], ['04_b']])
    const same = parseNcuRep(madeReport(base, [{ of: 0 }, { of: 1 }, { of: 2 }]))
    expect(same.launches).toEqual(real.launches)
    expect(same.notes).toEqual([])
  })

  it('are its own thread’s, outermost first', () => {
    const pushed = {
      466: [
        ['step', 10],
        ['attention', 12],
      ],
      470: [['of another thread', 20]],
    } as const
    expect(rangesOf({ pushed })).toEqual(['step', 'attention'])
    expect(rangesOf({ pushed }, 470)).toEqual(['of another thread'])
    expect(rangesOf({ pushed }, 471)).toEqual([])
  })

  it('include those that another thread started, in the order of opening', () => {
    const started = [
      ['overlapping', 11],
      ['from another thread', 5],
    ] as const
    expect(rangesOf({ started })).toEqual(['from another thread', 'overlapping'])
    expect(rangesOf({ started, pushed: { 466: [['step', 8]] } })).toEqual([
      'from another thread',
      'step',
      'overlapping',
    ])
  })

  it('are not those of a library’s domain', () => {
    expect(rangesOf({ library: { 466: [['ncclAllReduce', 30]] } })).toEqual([])
  })

  it('are none where a range is empty or has no name', () => {
    expect(rangesOf({})).toEqual([])
    expect(rangesOf({ pushed: { 466: [['', 3]] }, started: [['', 4]] })).toEqual([])
  })
})

it('a launch of another thread is of the same process', () => {
  const { launches, notes } = parseNcuRep(madeReport(base, [{}, { thread: 471 }]))
  expect(launches.map(({ processId }) => processId)).toEqual([466, 466])
  expect(said(notes)).toEqual([])
})
