/** Tests the error of predicted times in the stored comparison. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { documentWith } from '../../scripts/lib/document.mjs'
import { predictionClasses } from '../../src-main/domain/prediction/prediction'
import { rangeOf } from '../../src-main/domain/prediction/ranges'
import {
  ablatedRecordings,
  ablationPath,
  ablationTables,
  type AblationFile,
} from '../../scripts/lib/ablation-table'
import { ablations } from '../../src-main/domain/prediction/ablation'
import {
  classFactors,
  factorsPath,
  factorsText,
  heldOut,
} from '../../scripts/lib/prediction-ranges'
import {
  accuracyPath,
  figuresOf,
  orderOf,
  stallsAgree,
  type PredictedRow,
} from '../../scripts/lib/prediction-rows'
import { publishedLadders, publishedPath } from '../../scripts/lib/prediction-published'
import { documentBlocks } from '../../scripts/lib/prediction-document'
import { accuracyDocument } from '../../scripts/lib/prediction-table'

const root = join(import.meta.dirname, '../..')
const rows = JSON.parse(readFileSync(join(root, accuracyPath), 'utf8')) as PredictedRow[]

const published = JSON.parse(readFileSync(join(root, publishedPath), 'utf8')) as PredictedRow[]
const ablation = JSON.parse(readFileSync(join(root, ablationPath), 'utf8')) as AblationFile

describe('predictions for recorded rungs', () => {
  it('match the table that `npm run prediction` writes to docs/evidence/prediction.md', async () => {
    const written = readFileSync(join(root, accuracyDocument), 'utf8')
    expect(await documentWith(accuracyDocument, documentBlocks(rows, ablation, published))).toBe(
      written,
    )
  })

  it('without tensor cores have mean and median errors of at most 10 % and 6 %', () => {
    const own = rows.filter(({ predicted }) => predicted && predicted.class !== 'tensor')
    expect(figuresOf(own).mean).toBeLessThanOrEqual(0.1)
    expect(figuresOf(own).median).toBeLessThanOrEqual(0.06)
  })

  it("rank 95 % of a recording's rung pairs correctly if their times differ by more than 5 %", () => {
    const { pairs, right } = orderOf(rows, 0.05)
    expect(right / pairs).toBeGreaterThanOrEqual(0.95)
  })

  it('have ranges that contain nine of ten measured times', () => {
    expect(figuresOf(rows).inside).toBeGreaterThanOrEqual(0.9)
  })

  it('determine the ranges that `npm run prediction` writes for all classes', () => {
    expect(readFileSync(join(root, factorsPath), 'utf8')).toBe(factorsText(rows))
  })

  it.each(predictionClasses)(
    'of class %s have ranges, fitted on other ladders, that contain at least 90 % of measured times',
    (name) => {
      const { rungs, inside } = heldOut(rows, name)
      expect(inside).toBeGreaterThanOrEqual(0.9 * rungs)
    },
  )
})

describe('the ablation', () => {
  it('omits each part of the model for the same rungs', () => {
    const told = rows.filter(({ predicted }) => predicted !== null)
    const named = ({ recording, rung }: PredictedRow): string => `${recording} ${rung}`
    const whole = told
      .filter(({ recording }) => new RegExp(ablatedRecordings).test(recording))
      .map(named)
      .toSorted()
    for (const name of ablations) {
      const own = ablation.rows.filter(({ without, predicted }) => without === name && predicted)
      expect(own.map(named).toSorted()).toEqual(whole)
    }
  })

  it('compares errors with those of the complete model for the same rungs', () => {
    const row = rows.find(({ predicted }) => predicted !== null)!
    const slower = { ...row, predicted: { ...row.predicted!, ms: 3 * row.measuredMs } }
    const table = ablationTables([row], {
      rows: ablations.map((without) => ({ ...slower, without })),
    })
    expect(table).toMatch(/without L1 replay +\| +1 +\| +200\.0 %/)
  })
})

it('every published step on a GPU that we did not measure is compared with its prediction', () => {
  const steps = publishedLadders(root).flatMap(({ ladder, gflops }) =>
    Object.keys(gflops).map((rung) => `${ladder} ${rung}`),
  )
  expect(steps.length).toBeGreaterThan(0)
  const compared = published.map(({ ladder, rung }) => `${ladder} ${rung}`)
  expect(compared.toSorted()).toEqual(steps.toSorted())
})

describe('the figures', () => {
  const row = (ratio: number, over: Partial<PredictedRow> = {}): PredictedRow => ({
    ...{ recording: 'a', ladder: 'l', gpu: 'h100', rung: '01', measuredMs: 1, cache: 'cold' },
    predicted: { ms: ratio, class: 'compute', widened: [] },
    ...over,
  })

  it('include predictions that are too long or too short', () => {
    const { count, mean, bias, inside } = figuresOf([row(1.1), row(0.9), row(1.5)])
    const { highMs } = rangeOf(1, 'compute', [])
    expect(highMs).toBeGreaterThan(1 / 0.9)
    expect(highMs).toBeLessThan(1.5)
    expect(count).toBe(3)
    expect(mean).toBeCloseTo(0.7 / 3)
    expect(bias).toBeCloseTo((1.1 * 0.9 * 1.5) ** (1 / 3))
    expect(inside).toBeCloseTo(2 / 3)
  })

  it('exclude pairs from different recordings, and pairs whose times are nearly equal', () => {
    const a = row(1, { measuredMs: 1 })
    const near = row(2, { measuredMs: 1.01 })
    const wrong = row(0.5, { measuredMs: 3 })
    const elsewhere = row(0.1, { measuredMs: 9, recording: 'b' })
    expect(orderOf([a, near, wrong, elsewhere], 0.05)).toEqual({ pairs: 2, right: 0 })
  })

  const many = (ladders: string[], ratios: number[], over: Partial<PredictedRow> = {}) =>
    ladders.flatMap((ladder) => ratios.map((ratio) => row(ratio, { ladder, ...over })))

  it('determine a range that contains nine of ten unseen times', () => {
    const rows = many(['x', 'y', 'z'], [1.01, 1.02, 1 / 1.2])
    expect(classFactors(rows).compute).toBe(1.2)
    expect(heldOut(rows, 'compute')).toEqual({ rungs: 9, inside: 9 })
  })

  it('determine a wider range if few or no ladders belong to the class', () => {
    const rows = many(['x', 'y'], [1.01, 1.02, 1.1])
    expect(classFactors(rows)).toMatchObject({ compute: 1.21, memory: 1.21, atomics: 2.5 })
  })

  it('count the times outside the range that is computed from the other ladders', () => {
    const rows = [...many(['x', 'y', 'z'], [1.01, 1.02, 1.03]), ...many(['odd'], [2, 2, 2])]
    expect(classFactors(rows).compute).toBe(2)
    expect(heldOut(rows, 'compute')).toEqual({ rungs: 12, inside: 9 })
  })

  it('ignore errors within the range that a warning already widened', () => {
    const widened = { ms: 1.3, class: 'compute' as const, widened: ['uneven-blocks' as const] }
    const rows = many(['x', 'y', 'z'], [1, 1, 1], { predicted: widened })
    expect(classFactors(rows).compute).toBe(1.09)
  })

  it('treat the second and third measured stall reasons as interchangeable if their stalls are nearly equal', () => {
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
