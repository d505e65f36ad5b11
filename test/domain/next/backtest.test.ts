/**
 * Tests the backtest over the shipped recordings. The backtest's tables must match the docs, and
 * its scores must reach the minimums in this file.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  backtest,
  backtestParts,
  groupsOf,
  landedPath,
  pastOf,
  recordedSteps,
  scoreOf,
} from '../../../scripts/lib/backtest'
import { documentWith } from '../../../scripts/lib/document.mjs'
import { projectRoot, recordedPast } from './support'

const steps = await recordedSteps(projectRoot)
const past = pastOf(steps)
const groups = groupsOf(backtest(steps, past))

describe('the backtest', () => {
  it('uses the shipped gains (run `npm run next` after a change to a move or recording)', () => {
    expect(recordedPast, landedPath).toEqual(past)
  })

  it('matches the tables in the docs', async () => {
    for (const [path, part] of backtestParts(steps, past))
      expect(await documentWith(path, [['backtest', part]])).toBe(
        readFileSync(join(projectRoot, path), 'utf8'),
      )
  })

  it('covers every step from a rung that has standard-level counters', () => {
    expect(groups.all.length).toBeGreaterThan(200)
    expect(groups.deep.length).toBeGreaterThan(30)
  })

  it('ranks the actual move in the top three for 79 % of all steps and 88 % of faster steps', () => {
    expect(scoreOf(groups.all).first).toBeGreaterThanOrEqual(0.79)
    expect(scoreOf(groups.worthwhile).first).toBeGreaterThanOrEqual(0.88)
  })

  it('predicts a range that contains the gain in 85 % of the steps', () => {
    expect(scoreOf(groups.all).inRange).toBeGreaterThanOrEqual(0.85)
  })

  it('predicts ranges whose upper end is at most 1.65 times the lower end (median)', () => {
    expect(scoreOf(groups.all).medianWidth).toBeLessThanOrEqual(1.65)
  })

  it('uses no data from the ladder under test', () => {
    const only = past.landed.filter(({ ladder }) => ladder === 'transpose')
    const own = steps.filter(({ ladder }) => ladder === 'transpose')
    const tested = backtest(own, { landed: only, offered: [] })
    expect(tested.length).toBeGreaterThan(10)
    // The library's time is known even without past steps.
    expect(tested.every(({ first }) => first.every((move) => move === 'library'))).toBe(true)
  })
})
