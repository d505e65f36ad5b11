import { describe, expect, it } from 'vitest'
import {
  bareDelta,
  bareFigure,
  columnDecimals,
  factorText,
  figureText,
  fixed,
  formatDate,
  plusMinus,
  rungNumber,
  rungNumbers,
  spreadText,
  unitInLanguage,
} from './format'
import { constantRange, inSlots, type RecycledItem } from './use-recycled'
import { makeScale, share, ticks } from './scale'
import { readLists, writeLists } from './kept-lists'
import { speak } from './words'

describe('figures', () => {
  it.each([
    [134_217_728, 'inst', '134 M inst'],
    [0, 'conflicts', '0 conflicts'],
    [93.81, '%', '93.8 %'],
    [2.704, 'ms', '2.70 ms'],
    [50_900, 'GFLOP/s', '50.9 TFLOP/s'],
    [128, 'registers', '128 registers'],
  ] as const)('%d in %s is shown as %s', (value, unit, text) => {
    expect(figureText(value, unit)).toBe(text)
  })

  it.each([
    ['3.88 waves', '3.88 웨이브'],
    ['34.0 M wavefronts', '34.0 M 웨이브프런트'],
    ['2.70 ms', '2.70 ms'],
    ['rung 12 waves at sectors', 'rung 12 waves at sectors'],
  ])('%s has its unit in the UI language', (english, own) => {
    speak('ko', {
      unit: { waves: '웨이브', wavefronts: '웨이브프런트', sectors: '섹터', pp: '%p' },
    })
    expect(unitInLanguage(english)).toBe(own)
    expect(figureText(4, 'sectors')).toBe('4.00 섹터')
    expect([bareDelta(-11.25, '%'), bareDelta(0.0001, '%')]).toEqual(['−11.3 %p', '< 0.001 %p'])
    speak('en')
    expect(unitInLanguage(english)).toBe(english)
  })

  it.each([
    [134_217_728, 'inst', '134 M'],
    [93.81, '%', '93.8'],
    [3.879, 'waves', '3.88'],
    [0, 'waves', '0.00'],
    [0.004, 'waves', '0.004'],
    [0.0009, 'warps', '0.0009'],
    [0.04, '%', '0.04'],
    [128, 'registers', '128'],
  ] as const)('%d in %s is shown as %s if the unit is in the header', (value, unit, text) => {
    expect(bareFigure(value, unit)).toBe(text)
  })

  it('show differences with a sign, and differences of percentages in percentage points', () => {
    expect(bareDelta(-11.25, '%')).toBe('−11.3 pp')
    expect(bareDelta(-0.0412, '%')).toBe('−0.04 pp')
    expect(bareDelta(0.0001, '%')).toBe('< 0.001 pp')
    expect(bareDelta(0, '%')).toBe('0.0 pp')
    expect(bareDelta(403_000_000, 'inst')).toBe('+403 M')
    expect(bareDelta(0, 'inst')).toBe('0')
  })

  it.each([
    [0.25, '×0.25'],
    [1, '×1.00'],
    [12.34, '×12.3'],
    [120.4, '×120'],
    [0.0219, '×0.0219'],
    [36_636, '×36.6 k'],
    [0, '×0'],
    [0.000_000_2, '×0.0000002'],
  ])('the factor %d is shown as %s', (ratio, text) => {
    expect(factorText(ratio)).toBe(text)
  })

  it('show spreads as a percentage', () => {
    expect(spreadText(0.0031)).toBe('0.31 %')
    expect(spreadText(0.000023)).toBe('0.002 %')
    expect(spreadText(0)).toBe('0.00 %')
  })
})

describe('columns', () => {
  it('have enough decimals to give the smallest value three significant digits', () => {
    expect(columnDecimals([264.3, 2.69])).toBe(2)
    expect(columnDecimals([0.0421, 1.2])).toBe(4)
    expect(columnDecimals([5000, 700])).toBe(0)
    expect(columnDecimals([])).toBe(0)
    expect(columnDecimals([0])).toBe(0)
  })

  it('have thousands separators and a fixed number of decimals', () => {
    expect(fixed(50_900.4)).toBe('50,900')
    expect(fixed(2.6, 2)).toBe('2.60')
  })
})

describe('names', () => {
  it('spell out the month of a date, but do not change other text', () => {
    expect(formatDate('2026-11-21T02:30:00.000Z', 'UTC')).toBe('21 Nov 2026')
    expect(formatDate('unknown')).toBe('unknown')
  })

  it('number a rung by its id, or by its position if the id has no number', () => {
    expect(rungNumber('05_thread_tile_2d', 3)).toBe('05')
    expect(rungNumber('softmax', 3)).toBe('03')
    expect(rungNumber('03_a', 1)).toBe('03')
    // The digits at the start of a commit id are not a rung number.
    expect(['106f90b', '1064523', '2aeac49'].map(rungNumber)).toEqual(['00', '01', '02'])
  })

  it('distinguish rungs with the same number', () => {
    const rungs = ['05_tile', '06_float4', '05_tile-edit1', '05_tile-edit2'].map((id) => ({ id }))
    expect(rungNumbers(rungs)).toEqual(['05', '06', '05b', '05c'])
  })
})

it('the ± value is half the interquartile range', () => {
  expect(plusMinus(0.032)).toBe('±1.60 %')
})

describe('a linear scale', () => {
  const scale = makeScale('linear', [520, 50_900, 51_500])

  it('starts at zero and ends at the largest value', () => {
    expect(share(scale, 0)).toBe(0)
    expect(share(scale, 51_500)).toBe(1)
    expect(share(scale, 25_750)).toBeCloseTo(0.5)
  })

  it('has ticks at round numbers within its range', () => {
    expect(ticks(scale)).toEqual([0, 20_000, 40_000])
  })
})

describe('a logarithmic scale', () => {
  const scale = makeScale('log', [520, 51_500])

  it('starts at the power of ten below the smallest value', () => {
    expect(scale.min).toBe(100)
    expect(share(scale, 520)).toBeGreaterThan(0.2)
    expect(share(scale, 51_500)).toBe(1)
  })

  it('places values that it cannot show at the start of the scale', () => {
    expect(share(scale, 0)).toBe(0)
    expect(share(scale, 3)).toBe(0)
  })

  it('has the powers of ten as ticks', () => {
    expect(ticks(scale)).toEqual([100, 1000, 10_000])
  })

  it('spans a decade if all values are equal', () => {
    expect(ticks(makeScale('log', [1000]))).toEqual([1000, 10_000])
  })
})

it('a scale without values can still be drawn', () => {
  for (const kind of ['linear', 'log'] as const)
    for (const tick of ticks(makeScale(kind, []))) expect(Number.isFinite(tick)).toBe(true)
})

describe('stored lists', () => {
  it('are stored separately for each key, and are removed by writing null', () => {
    const one = writeLists([], 'a', ['x'])
    const two = writeLists(readLists(one), 'b', ['y', 'z'])
    expect(readLists(two)).toEqual([
      ['a', ['x']],
      ['b', ['y', 'z']],
    ])
    expect(readLists(writeLists(readLists(two), 'a', null))).toEqual([['b', ['y', 'z']]])
  })

  it('are limited to the fifty that changed most recently', () => {
    let text = ''
    for (let index = 0; index < 60; index += 1)
      text = writeLists(readLists(text), `${index}`, ['x'])
    expect(readLists(text).map(([key]) => key)).toEqual(
      Array.from({ length: 50 }, (_, index) => `${index + 10}`),
    )
  })

  it('are ignored if the stored text is invalid', () => {
    for (const text of ['', '{', '{"a":["x"]}', '[["a"]]', '[["a",[1]]]', '[[1,["x"]]]'])
      expect(readLists(text), text).toEqual([])
    expect(readLists('[["a",["x"]],null,["b","c"]]')).toEqual([['a', ['x']]])
  })
})

describe('recycled rows', () => {
  const item = (index: number) => ({
    key: index,
    index,
    start: 10 * index,
    end: 10 * index + 10,
    size: 10,
    lane: 0,
  })
  const items = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, at) => item(from + at))
  const places = (list: readonly RecycledItem[]) =>
    list.map(({ slot, index }) => `${slot}:${index}`)

  it('have the same number of elements at the ends and in the middle of the list', () => {
    const range = constantRange()
    const lengths = [
      [0, 4],
      [3, 8],
      [50, 54],
      [96, 99],
    ].map(([startIndex, endIndex]) =>
      range({ startIndex: startIndex!, endIndex: endIndex!, overscan: 2, count: 100, lanes: 1 }),
    )
    expect(lengths.map((own) => own.length)).toEqual([9, 10, 10, 10])
    expect(lengths.map((own) => own[0])).toEqual([0, 1, 48, 90])
    expect(range({ startIndex: 0, endIndex: 2, overscan: 2, count: 3, lanes: 1 })).toEqual([
      0, 1, 2,
    ])
  })

  it('keep their elements in place while scrolling, and reuse the elements of removed rows', () => {
    const before = inSlots([], items(0, 4), false)
    expect(places(before)).toEqual(['0:0', '1:1', '2:2', '3:3', '4:4'])
    const further = inSlots(before, items(2, 6), true)
    expect(places(further)).toEqual(['0:5', '1:6', '2:2', '3:3', '4:4'])
    expect(further[0]!.start).toBe(50)
  })

  it('are in order at rest and when scrolling begins', () => {
    const scrolled = inSlots(inSlots([], items(0, 4), false), items(2, 6), true)
    const rested = inSlots(scrolled, items(2, 6), false)
    expect(places(rested)).toEqual(['2:2', '3:3', '4:4', '0:5', '1:6'])
    expect(places(inSlots(rested, items(3, 7), true))).toEqual(['2:7', '3:3', '4:4', '0:5', '1:6'])
  })

  it('get new elements when more rows are shown, and release them when fewer rows are shown', () => {
    const more = inSlots(inSlots([], items(0, 2), false), items(1, 5), true)
    expect(places(more)).toEqual(['0:3', '1:1', '2:2', '3:4', '4:5'])
    expect(places(inSlots(more, items(4, 5), true))).toEqual(['3:4', '4:5'])
  })
})
