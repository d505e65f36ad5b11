import { describe, expect, it } from 'vitest'
import { parseNcuRawCsv, type NcuLaunch } from '../../../src-main/parsers/ncu/ncu-csv'
import { readNcuCsv } from '../../../src-main/parsers/ncu/ncu-csv-stream'
import { parseNcuRep } from '../../../src-main/parsers/ncu/ncu-rep'
import { ncuReport, rangesCapture, rangesReport } from '../../captures'
import { said } from '../../support'
import { madeReport, type Ranges } from './made-reports'

const base = ncuReport('launches-two-rungs')
const real = parseNcuRep(base)
const rangesOf = (ranges: Ranges, thread = 466): string[] =>
  parseNcuRep(madeReport(base, [{ thread, ranges }])).launches[0]!.ranges

describe("a launch's NVTX ranges", () => {
  it('in the synthetic reports match the ranges in the underlying real report', () => {
    expect(real.launches.map(({ ranges }) => ranges)).toEqual([['03_a'], ['04_b'], ['04_b']])
    const same = parseNcuRep(madeReport(base, [{ of: 0 }, { of: 1 }, { of: 2 }]))
    expect(same.launches).toEqual(real.launches)
    expect(same.notes).toEqual([])
  })

  it("are the ranges of the launch's own thread, outermost first", () => {
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

  it('include ranges that another thread started, in the order in which they were opened', () => {
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

  it('exclude ranges in a library’s domain', () => {
    expect(rangesOf({ library: { 466: [['ncclAllReduce', 30]] } })).toEqual([])
  })

  it('exclude ranges without a name', () => {
    expect(rangesOf({})).toEqual([])
    expect(rangesOf({ pushed: { 466: [['', 3]] }, started: [['', 4]] })).toEqual([])
  })
})

it('a launch from another thread belongs to the same process', () => {
  const { launches, notes } = parseNcuRep(madeReport(base, [{}, { thread: 471 }]))
  expect(launches.map(({ processId }) => processId)).toEqual([466, 466])
  expect(said(notes)).toEqual([])
})

describe.each([
  ['push-pop', 13],
  ['start-end', 6],
  ['threads', 6],
  ['graph-node', 4],
])('ncu’s own report %s', (name, count) => {
  const { launches, notes } = parseNcuRep(rangesReport(name))
  const page = rangesCapture(name)

  it('has the ranges, names, and values that ncu prints', async () => {
    const printed: NcuLaunch[] = []
    await readNcuCsv(once(page), (launch) => printed.push(launch) > 0)
    expect(launches).toHaveLength(count)
    expect(said(notes)).toEqual([])
    const outline = (all: readonly NcuLaunch[]) =>
      all.map(({ processId, kernelName, grid, block, ranges }) => ({
        ...{ processId, kernelName, grid, block },
        ranges: [...ranges].sort(),
      }))
    expect(outline(launches)).toEqual(outline(printed))
    for (const [index, { metrics }] of printed.entries()) {
      const own = launches[index]!.metrics
      for (const [metric, { value, unit }] of Object.entries(metrics)) {
        expect(`${metric} ${own[metric]?.unit}`).toBe(`${metric} ${unit}`)
        if (typeof value === 'number')
          expect(Math.abs((own[metric]!.value as number) - value), metric).toBeLessThan(0.0051)
        else expect(own[metric]!.value, metric).toBe(value)
      }
    }
    if (name !== 'push-pop') expect(parseNcuRawCsv(page).launches).toEqual(printed)
  })
})

it('ncu’s own reports contain the open ranges, in the order in which they were opened', () => {
  const of = (name: string) => parseNcuRep(rangesReport(name)).launches.map(({ ranges }) => ranges)
  expect(of('push-pop').slice(0, 5)).toEqual([
    [],
    ['step'],
    ['step', 'attention'],
    ['step', 'attention'],
    ['step', 'mlp, "wide": a/b'],
  ])
  expect(of('push-pop').slice(11)).toEqual([['step'], []])
  expect(of('start-end')).toEqual([
    ['from another thread'],
    ['from another thread', 'overlapping'],
    ['overlapping'],
    ['overlapping', 'push inside start'],
    ['push first', 'start inside push'],
    [],
  ])
  expect(of('threads')).toEqual([
    ['main thread'],
    ['worker one'],
    ['worker one', 'worker one, inner'],
    [],
    ['worker two'],
    ['main thread'],
  ])
  expect(of('graph-node').map((ranges) => ranges.join())).toEqual([
    'replayed graph',
    'replayed graph',
    'replayed graph',
    '',
  ])
})

async function* once(text: string): AsyncGenerator<string> {
  yield await Promise.resolve(text)
}
