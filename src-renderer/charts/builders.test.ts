/** Tests the chart options passed to ECharts: what is drawn and what is left out. */
import { describe, expect, it } from 'vitest'
import { dotRows } from './dot-rows'
import { linePanels, type LinePanelsSpec } from './line-panels'
import { legendOf, withHidden } from './chart-links'
import { niceEnd, spreadLabels } from './labels'
import { waveChart, wavePlaces } from './wave-chart'
import { inkOn, stackedBars } from './stacked-bars'
import { historyChart } from './history-chart'
import { palette, size, seriesOf } from '../../test/renderer/charts'

describe('stacked bars', () => {
  const draw = (width: number) =>
    seriesOf(
      stackedBars({
        rows: [
          { label: '01 Naive', parts: [90, 2], end: '92' },
          { label: '02 Tile', parts: [10, 0], end: '10' },
        ],
        series: [{ name: 'long scoreboard' }, { name: 'barrier' }],
        axis: 'warps',
        valueText: String,
      })(palette, { width, height: 200 }),
    )

  it('label a part only if the label fits', () => {
    expect(draw(800)[0]!.data.map(({ label }) => label!.show)).toEqual([true, false])
    expect(draw(1000)[1]!.data.map(({ label }) => label!.show)).toEqual([false, false])
  })

  it('measure Chinese characters as squares', () => {
    const named = (name: string) =>
      seriesOf(
        stackedBars({
          rows: [{ label: '03', parts: [94, 6], end: '100' }],
          series: [{ name: 'MIO throttle' }, { name, rest: true }],
          axis: 'warps',
          valueText: String,
        })(palette, { width: 1000, height: 200 }),
      )[1]!.data.map(({ label }) => label!.show)
    // In 44 pixels, four Latin letters fit, but four Chinese characters do not.
    expect([named('rest'), named('其他原因')]).toEqual([[true], [false]])
  })

  it('show their sum at the end', () => {
    expect(
      draw(800)
        .at(-1)!
        .data.map(({ label }) => label!.formatter),
    ).toEqual(['92', '10'])
  })

  it('have labels in a color that is legible on the bar', () => {
    expect(inkOn('#06402c')).toBe('#ffffff')
    expect(inkOn('#f0a788')).toBe('#000000')
  })
})

describe('rows of marks', () => {
  const draw = (values: (number | null)[], strong?: number[]) =>
    seriesOf(
      dotRows({
        rows: [{ label: '01 Naive', values, strong }],
        kinds: ['L1', 'L2', 'DRAM'],
        axis: 'bytes',
        scale: 'log',
        valueText: String,
      })(palette, size),
    )

  it('have no mark for a missing value or for a zero on a logarithmic axis', () => {
    const drawn = draw([null, 0, 8]).filter(({ name, data }) => name !== '' && data.length > 0)
    expect(drawn.map(({ name }) => name)).toEqual(['DRAM'])
  })

  it('label only the limiting resources', () => {
    const named = draw([2, 2, 8], [0, 1]).flatMap(({ data }) =>
      data.flatMap(({ label }) => (label?.show ? [label.formatter] : [])),
    )
    expect(named).toEqual(['L1, L2 2'])
  })
})

describe('lines', () => {
  const spec = (lines: LinePanelsSpec['panels'][number]['lines']): LinePanelsSpec => ({
    places: ['1024³', '4096³'],
    axis: 'size',
    panels: [{ axis: 'TFLOP/s', lines, valueText: String, tickText: String }],
  })
  const draw = (lines: LinePanelsSpec['panels'][number]['lines']) =>
    seriesOf(linePanels(spec(lines))(palette, size))

  it('have a gap for a missing value, never a zero', () => {
    const [line] = draw([{ name: 'a', values: [null, 5], colour: 0 }])
    expect(line!.data.map(({ value }) => value)).toEqual(['-', 5])
  })

  it('are labeled once, at their last value', () => {
    const [line] = draw([{ name: 'a', values: [5, null], colour: 0 }])
    expect(line!.data.map(({ label }) => label!.show)).toEqual([true, false])
  })

  it('have distinct colors, dashes, and labeled symbols for up to sixteen series', () => {
    const drawn = draw(
      Array.from({ length: 16 }, (_, colour) => ({
        name: `rung ${colour}`,
        values: [1, 2],
        colour,
      })),
    )
    const looks = drawn.map((line) => {
      const { lineStyle, symbol } = line as unknown as {
        lineStyle: { color: string; type: unknown }
        symbol: string
      }
      return JSON.stringify([lineStyle.color, lineStyle.type, symbol])
    })
    expect(new Set(looks).size).toBe(16)
    const names = drawn.map(({ data }) => data[1]!.label!.formatter)
    expect([names[0], names[6], names[12]]).toEqual([
      '{line|●} rung 0',
      '{line|■} rung 6',
      '{line|▲} rung 12',
    ])
  })

  it('have labels that do not overlap even if the lines end at the same value', () => {
    const ends = draw([
      { name: 'a', values: [1, 5], colour: 0 },
      { name: 'b', values: [1, 5], colour: 1 },
      { name: 'c', values: [1, 5], colour: 2 },
    ]).map(({ data }) => data[1]!.label!.offset![1]!)
    const sorted = [...ends].sort((x, y) => x - y)
    for (let index = 1; index < sorted.length; index += 1)
      expect(sorted[index]! - sorted[index - 1]!).toBeGreaterThanOrEqual(14)
  })
})

describe('label positions', () => {
  it('stay unchanged if there is room', () => {
    expect(spreadLabels([10, 50, 90], 15, 0, 100)).toEqual([10, 50, 90])
  })

  it('are spread evenly around their common position', () => {
    expect(spreadLabels([50, 50], 10, 0, 100)).toEqual([45, 55])
  })

  it('stay within the panel and keep their order', () => {
    const places = spreadLabels([0, 0, 0, 99], 20, 0, 100)
    expect(places).toEqual([0, 20, 40, 99])
  })

  it('share the available space if not all labels fit', () => {
    expect(spreadLabels([0, 0, 0], 50, 0, 60)).toEqual([0, 30, 60])
  })

  it('use an axis that ends at a round number', () => {
    expect([0.83, 1.09, 51.2, 100].map(niceEnd)).toEqual([1, 1.2, 60, 100])
    expect(niceEnd(0)).toBe(1)
  })
})

describe('hidden series', () => {
  it('are not drawn but appear in the legend', () => {
    const option = stackedBars({
      rows: [{ label: '01 Naive', parts: [2, 3], end: '5' }],
      series: [{ name: 'barrier' }, { name: 'wait' }],
      axis: 'warps',
      valueText: String,
    })(palette, size)
    expect(legendOf(option).map(({ name }) => name)).toEqual(['barrier', 'wait'])
    expect(withHidden(option, ['wait']).legend).toEqual([
      expect.objectContaining({ selected: { wait: false } }),
    ])
  })
})

describe('stacked bars of differences', () => {
  it('extend, like the axis, to both sides of zero', () => {
    const option = stackedBars({
      rows: [{ label: '01 Naive', parts: [-2, 3], end: '+1' }],
      series: [{ name: 'barrier' }, { name: 'wait' }],
      axis: 'warps',
      valueText: String,
      isDifference: true,
    })(palette, size)
    expect(option.xAxis).toMatchObject({ min: -2, max: 3 })
  })
})

describe('waves', () => {
  it('have a gap for omitted waves', () => {
    const { start, end } = wavePlaces([0, 1, 40, 41])
    expect([...start.values()]).toEqual([0, 1, 2.5, 3.5])
    expect(end).toBe(4.5)
  })

  it('are drawn block by block', () => {
    const [blocks] = seriesOf(
      waveChart({
        sms: [[{ block: 0, slot: 0, wave: 0 }], [{ block: 1, slot: 0, wave: 0 }]],
        slots: 1,
        waves: [0],
        lastWave: 0,
        smAxis: 'SM',
        waveAxis: 'wave',
        leftOut: '',
        blockText: () => ({ title: '', lines: [] }),
      })(palette, size),
    )
    expect(blocks!.data).toEqual([
      [0, 0],
      [0, 1],
    ])
    // By default, ECharts draws a large series over several frames.
    expect(blocks).toMatchObject({ progressive: 0 })
  })
})

describe('a history chart', () => {
  const draw = (times: number[], at: number[] = []) =>
    historyChart({
      points: times.map((ms, day) => ({ date: `day ${day}`, session: `s${day}`, ms })),
      steps: at.map((index) => ({ at: index, text: '+3 %' })),
      axis: { time: 'Time', session: 'Session' },
      timeText: (ms) => `${ms} ms`,
    })(palette, size) as unknown as {
      series: {
        data: number[]
        markLine?: { data: { xAxis: number; label: { formatter: string } }[] }
      }[]
      yAxis: { min: number; max: number }
    }

  it('shows the level between steps, and the size of each step', () => {
    const { series } = draw([1, 1.2, 1, 2, 2, 2.4], [3])
    expect(series[0]!.data).toEqual([1, 1, 1, 2, 2, 2])
    expect(series[1]!.data).toEqual([1, 1.2, 1, 2, 2, 2.4])
    expect(series[0]!.markLine!.data).toEqual([{ xAxis: 3, label: { formatter: '+3 %' } }])
  })

  it('shows steps of one percent without magnifying noise', () => {
    const { yAxis } = draw([100, 101])
    expect(yAxis.max - yAxis.min).toBeLessThan(5)
    const flat = draw([100, 100]).yAxis
    expect(flat.max - flat.min).toBeCloseTo(2)
  })
})
