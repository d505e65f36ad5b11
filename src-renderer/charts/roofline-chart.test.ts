/** Tests the roofline option that ECharts receives, and where its labels are placed. */
import { describe, expect, it } from 'vitest'
import { distanceToLine, legendOf, rungJoins, rungPoints } from './chart-links'
import { rooflineChart } from './roofline-chart'
import { placeLabels, widthOf, type Line } from './point-labels'
import { labelPlaces, rooflineExtent, type RooflineSpec } from './roofline-plane'
import { palette, size, seriesOf } from '../../test/renderer/charts'

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

  it('connects the rungs with a path that omits the reference', () => {
    const [path, beside] = seriesOf(rooflineChart(spec)(palette, size))
    expect(path!.data.map(({ value }) => value)).toEqual([[20, 500]])
    expect(beside!.data.map(({ value }) => value)).toEqual([[300, 51_000]])
  })

  it('connects consecutive rungs with lines that link to both rungs', () => {
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
    // A program's kernels do not build on each other.
    const apart = rooflineChart({ ...spec, paths: [{ ...dram, points }], climb: [] })(palette, size)
    expect(rungJoins(apart)).toEqual([])
    expect(seriesOf(apart)[1]!.data).toHaveLength(5)
    // The first point is next to the middle of the segment. The other points are past one end of
    // the segment.
    expect(distanceToLine([5, 3], [0, 0], [10, 0])).toBe(3)
    expect(distanceToLine([13, 4], [0, 0], [10, 0])).toBe(5)
    expect(distanceToLine([3, 4], [0, 0], [0, 0])).toBe(5)
  })

  it('places a label on a line only if no other place is near the point', () => {
    const room = { left: 0, right: 800, top: 0, bottom: 400 }
    const at = { x: 400, y: 200, texts: ['12 Software pipelining'] }
    const [free] = placeLabels([at], room)
    expect(free).toMatchObject({ x: 410, y: 200, moved: false })
    const [beside] = placeLabels([at], room, [], [[400, 200, 800, 200]])
    expect(Math.abs(beside!.y - 200) > 7 || beside!.x < 400).toBe(true)
    const hatch = Array.from({ length: 80 }, (_, y) => [0, 5 * y, 800, 5 * y] as const)
    expect(placeLabels([at], room, [], hatch)[0]).toMatchObject({ text: '12 Software pipelining' })
    // A label that would cover a roof is shortened or left out.
    expect(placeLabels([at], room, [], [], undefined, hatch)[0]).toBeNull()
  })

  it('gives labels in capitals enough room', () => {
    // The expected widths were measured in a browser. If `widthOf` returned a smaller width, the
    // label would overlap its neighbor.
    expect(widthOf('55 WGMMA and TMA')).toBeGreaterThanOrEqual(112)
    expect(widthOf('illicit')).toBeLessThan(36)
  })

  it('leaves a gap between labels in the same row', () => {
    const room = { left: 0, right: 262, top: 0, bottom: 60 }
    // The second point has room only on its left, where the first label ends.
    const marks = [
      { x: 200, y: 30, texts: ['14'] },
      { x: 245, y: 30, texts: ['16'] },
    ]
    const [first, second] = placeLabels(marks, room)
    const isBeside = Math.abs(second!.y - first!.y) < 14
    expect(isBeside && Math.abs(second!.x - first!.x) < widthOf('14') + 3).toBe(false)
  })

  it('draws no roof name over a roof, even in a small chart', () => {
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

  it('shows the range of the points, and the compute roof if that roof is near', () => {
    const { xMin, xMax, yMin, yMax } = rooflineExtent(spec)
    expect([xMin, xMax]).toEqual([20 / 1.5, 450])
    expect([yMin, yMax]).toEqual([500 / 1.5, 64_000 * 1.35])
    const far = rooflineExtent({ ...spec, compute: { value: 990_000, name: 'tensor' } })
    expect(far.yMax).toBeCloseTo(51_000 * 1.35, 6)
    // Without a roof, the chart would not explain a slow kernel.
    const slow = rooflineExtent({ ...spec, paths: [{ ...dram, points: [{ ...point, x: 250 }] }] })
    expect(slow.yMax).toBeGreaterThan(64_000)
    // Nearly equal rungs must not be spread over the whole drawing.
    const close = rooflineExtent({ ...spec, paths: [{ ...dram, points: [point] }], compute: null })
    expect(close.xMax / close.xMin).toBeCloseTo(10, 6)
  })

  it('draws no leader line across another leader line or a roof', () => {
    // Some of the points coincide.
    const crowd = Array.from({ length: 16 }, (_, at) => ({
      x: 400 + (at % 4) * 18,
      y: 90 + Math.floor(at / 8) * 18,
    }))
    const roof = [0, 30, 900, 30] as const
    const labels = placeLabels(
      crowd.map((at, index) => ({
        ...at,
        texts: [`${index} Conflict-free transposition`, `${index}`],
      })),
      { left: 0, top: 0, right: 900, bottom: 600 },
      [],
      [],
      undefined,
      [roof],
    )
    const leads = labels.flatMap((label, index) => {
      const { x, y } = crowd[index]!
      return label?.moved ? [[x, y, label.anchor.x, label.anchor.y] as const] : []
    })
    const sideOf = ([ax, ay, bx, by]: Line, x: number, y: number) =>
      Math.sign((bx - ax) * (y - ay) - (by - ay) * (x - ax))
    // Leader lines of coinciding points start at the same position. These lines do not count as
    // crossing.
    const cross = (a: Line, b: Line) =>
      sideOf(a, b[0], b[1]) * sideOf(a, b[2], b[3]) < 0 &&
      sideOf(b, a[0], a[1]) * sideOf(b, a[2], a[3]) < 0
    expect(leads.length).toBeGreaterThan(1)
    for (const [index, one] of leads.entries()) {
      expect(leads.slice(index + 1).filter((other) => cross(one, other))).toEqual([])
      expect(cross(one, roof)).toBe(false)
    }
  })

  it('covers no label or point with another label', () => {
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
    // A label is left out if its leader line would cross another leader line or a label. The user
    // can still hover over the mark to see the name.
    expect(found.length).toBeGreaterThan(6)
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

  it('leaves out labels that do not fit, but draws all 300 points', () => {
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
    // With this many points, titles would cover the points.
    expect(labels.filter((text) => text!.includes('Naive'))).toEqual([])
  })

  it('labels the slowest of coinciding points, with a count and the names of the others', () => {
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
    // ECharts draws the last mark on top, so the pointer hits that mark.
    expect(marks.filter(({ rung }) => rung).at(-1)!.rung).toBe('k301')
  })

  it("names a few coinciding points in one label, which has the slowest point's full name", () => {
    const points = [12, 13, 14, 15, 16, 17].map((number) => ({
      ...point,
      rung: `r${number}`,
      mark: String(number),
      title: `rung ${number}`,
      x: number < 15 ? 20 * (number - 11) : 300,
      y: number < 15 ? 500 * (number - 11) : 40_000,
      ms: 20 - number,
    }))
    const option = rooflineChart({ ...spec, paths: [{ ...dram, points }], climb: [] })(
      palette,
      size,
    )
    expect(labelsOf(option).filter((text) => /^\d/.test(text!))).toEqual([
      '12 rung 12',
      '13 rung 13',
      '14 rung 14',
      '15 rung 15, 16, 17',
    ])
  })

  it('draws only roofs with known values', () => {
    const named = (over: Partial<RooflineSpec>) =>
      labelsOf(rooflineChart({ ...spec, ...over })(palette, size)).filter(
        (text) => !/^\d/.test(text ?? ''),
      )
    expect(named({})).toEqual(['FP32', 'DRAM roof'])
    expect(named({ paths: [{ ...dram, bandwidth: null }] })).toEqual(['FP32'])
    expect(named({ compute: null })).toEqual(['DRAM roof'])
  })

  it('shows every memory level as a series that can be hidden, and labels the last level', () => {
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
