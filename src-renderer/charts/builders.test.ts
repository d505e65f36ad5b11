/** Chart options as they are handed to ECharts: what is drawn, and what is left out. */
import { describe, expect, it } from 'vitest'
import { dotRows } from './dot-rows'
import { linePanels, type LinePanelsSpec } from './line-panels'
import { beyondFrame, logTicks, pannedSpan, unzoomed, valueAt, wholeAxis, zoomedSpan } from './zoom'
import { distanceToLine, legendOf, rungJoins, rungPoints, withHidden } from './chart-links'
import { niceEnd, spreadLabels } from './labels'
import { labelPlaces, rooflineChart, rooflineExtent, type RooflineSpec } from './roofline-chart'
import { waveChart, wavePlaces } from './wave-chart'
import type { Palette } from './chart'
import { inkOn, stackedBars } from './stacked-bars'
import { placeLabels, widthOf } from './point-labels'
import { historyChart } from './history-chart'
import { withZoom } from './zoom-axes'

const palette: Palette = {
  text: '#111111',
  text2: '#222222',
  text3: '#333333',
  rule: '#dddddd',
  ruleStrong: '#cccccc',
  bar: '#0000aa',
  barQuiet: '#999999',
  mark: '#000000',
  accent: '#00aa00',
  surface: '#ffffff',
  rest: '#777777',
  series: ['#100000', '#200000', '#300000', '#400000', '#500000', '#600000'],
  font: 'sans-serif',
}

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

  it('reckon with letters as wide as they are high', () => {
    const named = (name: string) =>
      seriesOf(
        stackedBars({
          rows: [{ label: '03', parts: [94, 6], end: '100' }],
          series: [{ name: 'MIO throttle' }, { name, rest: true }],
          axis: 'warps',
          valueText: String,
        })(palette, { width: 1000, height: 200 }),
      )[1]!.data.map(({ label }) => label!.show)
    // 44 pixels of room: four Latin letters fit, four Chinese ones do not.
    expect([named('rest'), named('其他原因')]).toEqual([[true], [false]])
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
  const point = {
    rung: '01_naive',
    mark: '01',
    title: 'Naive',
    x: 20,
    y: 500,
    ms: 1,
    lines: [],
    quiet: false,
  }
  const reference = {
    ...point,
    rung: '00_cublas',
    mark: '00',
    title: 'cuBLAS',
    x: 300,
    y: 51_000,
    quiet: true,
  }
  const dram = {
    name: 'DRAM',
    points: [point, reference],
    bandwidth: { value: 4500, name: 'DRAM roof' },
  }
  const spec: RooflineSpec = {
    paths: [dram],
    compute: { value: 64_000, name: 'FP32' },
    climb: ['01_naive'],
    xAxis: 'x',
    yAxis: 'y',
    xText: String,
    yText: String,
  }
  const labelsOf = (option: { series?: unknown }) =>
    seriesOf(option).flatMap(({ data }) =>
      data.flatMap(({ label }) => (label?.show ? [label.formatter] : [])),
    )

  it('joins the rungs and leaves the reference beside the path', () => {
    const [path, beside] = seriesOf(rooflineChart(spec)(palette, size))
    expect(path!.data.map(({ value }) => value)).toEqual([[20, 500]])
    expect(beside!.data.map(({ value }) => value)).toEqual([[300, 51_000]])
  })

  it('has a line from each rung of the climb to the next, that leads to the two', () => {
    const next = { ...point, rung: '02_coalesced', mark: '02', x: 40, y: 6000 }
    const last = { ...point, rung: '03_tile', mark: '03', x: 30, y: 9000 }
    const aside = { ...point, rung: '02_elsewhere', mark: '02', x: 50, y: 700 }
    const points = [reference, point, aside, next, last]
    const climb = ['01_naive', '02_coalesced', '03_tile']
    const joins = rungJoins(
      rooflineChart({ ...spec, paths: [{ ...dram, points }], climb })(palette, size),
    )
    expect(joins.map(({ a, b }) => [a, b])).toEqual([
      ['01_naive', '02_coalesced'],
      ['02_coalesced', '03_tile'],
    ])
    expect(joins[1]).toMatchObject({ name: 'DRAM', from: [40, 6000], to: [30, 9000] })
    // Kernels of a program climb nothing.
    const apart = rooflineChart({ ...spec, paths: [{ ...dram, points }], climb: [] })(palette, size)
    expect(rungJoins(apart)).toEqual([])
    expect(seriesOf(apart)[1]!.data).toHaveLength(5)
    // Beside the middle, and beyond the ends.
    expect(distanceToLine([5, 3], [0, 0], [10, 0])).toBe(3)
    expect(distanceToLine([13, 4], [0, 0], [10, 0])).toBe(5)
    expect(distanceToLine([3, 4], [0, 0], [0, 0])).toBe(5)
  })

  it('names a point beside the lines, and on one only where nothing else is near', () => {
    const room = { left: 0, right: 800, top: 0, bottom: 400 }
    const at = { x: 400, y: 200, texts: ['12 Software pipelining'] }
    const [free] = placeLabels([at], room)
    expect(free).toMatchObject({ x: 410, y: 200, moved: false })
    const [beside] = placeLabels([at], room, [], [[400, 200, 800, 200]])
    expect(Math.abs(beside!.y - 200) > 7 || beside!.x < 400).toBe(true)
    const hatch = Array.from({ length: 80 }, (_, y) => [0, 5 * y, 800, 5 * y] as const)
    expect(placeLabels([at], room, [], hatch)[0]).toMatchObject({ text: '12 Software pipelining' })
    // Never on a roof: sooner shortened, or not there.
    expect(placeLabels([at], room, [], [], undefined, hatch)[0]).toBeNull()
  })

  it('gives labels of capitals the room that they take', () => {
    // As a browser draws them: less would lie on the point beside it.
    expect(widthOf('55 WGMMA and TMA')).toBeGreaterThanOrEqual(112)
    expect(widthOf('illicit')).toBeLessThan(36)
  })

  it('puts labels apart that stand side by side', () => {
    const room = { left: 0, right: 262, top: 0, bottom: 60 }
    // The second has room on its left alone, where the label of the first ends.
    const marks = [
      { x: 200, y: 30, texts: ['14'] },
      { x: 245, y: 30, texts: ['16'] },
    ]
    const [first, second] = placeLabels(marks, room)
    const isBeside = Math.abs(second!.y - first!.y) < 14
    expect(isBeside && Math.abs(second!.x - first!.x) < widthOf('14') + 3).toBe(false)
  })

  it('writes the name of a roof on no roof, also where there is little room', () => {
    const low = { width: 800, height: 170 }
    const { yMin, yMax } = rooflineExtent(spec)
    const down = (y: number) =>
      ((low.height - 44 - 48) * Math.log(yMax / y)) / Math.log(yMax / yMin)
    const name = seriesOf(rooflineChart(spec)(palette, low))
      .flatMap(({ data }) => data)
      .find(({ label }) => label?.formatter === 'FP32')!
    const [, y] = name.value as [number, number]
    expect(Math.abs(down(y) - down(64_000))).toBeGreaterThanOrEqual(7)
  })

  it('is framed on its points, with a roof of arithmetic that is near', () => {
    const { xMin, xMax, yMin, yMax } = rooflineExtent(spec)
    expect([xMin, xMax]).toEqual([20 / 1.5, 450])
    expect([yMin, yMax]).toEqual([500 / 1.5, 64_000 * 1.35])
    const far = rooflineExtent({ ...spec, compute: { value: 990_000, name: 'tensor' } })
    expect(far.yMax).toBeCloseTo(51_000 * 1.35, 6)
    // Rungs that hardly differ do not fill the drawing.
    const close = rooflineExtent({ ...spec, paths: [{ ...dram, points: [point] }], compute: null })
    expect(close.xMax / close.xMin).toBeCloseTo(10, 6)
  })

  it('names points such that no name lies on another or on a point', () => {
    const points = Array.from({ length: 14 }, (_, index) => ({
      ...point,
      mark: String(index),
      title: 'Shared-memory tile',
      x: 20 * 1.05 ** index,
      y: 500 * 1.03 ** (index % 5),
    }))
    const room = { width: 900, height: 600 }
    const places = labelPlaces({ ...spec, paths: [{ ...dram, points }] }, room)
    const found = places.filter((place) => place !== null)
    expect(found.length).toBeGreaterThan(10)
    const { xMin, xMax, yMin, yMax } = rooflineExtent({ ...spec, paths: [{ ...dram, points }] })
    const boxes = found.map(({ text, x, y }) => {
      const left = ((900 - 88) * Math.log(x / xMin)) / Math.log(xMax / xMin)
      const middle = ((600 - 92) * Math.log(yMax / y)) / Math.log(yMax / yMin)
      return { left, right: left + text.length * 6, top: middle - 6.9, bottom: middle + 6.9 }
    })
    for (const [index, a] of boxes.entries())
      for (const b of boxes.slice(index + 1))
        expect(a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom).toBe(
          false,
        )
  })

  it('leaves names out where there is no room, and draws every point of 300', () => {
    const points = Array.from({ length: 300 }, (_, index) => ({
      ...point,
      rung: `r${index}`,
      mark: String(index),
      x: 20 + (index % 20),
      y: 500 + index,
    }))
    const option = rooflineChart({ ...spec, paths: [{ ...dram, points }] })(palette, size)
    expect(seriesOf(option)[1]!.data.length).toBe(300)
    const labels = labelsOf(option)
    expect(labels.length).toBeLessThan(250)
    // Titles of so many would cover the points.
    expect(labels.filter((text) => text!.includes('Naive'))).toEqual([])
  })

  it('names the hottest of those that coincide, counts the rest and lists them at its mark', () => {
    const points = Array.from({ length: 600 }, (_, index) => ({
      ...point,
      rung: `k${index}`,
      mark: String(index),
      title: `kernel ${index}`,
      x: [5, 20, 80][index % 3]!,
      y: [400, 900, 4000][index % 3]!,
      ms: index === 301 ? 9 : 1 + index / 1000,
    }))
    const option = rooflineChart({
      ...spec,
      paths: [{ ...dram, points }],
      climb: [],
      alsoHere: (names) => `also ${names.length}: ${names[0]}`,
    })(palette, size)
    const named = labelsOf(option).filter((text) => /^\d/.test(text!))
    expect(named).toEqual(['301 +199', '597 +199', '599 +199'])
    const marks = seriesOf(option).flatMap(
      ({ data }) => data as { rung?: string; tip?: { lines: string[] } }[],
    )
    expect(marks.find(({ rung }) => rung === 'k301')!.tip!.lines).toContain(
      'also 199: 598 kernel 598',
    )
    // Drawn last, it is what the pointer meets.
    expect(marks.filter(({ rung }) => rung).at(-1)!.rung).toBe('k301')
  })

  it('draws only the roofs that are known', () => {
    const named = (over: Partial<RooflineSpec>) =>
      labelsOf(rooflineChart({ ...spec, ...over })(palette, size)).filter(
        (text) => !/^\d/.test(text ?? ''),
      )
    expect(named({})).toEqual(['FP32', 'DRAM roof'])
    expect(named({ paths: [{ ...dram, bandwidth: null }] })).toEqual(['FP32'])
    expect(named({ compute: null })).toEqual(['DRAM roof'])
  })

  it('has every level at once, each a series to switch off, and names the points of the last', () => {
    const l2 = {
      name: 'L2',
      points: [{ ...point, x: 9 }],
      bandwidth: { value: 9000, name: 'L2 roof' },
    }
    const option = rooflineChart({ ...spec, paths: [l2, dram] })(palette, size)
    expect(legendOf(option).map(({ name, symbol }) => [name, symbol])).toEqual([
      ['L2', 'circle'],
      ['DRAM', 'rect'],
    ])
    expect(labelsOf(option).filter((text) => text === '01 Naive')).toHaveLength(1)
    expect(labelsOf(option)).toEqual(expect.arrayContaining(['L2 roof', 'DRAM roof']))
    expect(rungPoints(option).map(({ rung, at }) => [rung, at[0]])).toEqual([
      ['01_naive', 9],
      ['01_naive', 20],
      ['00_cublas', 300],
    ])
  })
})

describe('zooming', () => {
  it('keeps the place under the pointer on linear and logarithmic axes', () => {
    for (const log of [false, true]) {
      const axis = { min: 1, max: 10_000, log }
      const span = zoomedSpan(wholeAxis, 4, 0.75, wholeAxis)
      // Three quarters along what is shown is still the value that was there.
      const [from, to] = span
      expect(valueAt(axis, from + 0.75 * (to - from))).toBeCloseTo(valueAt(axis, 0.75), 6)
      expect(to - from).toBeCloseTo(0.25, 9)
    }
  })

  it('stays within its limits, and never shows nothing', () => {
    expect(zoomedSpan(wholeAxis, 0.1, 0.5, wholeAxis)).toEqual([0, 1])
    const deep = zoomedSpan([0.5, 0.6], 1e9, 0.5, wholeAxis)
    expect(deep[1] - deep[0]).toBeCloseTo(1 / 50, 9)
    expect(pannedSpan([0.5, 0.75], 9, wholeAxis)).toEqual([0.75, 1])
    expect(zoomedSpan(wholeAxis, 0.5, 0, beyondFrame)).toEqual([0, 2])
  })

  it('cuts the axes of an option, categories to whole ones', () => {
    const option = {
      xAxis: { type: 'log' as const, min: 1, max: 10_000, interval: 5 },
      yAxis: { type: 'category' as const, data: ['a', 'b', 'c', 'd'] },
    }
    expect(withZoom(option, { x: [0.25, 0.5], y: [0.25, 0.75] })).toEqual({
      xAxis: [expect.objectContaining({ min: 10, max: 100, interval: undefined })],
      yAxis: [expect.objectContaining({ min: 1, max: 2 })],
    })
    expect(withZoom(option, unzoomed)).toEqual(option)
  })

  it('has ticks at 1, 2 and 5 of each decade, fewer over many', () => {
    expect(logTicks(8, 120)).toEqual([10, 20, 50, 100])
    expect(logTicks(1, 100_000)).toEqual([1, 10, 100, 1000, 10_000, 100_000])
    expect(logTicks(12, 18)).toHaveLength(3)
  })
})

describe('series that are switched off', () => {
  it('are left out of the drawing and named in the legend', () => {
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

describe('bars of differences', () => {
  it('lie on both sides of zero, on an axis that holds both', () => {
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
    // ECharts draws the pieces of a large series in one frame after another.
    expect(blocks).toMatchObject({ progressive: 0 })
  })
})

describe('a history', () => {
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

  it('has the level between steps, and each step with its size', () => {
    const { series } = draw([1, 1.2, 1, 2, 2, 2.4], [3])
    expect(series[0]!.data).toEqual([1, 1, 1, 2, 2, 2])
    expect(series[1]!.data).toEqual([1, 1.2, 1, 2, 2, 2.4])
    expect(series[0]!.markLine!.data).toEqual([{ xAxis: 3, label: { formatter: '+3 %' } }])
  })

  it('shows steps of a percent, and does not blow up noise', () => {
    const { yAxis } = draw([100, 101])
    expect(yAxis.max - yAxis.min).toBeLessThan(5)
    const flat = draw([100, 100]).yAxis
    expect(flat.max - flat.min).toBeCloseTo(2)
  })
})
