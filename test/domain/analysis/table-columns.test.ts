import { describe, expect, it } from 'vitest'
import {
  countedColumns,
  hasTimes,
  isPublishedSize,
} from '../../../src-main/domain/analysis/table-columns'
import { message } from '../../../src-main/domain/messages/message'
import type { MetricValue } from '../../../src-main/domain/metrics/metrics'
import type { RungResult, Session } from '../../../src-main/domain/session/session'

const rung = (metrics: Record<string, MetricValue>): RungResult =>
  ({ timing: null, metrics }) as unknown as RungResult
const value = (of: number): MetricValue => ({ value: of, unit: 'inst', evidence: 'emulated' })
const none: MetricValue = { value: null, unit: 'inst', evidence: 'unavailable' }

describe('the columns of a table without times', () => {
  it('include the counters of any rung, even if another rung is unsupported', () => {
    const rungs = [rung({}), rung({ instructions: value(5), sharedLoadBankConflicts: value(0) })]
    expect(hasTimes({ rungs })).toBe(false)
    expect(countedColumns({ rungs })).toEqual(['instructions', 'sharedLoadBankConflicts'])
  })

  it('omit instruction categories that no rung executes, and columns without a value', () => {
    const rungs = [rung({ ffmaShare: value(0), integerShare: value(20), memoryShare: none })]
    expect(countedColumns({ rungs })).toEqual(['integerShare'])
  })

  it('omit launch figures that were determined at a different size than the counts', () => {
    const reason = message('emulation.launchesAt', { at: 'm 4096' })
    const rungs = [rung({ instructions: value(5), wavesPerSm: { ...value(3), reason } })]
    expect(countedColumns({ rungs })).toEqual(['instructions'])
  })
})

it('an author’s figures share a table with our own figures only at the same size', () => {
  const at = (m: number): Session =>
    ({
      ladder: { published: { size: { m: 4096 } } },
      problem: { sizes: { m } },
    }) as unknown as Session
  expect(isPublishedSize(at(4096))).toBe(true)
  expect(isPublishedSize(at(512))).toBe(false)
})
