/**
 * Builds a report's tables: their columns, rows, and order. Each output format renders the cells.
 */
import type { MetricDelta, Verdict } from '../../domain/analysis/compare'
import type { MetricValue } from '../../domain/metrics/metrics'
import { message } from '../../domain/messages/message'
import { formatPredictedMs } from '../../domain/metrics/predicted-range'
import { formatMs, formatRatio, formatValue } from '../../domain/metrics/units'
import type { PrintedFact } from '../../domain/report/provenance'
import { halfSpread } from '../../domain/report/summary'
import { inEnglish } from '../../domain/text/english'
import type { ComparedFact, ComparedRung } from './comparison'
import {
  dash,
  withUnit,
  type Figure,
  type LadderRow,
  type ReportModel,
  type ReportStep,
} from './model'

export interface Cell {
  text: string
  /** Whether the text is displayed as code. */
  code?: true
  /** Mark appended to the text without escaping. */
  mark?: string
  /** 1-based index of a note below the tables. */
  note?: number
}

interface Column extends Cell {
  align?: 'left'
}

export interface Table {
  columns: readonly Column[]
  rows: readonly (readonly Cell[])[]
}

export const verdictWords: Record<Verdict, string> = {
  better: '▲ better',
  worse: '▼ worse',
  changed: '◆ changed',
  same: '= same',
  unknown: '? unknown',
}

const plain = (text: string): Cell => ({ text })
const code = (text: string): Cell => ({ text, code: true })
const number = (text: string): Column => ({ text })
const words = (text: string): Column => ({ text, align: 'left' })

const rungCell = ({ rung, isReference }: LadderRow): Cell => ({
  ...code(rung.id),
  ...(isReference ? { mark: ' (reference)' } : {}),
})

const figureCell = ({ text, evidence, note }: Figure): Cell => ({
  text,
  ...(evidence === 'derived' ? { mark: ' ○' } : evidence === 'predicted' ? { mark: ' ◇' } : {}),
  ...(note === undefined ? {} : { note }),
})

const predictedCells = ({ predicted }: LadderRow['rung']): Cell[] => [
  plain(predicted ? formatPredictedMs(predicted) : dash),
  plain(predicted ? inEnglish(message(`limiter.${predicted.limiter}`)) : dash),
]

/**
 * Returns the ladder's table. If there are no times, as in an emulated run, the table shows counted
 * metrics instead.
 */
export function ladderTable({ rows, counted }: ReportModel): Table {
  const hasTimes = rows.some(({ rung }) => rung.timing !== null)
  const headings = ['Time', '±', 'Throughput ○', 'Reference beside', 'To reference ○', 'Step ○']
  const isPredicted = rows.some(({ rung }) => rung.predicted)
  const ofRanges = rows.some(({ range }) => range !== undefined)
  const ofKernels = rows[0]?.kernel
    ? [
        rows.some(({ rung }) => rung.profiledTime?.timer === 'cupti')
          ? 'Time by CUPTI'
          : 'GPU time under ncu',
        ...['Share ○', 'Launches', 'Median launch'],
      ]
    : []
  return {
    columns: [
      ...['Rung', 'What', ...(ofRanges ? ['NVTX range'] : []), 'Status'].map(words),
      ...[
        ...ofKernels,
        ...(hasTimes ? headings : []),
        ...(isPredicted ? ['Predicted time ◇', 'Limited by ◇'] : []),
        ...counted.map(({ label }) => label),
      ].map(number),
    ],
    rows: rows.map((row) => {
      const { rung, time, spread, throughput, beside, ratio, step, kernel } = row
      const shown = [time, spread, throughput, beside, ratio, step]
      return [
        ...[rungCell(row), plain(rung.title)],
        ...(ofRanges ? [plain(row.range ?? dash)] : []),
        plain(rung.status),
        ...[
          ...(kernel ? [kernel.time, kernel.share, kernel.launches, kernel.median] : []),
          ...(hasTimes ? shown : []),
        ].map(({ text }) => plain(text)),
        ...(isPredicted ? predictedCells(rung) : []),
        ...row.counted.map(figureCell),
      ]
    }),
  }
}

/**
 * Returns the table for bursts and sustained launches, or null if the session has only single
 * launches.
 */
export function waysTable({ rows }: ReportModel): Table | null {
  const { burst, sustained } = rows[0] ?? {}
  if (!burst && !sustained) return null
  const headings = [
    ...(burst ? ['Burst', 'To reference ○'] : []),
    ...(sustained ? ['Sustained', 'To reference ○', 'SM clock', 'Power'] : []),
  ]
  return {
    columns: [words('Rung'), ...headings.map(number)],
    rows: rows.map((row) => {
      const { burst: bursts, sustained: alone } = row
      const figures = [
        ...(bursts ? [bursts.time, bursts.ratio] : []),
        ...(alone ? [alone.time, alone.ratio, alone.clock, alone.power] : []),
      ]
      return [rungCell(row), ...figures.map(({ text }) => plain(text))]
    }),
  }
}

/**
 * Returns the counter tables. The columns are distributed evenly, so that no table has only one
 * column.
 */
export function counterTables({ metrics, rows }: ReportModel, mostAcross: number): Table[] {
  const shown = metrics.flatMap(({ label, isAbsent }, index) =>
    isAbsent ? [] : [{ label, index }],
  )
  const tables = Math.ceil(shown.length / mostAcross)
  const across = Math.ceil(shown.length / Math.max(1, tables))
  return Array.from({ length: tables }, (_, at) => {
    const part = shown.slice(at * across, (at + 1) * across)
    return {
      columns: [words('Rung'), ...part.map(({ label }) => number(label))],
      rows: rows.map((row) => [
        rungCell(row),
        ...part.map(({ index }) => figureCell(row.metrics[index]!)),
      ]),
    }
  })
}

/**
 * Returns the author's published results. If the session has the same problem, its result is below
 * each published result.
 */
export const publishedTable = ({
  columns,
  hasOurs,
  rows,
}: NonNullable<ReportModel['published']>): Table => ({
  columns: [...['Rung', 'Whose'].map(words), ...columns.map(number)],
  rows: rows.flatMap(({ id, theirs, ours }) => [
    [code(id), plain('published'), ...theirs.map(plain)],
    ...(hasOurs ? [[plain(''), plain('here'), ...ours.map(plain)]] : []),
  ]),
})

const arrows = { up: '↑', down: '↓', same: '=' } as const

const announced = ({ expected }: MetricDelta): string =>
  expected === null
    ? ''
    : `${arrows[expected.direction]} ${expected.met === null ? 'unknown' : expected.met ? '✓ correct' : '✗ incorrect'}`

const metricText = (metric: MetricValue | null): string =>
  metric?.value == null ? dash : formatValue(metric.value, metric.unit)

const factor = (ratio: number | null): string => (ratio === null ? dash : formatRatio(ratio))

/** Returns the change in each counter from one rung to the next. */
export const stepTable = ({ from, to }: ReportStep, deltas: readonly MetricDelta[]): Table => ({
  columns: [
    words('Counter'),
    code(from.id),
    code(to.id),
    number('After / before ○'),
    ...['Verdict', 'Announced'].map(words),
  ],
  rows: deltas.map((delta) => [
    ...[
      withUnit(delta.label, delta.unit),
      metricText(delta.a),
      metricText(delta.b),
      factor(delta.ratio),
      verdictWords[delta.verdict],
      announced(delta),
    ].map(plain),
  ]),
})

export const factTable = (facts: readonly PrintedFact[]): Table => ({
  columns: ['What', 'Value'].map(words),
  rows: facts.map((fact) => [plain(fact.label), (fact.code ? code : plain)(fact.value)]),
})

const msWords = (ms: number | null): string => (ms === null ? dash : formatMs(ms))

/** Returns the cells that compare a rung's time in two sessions, excluding the rung's id. */
export const timeTexts = ({ a, b, rates, comparison: { time } }: ComparedRung): string[] => [
  msWords(time.aMs),
  msWords(time.bMs),
  factor(time.speedup),
  time.noise === null ? dash : halfSpread(time.noise),
  ...rates.map((rate) => rate || dash),
  a.status === b.status ? a.status : `${a.status} → ${b.status}`,
  verdictWords[time.verdict],
]

export const timeTable = (rungs: readonly ComparedRung[]): Table => ({
  columns: [
    words('Rung'),
    ...['Time, first', 'Time, second', 'Speedup ○', '±'].map(number),
    ...['Throughput, first ○', 'Throughput, second ○'].map(number),
    ...['Status', 'Verdict'].map(words),
  ],
  rows: rungs.map((rung) => [code(rung.a.id), ...timeTexts(rung).map(plain)]),
})

/** Returns only the counters that changed. The CSV contains all counters. */
export const movedCounters = ({ comparison }: ComparedRung): MetricDelta[] =>
  comparison.metrics.filter(({ verdict }) => !['same', 'unknown'].includes(verdict))

export const movedTable = (moved: readonly MetricDelta[]): Table => ({
  columns: [
    words('Counter'),
    ...['First', 'Second', 'Second / first ○'].map(number),
    words('Verdict'),
  ],
  rows: moved.map(({ label, unit, a, b, ratio, verdict }) =>
    [withUnit(label, unit), metricText(a), metricText(b), factor(ratio), verdictWords[verdict]].map(
      plain,
    ),
  ),
})

export const comparedFactTable = (facts: readonly ComparedFact[]): Table => ({
  columns: ['What', 'First', 'Second'].map(words),
  rows: facts.map((fact) => [plain(fact.label), ...[fact.a, fact.b].map(fact.code ? code : plain)]),
})
