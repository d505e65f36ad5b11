/** Tests the facts that MCP tools return for a rung with a predicted time. */
import { expect, it } from 'vitest'
import { rungFacts, rungSummary } from '../../../src-main/hosts/mcp/facts'
import type { PredictedTime } from '../../../src-main/domain/session/predicted'
import { recording } from '../../services/report/samples'

it('a predicted time has its range, and is separate from measured times', () => {
  const { session } = recording()
  const predicted = { ms: 2, lowMs: 1.5, highMs: 2.5, limiter: 'dram' } as PredictedTime
  const rung = { ...session.rungs[1]!, timing: null, predicted }
  expect(rungFacts(session, rung)).toMatchObject({
    ms: null,
    predicted: { ms: 2, lowMs: 1.5, highMs: 2.5, limiter: 'dram' },
  })
  expect(rungSummary(session, rung)).toMatch(/^01_naive: ≈ 2\.0 ms \(1\.5–2\.5\)/)
  expect(rungFacts(session, session.rungs[1]!)).not.toHaveProperty('predicted')
})
