/** Chart options as they are handed to ECharts: what is drawn, and what is left out. */
import { describe, expect, it } from 'vitest'
import { dotRows } from './dot-rows'
import { linePanels, type LinePanelsSpec } from './line-panels'
import { labelPlaces, rooflineChart, rooflineExtent } from './roofline-chart'
import { niceEnd, spreadLabels } from './spread-labels'
import { inkOn, stackedBars } from './stacked-bars'
import { waveChart, wavePlaces } from './wave-chart'
import { palette } from '../../test/renderer/chart-samples'

const size = { width: 800, height: 400 }
type Series = {
  type: string
  name: string
  data: {
    value: unknown
    label?: { show?: boolean; formatter?: string; position?: string; offset?: number[] }
  }[]
}
const seriesOf = (option: { series?: unknown }) => option.series as Series[]

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

  it('name a part only where the name fits into it', () => {
    expect(draw(800)[0]!.data.map(({ label }) => label!.show)).toEqual([true, false])
    expect(draw(1000)[1]!.data.map(({ label }) => label!.show)).toEqual([false, false])
  })

  it('bear their sum at the end', () => {
    expect(
      draw(800)
        .at(-1)!
        .data.map(({ label }) => label!.formatter),
    ).toEqual(['92', '10'])
  })

  it('write in the ink that can be read on the colour', () => {
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

  it('draw no mark for a figure that is not there, nor a zero on a logarithmic axis', () => {
    const drawn = draw([null, 0, 8]).filter(({ name, data }) => name !== '' && data.length > 0)
    expect(drawn.map(({ name }) => name)).toEqual(['DRAM'])
  })

  it('name each limit that is met first', () => {
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

  it('have a gap where there is no figure, never a zero', () => {
    const [line] = draw([{ name: 'a', values: [null, 5], colour: 0 }])
    expect(line!.data.map(({ value }) => value)).toEqual(['-', 5])
  })

  it('are named once, at their last figure', () => {
    const [line] = draw([{ name: 'a', values: [5, null], colour: 0 }])
    expect(line!.data.map(({ label }) => label!.show)).toEqual([true, false])
  })

  it('that end together have names that do not lie on each other', () => {
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

describe('places of labels', () => {
  it('stay where they belong when there is room', () => {
    expect(spreadLabels([10, 50, 90], 15, 0, 100)).toEqual([10, 50, 90])
  })

  it('are pushed apart evenly about where they belong', () => {
    expect(spreadLabels([50, 50], 10, 0, 100)).toEqual([45, 55])
  })

  it('stay within the panel, in their order', () => {
    const places = spreadLabels([0, 0, 0, 99], 20, 0, 100)
    expect(places).toEqual([0, 20, 40, 99])
  })

  it('share what room there is when it is too small', () => {
    expect(spreadLabels([0, 0, 0], 50, 0, 60)).toEqual([0, 30, 60])
  })

  it('of an axis end at a round figure', () => {
    expect([0.83, 1.09, 51.2, 100].map(niceEnd)).toEqual([1, 1.2, 60, 100])
    expect(niceEnd(0)).toBe(1)
  })
})

describe('a roofline', () => {
  const point = { mark: '01', title: 'Naive', x: 20, y: 500, lines: [], quiet: false }
  const spec = {
    points: [point, { ...point, mark: '00', title: 'cuBLAS', x: 300, y: 51_000, quiet: true }],
    bandwidth: { value: 4500, name: 'DRAM' },
    compute: { value: 64_000, name: 'FP32' },
    xAxis: 'x',
    yAxis: 'y',
    xText: String,
    yText: String,
  }

  it('joins the rungs and leaves the reference beside the path', () => {
    const [path, beside] = seriesOf(rooflineChart(spec)(palette, size))
    expect(path!.data.map(({ value }) => value)).toEqual([[20, 500]])
    expect(beside!.data.map(({ value }) => value)).toEqual([[300, 51_000]])
  })

  it('has its ridge and every point within the window, which ends at powers of ten', () => {
    const { xMin, xMax, yMin, yMax } = rooflineExtent(spec)
    expect([xMin, xMax, yMin, yMax]).toEqual([1, 1000, 100, 100_000])
  })

  it('names points that lie on each other one below the other, each beside its point where it can be', () => {
    const close = [500, 505, 510, 40_000].map((y) => ({ ...point, y }))
    const places = labelPlaces({ ...spec, points: close }, { width: 900, height: 600 })
    const pixels = (y: number) => (518 * Math.log(100_000 / y)) / Math.log(100_000 / 100)
    const at = places.map(({ y }) => pixels(y)).sort((a, b) => a - b)
    for (const [index, place] of at.slice(1).entries())
      expect(place - at[index]!).toBeGreaterThan(13.9)
    expect(places.map(({ moved }) => moved)).toEqual([true, false, true, false])
    expect(places[3]!.y).toBeCloseTo(40_000, 6)
  })

  it('has the slope’s name on the side where no rung can be, if it fits there', () => {
    const sideAt = (width: number) => {
      const [slope] = seriesOf(rooflineChart(spec)(palette, { ...size, width })).filter(
        ({ name }) => name === 'DRAM',
      )
      return slope!.data[1]!.label!.position
    }
    expect([sideAt(800), sideAt(360)]).toEqual(['left', 'right'])
  })

  it('draws only the roofs that are known', () => {
    const roofs = (of: typeof spec | { bandwidth: null }) =>
      seriesOf(rooflineChart({ ...spec, ...of })(palette, size))
        .map(({ name }) => name)
        .filter((name) => name !== '')
    expect(roofs(spec)).toEqual(['DRAM', 'FP32'])
    expect(roofs({ bandwidth: null })).toEqual(['FP32'])
  })
})

describe('waves', () => {
  it('leave a gap where waves are left out', () => {
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
  })
})
