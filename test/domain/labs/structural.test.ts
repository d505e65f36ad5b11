/** What a lab about bank conflicts is judged by: the structural ones where they are known, told where they are not. */
import { describe, expect, it } from 'vitest'
import { profileLevelOf, type Lab } from '../../../src-main/domain/labs/lab'
import { judgeChecks, submissionId, type LabEvidence } from '../../../src-main/domain/labs/judge'
import { judgePredictions } from '../../../src-main/domain/labs/reflect'
import { noAnswers } from '../../../src-main/domain/labs/outcome'
import type { MetricValue } from '../../../src-main/domain/metrics/metrics'
import type { Session } from '../../../src-main/domain/session/session'
import { said } from '../../said'

const metric = 'sharedStoreBankConflicts'
const structural = 'sharedStoreStructuralConflicts'

const lab = {
  before: 'before',
  checks: [
    { kind: 'metric', id: 'none', metric, max: 0 },
    { kind: 'metric', id: 'fewer', metric, below: { rung: 'before', factor: 0.1 } },
  ],
  predictions: [{ id: 'gone', metric, ask: 'direction', factor: true, tolerance: 0.1 }],
} as unknown as Lab

const conflicts = (value: number, evidence: MetricValue['evidence'] = 'measured'): MetricValue => ({
  ...{ value, evidence },
  unit: 'conflicts',
})

/** ncu's counter of a rung, and its structural part where it was counted. */
function judged(of: Record<string, [counter: number, part?: number]>) {
  const rungs = Object.entries(of).map(([id, [counter, part]]) => ({
    id,
    status: 'ok',
    metrics: {
      [metric]: conflicts(counter),
      ...(part === undefined ? {} : { [structural]: conflicts(part, 'derived') }),
    },
  }))
  const session = { rungs, ladder: { task: null }, target: { kind: 'live', name: 'local' } }
  const evidence = {
    session: session as unknown as Session,
    ...{ reason: null, build: null, sanitized: {} },
  } as LabEvidence
  const checks = judgeChecks(lab, evidence)
  return {
    statuses: checks.map(({ status }) => status),
    sentences: checks.map(({ sentence }) => said(sentence)),
    prediction: judgePredictions(lab, evidence, noAnswers)[0]!,
  }
}

describe('a lab about bank conflicts', () => {
  it('collects the counters per instruction', () => {
    expect(profileLevelOf(lab)).toBe('deep')
    expect(profileLevelOf({ ...lab, predictions: [], checks: lab.checks.slice(0, 0) })).toBe('none')
  })

  it('passes code without one, although the counter has noise', () => {
    const { statuses, sentences, prediction } = judged({
      before: [20_693_591, 16_777_216],
      [submissionId]: [3_998_212, 0],
    })
    expect(statuses).toEqual(['passed', 'passed'])
    expect(sentences.join()).toMatch(/^Structural conflicts, shared stores: 0, ≤ 0/)
    expect(sentences.join()).not.toMatch(/noise/)
    expect(prediction).toMatchObject({ factor: 0, before: { value: 16_777_216 } })
  })

  it('does not pass code whose structural conflicts are left, however small the counter', () => {
    const { statuses } = judged({ before: [20, 20], [submissionId]: [1, 8] })
    expect(statuses).toEqual(['failed', 'failed'])
  })

  it('falls back on the counter for all rungs where one has no structural count, and says so', () => {
    const { statuses, sentences, prediction } = judged({
      before: [20_693_591],
      [submissionId]: [3_998_212, 0],
    })
    // The first is about the submission alone.
    expect(statuses).toEqual(['passed', 'failed'])
    expect(sentences[1]).toMatch(/^Bank conflicts, shared stores: 4\.00 M.*arbitration noise/)
    expect(prediction.after.value).toBe(3_998_212)
  })
})
