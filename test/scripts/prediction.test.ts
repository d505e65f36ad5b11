/** Tests the error of predicted times, from the stored comparison. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { documentWith } from '../../scripts/lib/document.mjs'
import {
  accuracyDocument,
  accuracyPath,
  accuracyTables,
  figuresOf,
  heldFactor,
  orderOf,
  stallsAgree,
  type PredictedRow,
} from '../../scripts/lib/prediction-table'

const root = join(import.meta.dirname, '../..')
const rows = JSON.parse(readFileSync(join(root, accuracyPath), 'utf8')) as PredictedRow[]

describe('predictions of recorded rungs', () => {
  it('are tabulated in docs/evidence/prediction.md by `npm run prediction`', async () => {
    const written = readFileSync(join(root, accuracyDocument), 'utf8')
    expect(await documentWith(accuracyDocument, [['accuracy', accuracyTables(rows)]])).toBe(written)
  })

  it('without tensor cores are off by at most 10 % on average and 6 % in the middle', () => {
    const own = rows.filter(({ predicted }) => predicted && predicted.class !== 'tensor')
    expect(figuresOf(own).mean).toBeLessThanOrEqual(0.1)
    expect(figuresOf(own).median).toBeLessThanOrEqual(0.06)
  })

  it('order 95 of 100 pairs of one recording that differ by more than 5 %', () => {
    const { pairs, right } = orderOf(rows, 0.05)
    expect(right / pairs).toBeGreaterThanOrEqual(0.95)
  })

  it('have nine of ten measured times in their range', () => {
    expect(figuresOf(rows).inside).toBeGreaterThanOrEqual(0.9)
  })
})

describe('the figures', () => {
  const row = (ratio: number, over: Partial<PredictedRow> = {}): PredictedRow => ({
    ...{ recording: 'a', ladder: 'l', gpu: 'h100', rung: '01', measuredMs: 1, cache: 'cold' },
    predicted: { ms: ratio, lowMs: ratio / 1.2, highMs: ratio * 1.2, class: 'compute' },
    ...over,
  })

  it('are of errors both ways', () => {
    const { count, mean, bias, inside } = figuresOf([row(1.1), row(0.9), row(1.5)])
    expect(count).toBe(3)
    expect(mean).toBeCloseTo(0.7 / 3)
    expect(bias).toBeCloseTo((1.1 * 0.9 * 1.5) ** (1 / 3))
    expect(inside).toBeCloseTo(2 / 3)
  })

  it('leave out pairs of different recordings, and those too close to tell', () => {
    const a = row(1, { measuredMs: 1 })
    const near = row(2, { measuredMs: 1.01 })
    const wrong = row(0.5, { measuredMs: 3 })
    const elsewhere = row(0.1, { measuredMs: 9, recording: 'b' })
    expect(orderOf([a, near, wrong, elsewhere], 0.05)).toEqual({ pairs: 2, right: 0 })
  })

  it('hold a factor for the ladders that did not make it', () => {
    const many = ['x', 'y'].flatMap((ladder) => [row(1.1, { ladder }), row(0.8, { ladder })])
    expect(heldFactor(many, 0.9)).toBeCloseTo(1.25)
  })

  it('call two stall reasons the same set where a third is close to the second', () => {
    const stalls = {
      measured: [
        { reason: 'a', warps: 10 },
        { reason: 'b', warps: 2 },
        { reason: 'c', warps: 1.9 },
      ],
      predicted: [
        { reason: 'a', warps: 8 },
        { reason: 'c', warps: 3 },
      ],
    }
    expect(stallsAgree([row(1, { stalls })])).toMatchObject({ rungs: 1, agree: 1 })
  })
})
