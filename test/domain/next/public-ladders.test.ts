/**
 * Tests `next` on public ladders and on kernels at their limit. The tables in the docs must match
 * the capture.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { backtestPath } from '../../../scripts/lib/backtest'
import { documentWith } from '../../../scripts/lib/document.mjs'
import {
  judged,
  kernelsPart,
  limitsPart,
  publicLaddersPart,
  readPublicCapture,
} from '../../../scripts/lib/public-ladders'
import { moves } from '../../../src-main/domain/next/registry'
import { projectRoot } from './support'

const capture = readPublicCapture(projectRoot)
const steps = [
  ...capture.ladders.flatMap((ladder) => ladder.steps),
  ...capture.kernels.flatMap(({ tries }) => tries),
]

it('the public ladders match the tables in the docs', async () => {
  const parts = [
    ['public', publicLaddersPart(capture)],
    ['kernels', kernelsPart(capture)],
    ['limits', limitsPart(capture)],
  ] as const
  expect(await documentWith(backtestPath, parts)).toBe(
    readFileSync(join(projectRoot, backtestPath), 'utf8'),
  )
})

it('the public ladders mention only moves that exist', () => {
  const known = new Set<string>(moves.map(({ id }) => id))
  const named = steps.flatMap(({ made, suggested }) => [
    ...made,
    ...suggested.map(({ move }) => move),
  ])
  expect(named.filter((move) => !known.has(move))).toEqual([])
})

it('a suggestion within the tolerance counts as in range', () => {
  const step = {
    ...steps[0]!,
    made: ['pad'],
    before: { ms: 2, spread: 0 },
    suggested: [{ move: 'pad', low: 1.5, mid: 1.8, high: 2 }],
  }
  expect(judged({ ...step, after: { ms: 1, spread: 0 } }).range?.holds).toBe(true)
  expect(judged({ ...step, after: { ms: 0.98, spread: 0 } }).range?.holds).toBe(false)
  expect(judged({ ...step, made: ['unroll'], after: { ms: 1, spread: 0 } })).toEqual({
    gain: 2,
    isFirst: false,
    range: null,
  })
})
