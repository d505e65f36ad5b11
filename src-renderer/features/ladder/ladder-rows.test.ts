import { describe, expect, it } from 'vitest'
import {
  defaultPair,
  errorsDiffer,
  ladderRows,
  rateOf,
  referenceThroughput,
  togglePick,
} from './ladder-rows'
import { inLadderOrder } from '../shared/shown-rungs'
import { cardMetricIds } from '../../../src-main/domain/metrics/metrics'
import { beside, rung, session, recording } from '../../../test/renderer/samples'
import { groupMetrics } from '../shared/metric-groups'
import { steps, stepFrom } from '../compare/ladder-steps'
import { arrangeRows, type LadderView } from './arrange-rows'
import { columnGroups, metricScale, metricsOf, usualColumns } from './metric-columns'

const climb = session([
  rung('00_ref', 1),
  rung('01_naive', 10),
  rung('02_tile', 4, { after: '01_naive' }),
  rung('03_wide', 5, { after: '02_tile' }),
])

describe('rows', () => {
  it('compare each rung except the reference with the rung on which it builds', () => {
    const rows = ladderRows(climb)
    expect(rows.map(({ before }) => before?.id)).toEqual([
      undefined,
      undefined,
      '01_naive',
      '02_tile',
    ])
    expect(rows.map(({ step }) => step?.factor ?? null)).toEqual([null, null, 2.5, 0.8])
    expect(rows[0]!.isReference).toBe(true)
  })

  it('do not mark a ratio to a reference with different input types', () => {
    const ratios = { single: 2, burst: 2, sustained: 2 }
    expect(ladderRows(beside(ratios)).map(({ isFaster }) => isFaster)).toEqual([false, true])
    const half = beside(ratios)
    half.ladder.rungs = half.rungs.map(({ id }, index) => ({
      ...half.ladder.rungs[index]!,
      id,
      ...(index === 1 && { options: { dtype: 'f16' } }),
    }))
    expect(ladderRows(half).map(({ isFaster }) => isFaster)).toEqual([false, false])
    // Rung 52_wmma_warp_tile is 2.13 times faster than the FP32 library, but it has FP16 inputs.
    const rows = ladderRows(recording('seed-rtx3060-h200-4096'))
    expect(rows.find(({ rung }) => rung.id === '52_wmma_warp_tile')!.isFaster).toBe(false)
  })

  it('of a program do not compare a kernel with the previous kernel', () => {
    const program = {
      ...{ command: ['python3', 'block.py'] as [string, ...string[]], exitCode: 0 },
      filters: { kernels: null, nvtx: null, skip: 0, count: null },
      ...{ launches: 4, totalMs: 20 },
    }
    const rows = ladderRows({ ...climb, program })
    expect(rows.flatMap(({ before, slowdown }) => before ?? slowdown ?? [])).toEqual([])
  })

  it('of an import do not compare a launch with the previous launch', () => {
    const rows = ladderRows({ ...climb, target: { kind: 'imported', name: 'own.ncu-rep' } })
    expect(rows.flatMap(({ before, slowdown }) => before ?? slowdown ?? [])).toEqual([])
  })

  it('have columns for all card metrics and for registers', () => {
    expect(metricsOf(columnGroups(usualColumns(climb)))).toEqual(
      expect.arrayContaining([...cardMetricIds, 'registersPerThread']),
    )
  })

  it('lead with the tensor pipe if most rungs use it, even if their results are FP32', () => {
    const busy = (tensorUtilization: number, fmaUtilization: number) => {
      const share = (value: number) => ({
        value,
        unit: '%' as const,
        evidence: 'measured' as const,
      })
      return {
        metrics: {
          tensorUtilization: share(tensorUtilization),
          fmaUtilization: share(fmaUtilization),
        },
      }
    }
    const of = (...rungs: [number, number][]) =>
      usualColumns(
        session([
          rung('00_ref', 1, busy(0, 79)),
          ...rungs.map((pipes, index) => rung(`6${index}`, 2, busy(...pipes))),
        ]),
      )
    const split = of([52, 14], [73, 10])
    expect(split).toContain('tensorUtilization')
    expect(split).not.toContain('fmaUtilization')
    expect(of([0, 62], [17, 3])).toContain('fmaUtilization')
  })

  it('show a deep session’s structural conflicts instead of noisy counters', () => {
    const conflicts = (value: number) => ({
      ...{ value, unit: 'conflicts' as const },
      evidence: 'measured' as const,
    })
    const counted = (counter: number, part?: number) => ({
      metrics: {
        sharedStoreBankConflicts: conflicts(counter),
        ...(part === undefined ? {} : { sharedStoreStructuralConflicts: conflicts(part) }),
      },
    })
    const failed = rung('02_broken', 10, { metrics: {} })
    const columns = (part?: number) =>
      usualColumns(session([rung('01_tile', 10, counted(4000, part)), failed]))
    expect(columns(0)).toContain('sharedStoreStructuralConflicts')
    expect(columns(0)).not.toContain('sharedStoreBankConflicts')
    expect(columns()).toContain('sharedStoreBankConflicts')
    expect(columns()).toContain('sharedLoadBankConflicts')
  })

  it('lead with bytes per second and DRAM utilization if the task is memory-bound', () => {
    const { task } = climb.ladder
    const moved = {
      metrics: {
        dramUtilization: { value: 80, unit: '%' as const, evidence: 'measured' as const },
      },
    }
    const bound = session([rung('00_ref', 1), rung('01_copy', 10, moved)])
    const work = { reads: '4*m*n', writes: '4*m*n' }
    const copying = { ...bound, ladder: { ...bound.ladder, task: { ...task!, work } } }
    const { m, n } = copying.problem!.sizes
    expect(rateOf(copying, copying.rungs[1]!)).toBeCloseTo((8 * m! * n!) / (10 * 1e6))
    expect(referenceThroughput(copying)).toBeCloseTo((8 * m! * n!) / 1e6)
    const columns = usualColumns(copying)
    expect(columns).toContain('dramUtilization')
    expect(columns).not.toContain('fmaUtilization')
    // If no rung has bank conflicts, a column with the bytes moved replaces the bank conflict
    // columns.
    const count = (value: number) => ({
      value,
      unit: 'byte' as const,
      evidence: 'measured' as const,
    })
    const withCounts = (metrics: Record<string, ReturnType<typeof count>>) => {
      const more = rung('01_copy', 10, { metrics: { ...moved.metrics, ...metrics } })
      return usualColumns({ ...copying, rungs: [copying.rungs[0]!, more] })
    }
    expect(columns).toContain('sharedLoadBankConflicts')
    expect(withCounts({ dramBytes: count(8) })).toContain('dramBytes')
    expect(withCounts({ dramBytes: count(8) })).not.toContain('sharedLoadBankConflicts')
    expect(withCounts({ dramBytes: count(8), sharedLoadBankConflicts: count(1) })).not.toContain(
      'dramBytes',
    )
    expect(rateOf(climb, climb.rungs[1]!)).toBe(climb.rungs[1]!.timing!.gflops)
  })

  it('show the errors of the reference and of rungs that compute in a different precision', () => {
    const verified = (worstRelativeError: number | null) => ({
      verify: {
        passed: true,
        worstRelativeError,
        mismatches: 0,
        firstMismatch: null,
        outOfBounds: [],
        changedInputs: [],
      },
    })
    const mixed = session([
      rung('00_ref', 1, verified(4e-7)),
      rung('60_tf32x3', 10, verified(4e-6)),
      rung('61_broken', 10, verified(null)),
    ])
    expect(ladderRows(mixed).map(({ error }) => error)).toEqual([4e-7, 4e-6, null])
    expect(ladderRows(mixed).map(({ errorToReference }) => errorToReference)).toEqual([
      null,
      expect.closeTo(10),
      null,
    ])
    expect(errorsDiffer(mixed)).toBe(true)
    const alike = session([
      rung('00_ref', 1, verified(4e-7)),
      rung('01_naive', 2, verified(4.01e-7)),
    ])
    expect(errorsDiffer(alike)).toBe(false)
    expect(errorsDiffer(climb)).toBe(false)
  })

  it('scale percentages to 100 % and counts to the largest value', () => {
    const counts = session([
      rung('01_naive', 1, {
        metrics: { sharedLoads: { value: 40, unit: 'inst', evidence: 'measured' } },
      }),
    ])
    expect(metricScale(counts, 'fmaUtilization').max).toBe(100)
    expect(metricScale(counts, 'sharedLoads').max).toBe(40)
  })

  it('use the reference’s throughput even if the session has no row for the reference', () => {
    expect(referenceThroughput(climb)).toBe(2000)
    expect(referenceThroughput(session([rung('01_naive', 10)]))).toBe(2000)
    expect(referenceThroughput(session([rung('01_naive', null)]))).toBeNull()
  })
})

describe('picked rungs', () => {
  it('can be toggled without a limit on their number', () => {
    expect(togglePick([], 'a')).toEqual(['a'])
    expect(togglePick(['a', 'b'], 'a')).toEqual(['b'])
    expect(togglePick(['a', 'b'], 'c')).toEqual(['a', 'b', 'c'])
  })

  it('are listed in ladder order', () => {
    expect(inLadderOrder(climb, ['03_wide', '01_naive'])).toEqual(['01_naive', '03_wide'])
  })
})

describe('Compare', () => {
  it('opens with the timed step that has the largest speedup', () => {
    expect(defaultPair(climb)).toEqual(['01_naive', '02_tile'])
    const late = session([
      rung('01_naive', 10),
      rung('02_tile', 9),
      rung('03_wide', 3),
      rung('04', 2),
    ])
    expect(defaultPair(late)).toEqual(['02_tile', '03_wide'])
    expect(defaultPair(session([rung('01_naive', null), rung('02_tile', 9)]))).toEqual([
      '01_naive',
      '02_tile',
    ])
    expect(defaultPair(session([]))).toBeNull()
  })

  it('moves along the ladder and stops at its ends', () => {
    expect(steps(climb)).toEqual([
      { a: '01_naive', b: '02_tile' },
      { a: '02_tile', b: '03_wide' },
    ])
    expect(stepFrom(climb, '02_tile', 1)).toEqual({ a: '02_tile', b: '03_wide' })
    expect(stepFrom(climb, '03_wide', 1)).toBeUndefined()
    expect(stepFrom(climb, '03_wide', -1)).toEqual({ a: '01_naive', b: '02_tile' })
    expect(stepFrom(climb, '00_ref', 1)).toEqual({ a: '01_naive', b: '02_tile' })
  })
})

it('grouping keeps every metric', () => {
  const ids = ['fmaUtilization', 'dram__bytes.sum', 'sharedLoads']
  const groups = groupMetrics(ids)
  expect(groups.flatMap(({ metrics }) => metrics).sort()).toEqual([...ids].sort())
  expect(groups.at(-1)).toEqual({ id: 'other', metrics: ['dram__bytes.sum'] })
})

// Tests which rows are shown, their order, and the explanation of a slower rung.

const fma = (value: number) =>
  ({ fmaUtilization: { value, unit: '%', evidence: 'measured' } }) as never

const rows = ladderRows(
  session([
    rung('00_ref', 1, { title: 'Reference', metrics: fma(80) }),
    rung('01_naive', 10, { title: 'Naive', idea: 'one thread an element', metrics: fma(2) }),
    rung('02_tile', 4, { title: 'Tile', metrics: fma(50) }),
    rung('03_broken', null, { title: 'Broken', reason: 'identifier "j" is undefined' }),
    rung('04_wide', 5, {
      title: 'Wide',
      idea: '16 bytes at a time, as 1 access',
      metrics: fma(60),
    }),
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
  ])('are sorted by %s, with rungs without a value last', (sort, order) => {
    expect(ids({ sort })[1]).toEqual(order)
  })

  it.each([
    ['tile', ['02_tile']],
    ['THREAD one', ['01_naive']],
    ['undefined', ['03_broken']],
    ['04', ['04_wide']],
    // Rung 04 does not match, although its idea contains a 1.
    ['1', ['01_naive']],
    ['16', ['04_wide']],
    ['no such thing', []],
  ])('are found by a search for %j', (search, found) => {
    expect(ids({ search })[1]).toEqual(found)
  })

  it('that are pinned come first, regardless of search and sort order', () => {
    expect(ids({ pinned: ['04_wide', '00_ref'], search: 'naive', sort: 'time' })).toEqual([
      ['00_ref', '04_wide'],
      ['01_naive'],
    ])
  })

  it('include their speedup over the first rung', () => {
    expect(rows.map(({ overFirst }) => overFirst)).toEqual([null, 1, 2.5, null, 2])
  })
})

describe('a slower rung', () => {
  const at = (name: string, id: string) =>
    ladderRows(recording(name)).find((row) => row.rung.id === id)!.slowdown

  it('shows the ladder’s note and the explaining counter if the slowdown is deliberate', () => {
    for (const name of ['seed-cutlass-h200', 'seed-rtx3090-h200-1024']) {
      const recorded = recording(name)
      for (const entry of recorded.ladder.rungs.filter(({ negative }) => negative)) {
        const slowdown = at(name, entry.id)
        expect(slowdown, entry.id).toMatchObject({ deliberate: true, note: entry.note })
        expect(slowdown!.metric, entry.id).not.toBeNull()
      }
    }
  })

  it('names the counter that got worse the most', () => {
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

  it('names no counter if no counter changed', () => {
    const [, , slow] = ladderRows(session([rung('00_ref', 1), rung('01_a', 4), rung('02_b', 8)]))
    expect(slow!.slowdown).toMatchObject({ slower: true, metric: null })
  })

  it('is reported only if the slowdown exceeds the spread', () => {
    const [, , faster, same] = ladderRows(
      session([rung('00_ref', 1), rung('01_a', 4), rung('02_b', 2), rung('03_c', 2.001)]),
    )
    expect([faster!.slowdown, same!.slowdown]).toEqual([null, null])
  })
})
