import { describe, expect, it } from 'vitest'
import { LabCheck, type Lab } from '../../../src-main/domain/labs/lab'
import { judgeChecks } from '../../../src-main/domain/labs/judge/judge'
import { submissionId } from '../../../src-main/domain/labs/judge/evidence'
import { outcomeStatus } from '../../../src-main/domain/labs/outcome'
import type { MetricValue } from '../../../src-main/domain/metrics/metrics'
import type { PredictedTime } from '../../../src-main/domain/session/predicted'
import type { RungResult, Session } from '../../../src-main/domain/session/session'
import { inEnglish } from '../../../src-main/domain/text/english'
import { can, usualLabTarget } from '../../../src-main/domain/targets/targets'

const time = (ms: number, factor = 1.2): PredictedTime => ({
  ...{ evidence: 'predicted', ms, lowMs: ms / factor, highMs: ms * factor },
  ...{ limiter: 'dram', model: 'scoreboard 4', class: 'memory', widened: [], extrapolated: false },
})
const stalls = (value: number): Record<string, MetricValue> => ({
  stallLongScoreboard: { value, unit: 'warps', evidence: 'predicted' },
})
const rung = (id: string, over: Partial<RungResult>): RungResult =>
  ({ id, status: 'ok', timing: null, metrics: {}, build: null, ...over }) as RungResult

const judged = (check: object, own: Partial<RungResult>, other: Partial<RungResult>) => {
  const lab = { checks: [LabCheck.parse({ id: 'it', ...check })] } as unknown as Lab
  const session = {
    target: { kind: 'predicted', name: 'h200' },
    rungs: [rung('01_naive', other), rung(submissionId, own)],
  } as unknown as Session
  const build = { ok: true, resources: null, reason: null }
  const [result] = judgeChecks(lab, { session, reason: null, build, sanitized: {} })
  return { status: result!.status, sentence: inEnglish(result!.sentence), figures: result!.figures }
}

describe('a time check on predicted times', () => {
  const check = { kind: 'time', below: { rung: '01_naive', factor: 0.5 }, noise: 0 }
  const of = (ms: number) => judged(check, { predicted: time(ms) }, { predicted: time(1) })

  it("passes if the longest time meets the limit relative to the other rung's shortest time", () => {
    const { status, sentence, figures } = of(0.3)
    expect(status).toBe('passed')
    expect(sentence).toMatch(
      /^Fast enough \(predicted\): ≈ 300 µs \(250–360\), compared with ≈ 1\.0 ms \(0\.83–1\.2\)/,
    )
    expect(figures.map(({ value }) => value.evidence)).toEqual(Array(3).fill('predicted'))
  })

  it("fails if the shortest time misses the limit relative to the other rung's longest time", () => {
    expect(of(0.8)).toMatchObject({ status: 'failed' })
  })

  it.each([0.36, 0.5, 0.7])(
    'is undecided at %s ms, because the predicted range contains the limit',
    (ms) => {
      const { status, sentence } = of(ms)
      expect(status).toBe('unavailable')
      expect(sentence).toMatch(/^Undecided, because the predicted range contains the limit\./)
    },
  )

  it('reports why the model could not predict a time', () => {
    const refused = judged(check, { notPredicted: 'It spins.' }, { predicted: time(1) })
    expect(refused).toMatchObject({ status: 'unavailable', sentence: 'It spins.' })
  })
})

describe('a check of a predicted stall reason', () => {
  const check = { kind: 'metric', metric: 'stallLongScoreboard', max: 2 }
  it.each([
    [1.6, 'passed'],
    [1.9, 'unavailable'],
    [2.3, 'unavailable'],
    [2.5, 'failed'],
  ])('at %s warps, with 20 % error and a limit of 2, is %s', (value, status) => {
    expect(judged(check, { predicted: time(1), metrics: stalls(value) }, {}).status).toBe(status)
  })
})

it('a lab can pass with a predicted time, and does not fail if the time check is undecided', () => {
  const result = (id: string, kind: 'correctness' | 'time', status: 'passed' | 'unavailable') => ({
    ...{ id, kind, status, title: '', sentence: '', figures: [] },
  })
  const right = result('right', 'correctness', 'passed')
  const abilities = can({ kind: 'predicted' })
  expect(outcomeStatus([right, result('fast', 'time', 'passed')], abilities, ['fast'])).toBe(
    'passed',
  )
  expect(outcomeStatus([right, result('fast', 'time', 'unavailable')], abilities, ['fast'])).toBe(
    'unavailable',
  )
})

it('a lab with a time check defaults to predicted times if there is a model but no GPU', () => {
  const here = { hasGpu: false, hasCompiler: true, needsTimes: true, hasModel: true }
  expect(usualLabTarget(here)).toBe('predicted')
  expect(usualLabTarget({ ...here, hasGpu: true })).toBe('local')
  expect(usualLabTarget({ ...here, needsTimes: false })).toBe('emulated')
  expect(usualLabTarget({ ...here, hasModel: false })).toBe('emulated')
})
