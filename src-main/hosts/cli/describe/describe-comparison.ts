/** Prints a comparison of two rungs as terminal text. */
import {
  parameterWords,
  type MetricDelta,
  type RungComparison,
  type TimeDelta,
  type Verdict,
} from '../../../domain/analysis/compare'
import {
  formatPredictedMs,
  formatPredictedRatio,
  predictedRatio,
} from '../../../domain/metrics/predicted-range'
import type { PredictedTime } from '../../../domain/session/predicted'
import { formatMs, formatRatio } from '../../../domain/metrics/units'
import type { Why } from '../../../domain/why/why'
import { table, type Column } from '../table'
import { describeWhy } from './describe-why'
import type { Hunk } from '../../../services/compare/source-diff'
import { none, metric } from './figure'

const verdictWords: Record<Verdict, string> = {
  better: '▲ better',
  worse: '▼ worse',
  changed: '◆ changed',
  same: '= same',
  unknown: '? unknown',
}

/**
 * Describes a metric change that the later rung's header expects, and whether the metric changed as
 * expected.
 */
export function describeExpectation({ expected }: MetricDelta): string {
  if (!expected) return ''
  const outcome = expected.met === null ? 'unknown' : expected.met ? '✓' : '✗'
  return `expected ${expected.direction}: ${outcome}`
}

const timeText = (ms: number | null, predicted: PredictedTime | null | undefined): string =>
  predicted ? formatPredictedMs(predicted) : ms === null ? none : formatMs(ms)

const speedupText = ({ predicted }: TimeDelta, speedup: number): string =>
  predicted?.a && predicted.b
    ? formatPredictedRatio(predictedRatio(predicted.a, predicted.b))
    : formatRatio(speedup)

const isCounted = ({ a, b }: MetricDelta): boolean => a?.value != null || b?.value != null

export function describeComparison(
  comparison: RungComparison,
  /** Source changes, or null if a source is unknown. */
  hunks: readonly Hunk[] | null,
  why: Why,
): string {
  const { a, b, parameters, time, metrics } = comparison
  const isTimed = time.aMs !== null || time.bMs !== null
  const timeRow = [
    {
      label: 'Time',
      a: timeText(time.aMs, time.predicted?.a),
      b: timeText(time.bMs, time.predicted?.b),
      change: time.speedup === null ? none : `${speedupText(time, time.speedup)} as fast`,
      verdict: verdictWords[time.verdict],
      expected: '',
    },
  ]
  const rows = [
    ...(isTimed ? timeRow : []),
    // Omit metrics that were not counted. The session's profile level already shows which counters
    // are missing.
    ...metrics.filter(isCounted).map((delta) => ({
      label: delta.label,
      a: metric(delta.a ?? undefined),
      b: metric(delta.b ?? undefined),
      change: delta.ratio === null ? none : formatRatio(delta.ratio),
      verdict: verdictWords[delta.verdict],
      expected: describeExpectation(delta),
    })),
  ]
  type Row = (typeof rows)[number]
  const columns: Column<Row>[] = [
    { header: '', align: 'left', cell: ({ label }) => label },
    { header: a.rung, cell: (row) => row.a },
    { header: b.rung, cell: (row) => row.b },
    { header: 'b / a', cell: ({ change }) => change },
    { header: '', align: 'left', cell: ({ verdict }) => verdict },
    { header: '', align: 'left', cell: ({ expected }) => expected },
  ]
  const patch = (hunks ?? []).flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
    ...lines,
  ])
  return [
    `${a.rung} (${a.title}) → ${b.rung} (${b.title})`,
    '',
    ...describeWhy(why),
    '',
    table(rows, columns),
    ...(metrics.some(({ verdict, ratio }) => verdict === 'same' && ratio !== null && ratio !== 1)
      ? ['same: equal, or a difference within the noise or too small to matter']
      : []),
    ...(parameters.length > 0 ? ['', `Parameters: ${parameterWords(parameters)}`] : []),
    '',
    ...(hunks === null ? ['The session does not contain both sources.'] : []),
    ...(hunks?.length === 0 ? ['The sources are the same.'] : patch),
  ].join('\n')
}
