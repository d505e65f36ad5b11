/** Which rows of a ladder are shown, in which order, and how a slower rung is explained. */
import { describe, expect, it } from 'vitest'
import { ladderRows } from './ladder-rows'
import { arrangeRows, type LadderView } from './ladder-view'
import { recording } from '../../../test/renderer/chart-samples'
import { rung, session } from '../../../test/renderer/samples'

const fma = (value: number) =>
  ({ fmaUtilization: { value, unit: '%', evidence: 'measured' } }) as never

const rows = ladderRows(
  session([
    rung('00_ref', 1, { title: 'Reference', metrics: fma(80) }),
    rung('01_naive', 10, { title: 'Naive', idea: 'one thread an element', metrics: fma(2) }),
    rung('02_tile', 4, { title: 'Tile', metrics: fma(50) }),
    rung('03_broken', null, { title: 'Broken', reason: 'identifier "j" is undefined' }),
    rung('04_wide', 5, { title: 'Wide', metrics: fma(60) }),
  ]),
)
const ids = (over: Partial<LadderView>) => {
  const view = { search: '', sort: 'order', metric: 'fmaUtilization', pinned: [], ...over } as const
  const found = arrangeRows(rows, view)
  return [found.pinned, found.rows].map((part) => part.map(({ rung: { id } }) => id))
}

describe('rows', () => {
  it.each<[LadderView['sort'], string[]]>([
    ['order', ['00_ref', '01_naive', '02_tile', '03_broken', '04_wide']],
    ['time', ['00_ref', '02_tile', '04_wide', '01_naive', '03_broken']],
    ['step', ['02_tile', '00_ref', '01_naive', '03_broken', '04_wide']],
    ['metric', ['00_ref', '04_wide', '02_tile', '01_naive', '03_broken']],
  ])('sorted by %s, what has no value last', (sort, order) => {
    expect(ids({ sort })[1]).toEqual(order)
  })

  it.each([
    ['tile', ['02_tile']],
    ['THREAD one', ['01_naive']],
    ['undefined', ['03_broken']],
    ['04', ['04_wide']],
    ['no such thing', []],
  ])('found by %j', (search, found) => {
    expect(ids({ search })[1]).toEqual(found)
  })

  it('that are pinned stand first, whatever is searched and sorted', () => {
    expect(ids({ pinned: ['04_wide', '00_ref'], search: 'naive', sort: 'time' })).toEqual([
      ['00_ref', '04_wide'],
      ['01_naive'],
    ])
  })

  it('know their speedup over the first rung', () => {
    expect(rows.map(({ overFirst }) => overFirst)).toEqual([null, 1, 2.5, null, 2])
  })
})

describe('a rung that is slower than the one before', () => {
  const at = (name: string, id: string) =>
    ladderRows(recording(name)).find((row) => row.rung.id === id)!.slowdown

  it('on purpose says so, with the ladder’s note and the counter that shows it', () => {
    for (const name of ['seed-cutlass-h200', 'seed-rtx3090-h200-1024']) {
      const recorded = recording(name)
      for (const entry of recorded.ladder.rungs.filter(({ negative }) => negative)) {
        const slowdown = at(name, entry.id)
        expect(slowdown, entry.id).toMatchObject({ deliberate: true, note: entry.note })
        expect(slowdown!.metric, entry.id).not.toBeNull()
      }
    }
  })

  it('names the counter that got worse by most', () => {
    const metrics = (conflicts: number, loads: number) =>
      ({
        sharedLoadBankConflicts: { value: conflicts, unit: 'conflicts', evidence: 'measured' },
        sharedLoads: { value: loads, unit: 'inst', evidence: 'measured' },
      }) as never
    const [, , slow] = ladderRows(
      session([
        rung('00_ref', 1),
        rung('01_a', 4, { metrics: metrics(0, 100) }),
        rung('02_b', 8, { after: '01_a', metrics: metrics(50, 900) }),
      ]),
    )
    expect(slow!.slowdown).toMatchObject({
      deliberate: false,
      slower: true,
      metric: { id: 'sharedLoadBankConflicts' },
    })
  })

  it('without a counter that moved names none', () => {
    const [, , slow] = ladderRows(session([rung('00_ref', 1), rung('01_a', 4), rung('02_b', 8)]))
    expect(slow!.slowdown).toMatchObject({ slower: true, metric: null })
  })

  it('is not one that is faster, nor one within the spread', () => {
    const [, , faster, same] = ladderRows(
      session([rung('00_ref', 1), rung('01_a', 4), rung('02_b', 2), rung('03_c', 2.001)]),
    )
    expect([faster!.slowdown, same!.slowdown]).toEqual([null, null])
  })
})
