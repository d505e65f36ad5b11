/**
 * A rung's metric cells. There are thousands of cells, and most are never seen, so they are
 * calculated before rendering.
 */
import type { MetricValue } from '../../../src-main/domain/metrics/metrics'
import { bareFigure } from '../../ui/format'
import type { LadderRow } from './ladder-rows'
import { share, type Scale } from '../../ui/scale'

export interface MetricCell {
  id: string
  /** The text shown, or null if there is no value. */
  text: string | null
  evidence: MetricValue['evidence'] | 'absent'
  /** Length of the bar as a percentage of its track. */
  width: string
  isZero: boolean
  expected: { met: boolean; direction: string } | null
}

export const metricCells = (
  { rung, comparison }: LadderRow,
  scales: ReadonlyMap<string, Scale>,
): MetricCell[] =>
  [...scales.keys()].map((id) => {
    const figure = rung.metrics[id]
    const value = figure?.value ?? null
    const scale = scales.get(id)
    const expected = comparison?.metrics.find((metric) => metric.id === id)?.expected
    return {
      id,
      text: figure && value !== null ? bareFigure(value, figure.unit) : null,
      evidence: !figure ? 'absent' : value === null ? 'unavailable' : figure.evidence,
      width: `${((scale ? share(scale, value ?? 0) : 0) * 100).toFixed(1)}%`,
      isZero: value === 0,
      // Mark an expectation only if there is a value to compare with it. The row's details report a
      // missing value.
      expected:
        expected && expected.met !== null
          ? { met: expected.met, direction: expected.direction }
          : null,
    }
  })
