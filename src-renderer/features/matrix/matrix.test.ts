/**
 * Tests the matrix cells, the copied text, and the values that a spreadsheet reads from the text.
 */
import Papa from 'papaparse'
import { describe, expect, it } from 'vitest'
import { chosenRungs, filterItems, matrixItems, ncuNames, type MatrixRow } from './matrix'
import { rung, session, recording } from '../../../test/renderer/samples'
import { matrixCsv, matrixMarkdown } from './matrix-copy'
import { againstBaseline, rungsByRow } from './against-baseline'

const recorded = recording('gemm-fp32-h200-4096')
const rowOf = (items: ReturnType<typeof matrixItems>, id: string): MatrixRow =>
  items.find((item): item is MatrixRow => item.type === 'metric' && item.id === id)!
const measured = (value: number, unit = 'inst') => ({ value, unit, evidence: 'measured' }) as never

const words = {
  metric: 'Metric',
  unit: 'Unit',
  label: ({ id }: MatrixRow) => id,
  unavailable: 'n/a',
  absent: 'not collected',
}

describe('the rows', () => {
  it('are the times, then the registry’s metrics in their groups', () => {
    const items = matrixItems(recorded.rungs, 'common')
    expect(items.slice(0, 4)).toMatchObject([
      { type: 'group', id: 'time' },
      { id: 'time', unit: 'ms' },
      { id: 'throughput', unit: 'GFLOP/s' },
      { id: 'ratio', unit: '×' },
    ])
    expect(rowOf(items, 'sharedLoads').cells).toHaveLength(recorded.rungs.length)
    expect(items.filter(({ type }) => type === 'group').map(({ id }) => id)).toContain('shared')
    for (const item of items)
      if (item.type === 'metric') expect(item.cells).toHaveLength(recorded.rungs.length)
  })

  it('show bytes per second if the task is memory-bound, and no ratio if there is no reference', () => {
    const own = rung('01_copy', 10)
    const alone = { ...own, timing: { ...own.timing!, ratioToReference: null } }
    const items = matrixItems([alone], 'common', () => measured(3000, 'GB/s'))
    const times = items.filter((item) => item.type === 'metric' && item.source === 'timing')
    expect(times.map(({ id }) => id)).toEqual(['time', 'bandwidth'])
  })

  it('distinguish zero, unavailable, and uncollected values', () => {
    const items = matrixItems(
      [
        rung('a', 1, { metrics: { sharedLoads: measured(0) } }),
        rung('b', 1, {
          metrics: {
            sharedLoads: { value: null, unit: 'inst', evidence: 'unavailable', reason: 'Too old.' },
          },
        }),
        rung('c', 1),
      ],
      'common',
    )
    expect(rowOf(items, 'sharedLoads').cells).toEqual([
      { kind: 'value', value: 0, text: '0', evidence: 'measured' },
      { kind: 'unavailable', reason: 'Too old.' },
      { kind: 'absent' },
    ])
  })

  it('show no time for a rung that was not timed', () => {
    const items = matrixItems([rung('a', 2), rung('b', null)], 'common')
    expect(rowOf(items, 'time').cells[1]).toEqual({ kind: 'absent' })
    expect(matrixItems([rung('b', null)], 'common')).toEqual([])
  })

  it('include every ncu metric if requested, with one value per kernel', () => {
    const ncu = {
      'sm__cycles.sum': { value: 7, unit: 'cycle' },
      arch: { value: 'Hopper', unit: '' },
    }
    const kernel = {
      name: 'k',
      grid: [1, 1, 1],
      block: [1, 1, 1],
      passes: 1,
      ncuMetrics: ncu,
    } as never
    const rungs = [
      rung('a', 1, { ncuMetrics: ncu }),
      rung('b', 1, { profile: { passes: 1, kernels: [kernel, kernel] } }),
      rung('c', 1),
    ]
    expect(ncuNames(rungs)).toEqual(['arch', 'sm__cycles.sum'])
    const items = matrixItems(rungs, 'all')
    expect(rowOf(items, 'sm__cycles.sum')).toMatchObject({
      unit: 'cycle',
      cells: [
        { kind: 'value', value: 7 },
        { kind: 'several', texts: ['7', '7'] },
        { kind: 'absent' },
      ],
    })
    expect(rowOf(items, 'arch').cells[0]).toEqual({ kind: 'text', text: 'Hopper' })
    expect(rowOf(matrixItems(rungs, 'common'), 'arch')).toBeUndefined()
  })

  it('are found by label or name, and keep their group heading', () => {
    const items = matrixItems(recorded.rungs, 'common')
    const found = filterItems(items, ' FMA pipe', ({ id }) =>
      id === 'fmaUtilization' ? 'FMA pipe' : id,
    )
    expect(found).toMatchObject([{ type: 'group', id: 'arithmetic' }, { id: 'fmaUtilization' }])
    expect(filterItems(items, 'nothing like it', ({ id }) => id)).toEqual([])
  })
})

describe('heat', () => {
  const heat = (values: number[]) =>
    rowOf(
      matrixItems(
        values.map((value, index) =>
          rung(`r${index}`, 1, { metrics: { sharedLoads: measured(value) } }),
        ),
        'common',
      ),
      'sharedLoads',
    ).heat

  it('is scaled from the row’s smallest value to its largest', () => {
    expect(heat([10, 20, 30])).toEqual([0, 0.5, 1])
  })
  it('is logarithmic if values span two orders of magnitude or more', () => {
    expect(heat([1, 100, 10_000]).map((value) => +value!.toFixed(6))).toEqual([0, 0.5, 1])
  })
  it('includes zero in the row’s range', () => {
    expect(heat([0, 5, 1000])).toEqual([0, 0.005, 1])
  })
  it('is missing if all values are equal', () => {
    expect(heat([7, 7])).toEqual([null, null])
  })
})

describe('the rungs', () => {
  const all = session([rung('a', 1), rung('b', 1), rung('c', 1)])
  it.each([
    [
      ['c', 'a'],
      ['a', 'c'],
    ],
    [[], ['a', 'b', 'c']],
    [['gone'], ['a', 'b', 'c']],
  ])('for %j in the URL are %j, in session order', (wanted, ids) => {
    expect(chosenRungs(all, wanted).map(({ id }) => id)).toEqual(ids)
  })
})

describe('a copied matrix', () => {
  const hostile = [
    rung('a', 1, {
      title: '=HYPERLINK("http://x")',
      metrics: { sharedLoads: measured(-1.5) },
      ncuMetrics: { name: { value: '@SUM(A1:A9)', unit: '+cmd' } },
    }),
    rung('b', 1, {
      title: '<img src=x> | *b*',
      metrics: { sharedLoads: { value: null, unit: 'inst', evidence: 'unavailable' } },
    }),
    rung('c', null),
  ]
  const titles = hostile.map(({ title }) => title)
  const items = matrixItems(hostile, 'all')

  it('in CSV reads back unchanged and contains no formula', () => {
    const { data } = Papa.parse<string[]>(matrixCsv(titles, items, words), { skipEmptyLines: true })
    expect(data[0]).toEqual(['Metric', 'Unit', `'=HYPERLINK("http://x")`, '<img src=x> | *b*', 'c'])
    expect(data.find(([metric]) => metric === 'sharedLoads')).toEqual([
      'sharedLoads',
      'inst',
      '-1.5',
      'n/a',
      'not collected',
    ])
    expect(data.find(([metric]) => metric === 'name')).toEqual([
      'name',
      `'+cmd`,
      `'@SUM(A1:A9)`,
      'not collected',
      'not collected',
    ])
  })

  it('in CSV has values at full precision', () => {
    const csv = matrixCsv(
      recorded.rungs.map(({ title }) => title),
      matrixItems(recorded.rungs, 'common'),
      words,
    )
    expect(csv).toContain(String(recorded.rungs.at(-1)!.timing!.medianMs))
  })

  it('in Markdown is a single table, whatever the titles contain', () => {
    const lines = matrixMarkdown(titles, items, words).split('\n')
    expect(lines[0]).toContain('&lt;img src=x&gt; \\| \\*b\\*')
    const columns = (line: string) => line.split(/(?<!\\)\|/).length
    expect(new Set(lines.map(columns))).toEqual(new Set([columns(lines[1]!)]))
  })
})

describe('against a baseline', () => {
  const base = recorded.rungs.find(({ id }) => id === '08_warp_tile')!
  const faster = recorded.rungs.findIndex(({ id }) => id === '09_register_prefetch')
  const slower = recorded.rungs.findIndex(({ id }) => id === '05_thread_tile_2d')
  const own = recorded.rungs.indexOf(base)
  const items = matrixItems(recorded.rungs, 'common')
  const alone = matrixItems([base], 'common')
  const comparison = againstBaseline(
    items,
    recorded.rungs,
    recorded,
    { session: recorded, rung: base },
    alone,
  )
  const cell = (id: string, index: number) => rowOf(comparison, id).cells[index]

  it('times and the values derived from them have factors and verdicts', () => {
    expect(cell('time', faster)).toMatchObject({ text: '0.833×', verdict: 'better' })
    expect(cell('time', slower)).toMatchObject({ verdict: 'worse' })
    expect(cell('throughput', faster)).toMatchObject({ text: '1.20×', verdict: 'better' })
    expect(cell('time', own)).toMatchObject({ verdict: null })
    expect(cell('time', faster)).toHaveProperty(
      'exact',
      (rowOf(items, 'time').cells[faster] as { text: string }).text,
    )
  })

  it('differences from a count of zero are formatted as counts', () => {
    const none = recorded.rungs.find(({ id }) => id === '01_naive')!
    const [row] = againstBaseline(
      items.filter((item) => item.id === 'sharedLoads'),
      recorded.rungs,
      recorded,
      { session: recorded, rung: none },
      matrixItems([none], 'common'),
    ) as MatrixRow[]
    const tile = recorded.rungs.findIndex(({ id }) => id === '03_shared_tile')
    expect(row!.cells[tile]).toMatchObject({ text: '+2.68 G' })
  })

  it('shares have differences, and metrics without a better direction have no verdict', () => {
    expect(cell('fmaUtilization', faster)).toMatchObject({ text: '+13.6 pp', verdict: 'better' })
    const verdicts = new Set(
      rowOf(comparison, 'registersPerThread').cells.map(
        (one) => one.kind === 'value' && one.verdict,
      ),
    )
    expect(verdicts.has('better')).toBe(false)
  })

  it('sessions with different problems have differences without verdicts', () => {
    const other = { ...recorded, problem: { ...recorded.problem!, sizes: { m: 1, n: 1, k: 1 } } }
    const refused = againstBaseline(
      items,
      recorded.rungs,
      recorded,
      { session: other, rung: base },
      alone,
    )
    expect(rowOf(refused, 'time').cells[faster]).toMatchObject({ verdict: 'unknown' })
  })

  it('rungs are sorted by a row, with missing values last', () => {
    const two = [rung('a', 3), rung('b', null), rung('c', 1)]
    const row = rowOf(matrixItems(two, 'common'), 'time')
    const ids = (direction: 'down' | 'up') => rungsByRow(two, row, direction).map(({ id }) => id)
    expect(ids('down')).toEqual(['a', 'c', 'b'])
    expect(ids('up')).toEqual(['c', 'a', 'b'])
    expect(rungsByRow(two, undefined, 'up')).toBe(two)
  })
})
