import { describe, expect, it } from 'vitest'
import type { MetricValue } from '../../../src-main/domain/metrics/metrics'
import type { RungResult, Session } from '../../../src-main/domain/session/session'
import { usualColumns } from './metric-columns'
import { useTableColumns } from './use-table-columns'

const counted = (value: number): MetricValue => ({ value, unit: 'inst', evidence: 'emulated' })

const rung = (id: string, status: RungResult['status'], metrics: RungResult['metrics']) =>
  ({ id, status, timing: null, flags: [], verify: null, metrics }) as unknown as RungResult

const session = (rungs: RungResult[]): Session =>
  ({
    rungs,
    target: { kind: 'emulated', name: 'h200' },
    problem: null,
    device: null,
    ladder: { task: null, rungs: [], reference: null },
    settings: {},
  }) as unknown as Session

describe('an emulated session’s table', () => {
  const own = session([
    rung('00_library', 'unsupported', {}),
    rung('01_naive', 'ok', { instructions: counted(5), sharedLoadBankConflicts: counted(0) }),
  ])

  it('has counters instead of times, even if a rung is unsupported', () => {
    const metrics = usualColumns(own)
    expect(metrics).toEqual(['instructions', 'sharedLoadBankConflicts'])
    const { timeless, columns } = useTableColumns(
      () => own,
      () => metrics,
    )
    expect(timeless.value).toBe(true)
    // The columns are the rung's number, its name, and one column per counter.
    expect(columns.value).toHaveLength(2 + metrics.length)
  })

  it('keeps the time columns if no rung has a counter, because they show why each rung failed', () => {
    const failed = session([rung('01_naive', 'failed', {})])
    const { timeless } = useTableColumns(
      () => failed,
      () => usualColumns(failed),
    )
    expect(timeless.value).toBe(false)
  })
})
