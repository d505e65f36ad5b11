/** Generates the tables of prediction errors in docs/evidence/prediction.md. */
import { predictionClasses } from '../../src-main/domain/prediction/prediction'
import { mdTable } from '../../src-main/domain/text/markdown'
import {
  figuresOf,
  isTold,
  offBy,
  orderOf,
  percent,
  ratioOf,
  stallsAgree,
  type PredictedRow,
} from './prediction-rows'

export const accuracyDocument = 'docs/evidence/prediction.md'

const line = (name: string, rows: readonly PredictedRow[]): string[] => {
  const { count, mean: average, median: middle, bias, inside } = figuresOf(rows)
  const order = orderOf(rows, 0.05)
  return [
    name,
    String(count),
    percent(average),
    percent(middle),
    bias.toFixed(3),
    percent(inside),
    order.pairs === 0 ? '–' : `${order.right} of ${order.pairs}`,
  ]
}

const columns = (headers: readonly string[]) => headers.map((header) => ({ header }))

const head = ['', 'Rungs', 'Mean error', 'Median error', 'Bias', 'In the range', 'Pairs in order']

const usesTensorCores = ({ predicted }: PredictedRow): boolean =>
  predicted?.class === 'tensor' || predicted?.class === 'pipeline'

function groupsOf(rows: readonly PredictedRow[]): [string, PredictedRow[]][] {
  const by = (name: string, keep: (row: PredictedRow) => boolean): [string, PredictedRow[]] => [
    name,
    rows.filter((row) => row.predicted && keep(row)),
  ]
  return [
    by('all', () => true),
    by('without tensor cores', (row) => !usesTensorCores(row)),
    by('with tensor cores', usesTensorCores),
    by('H200', ({ gpu }) => gpu === 'h200'),
    by('H100', ({ gpu }) => gpu === 'h100'),
    ...predictionClasses.map((name) =>
      by(`class ${name}`, ({ predicted }) => predicted?.class === name),
    ),
  ]
}

export function accuracyTables(rows: readonly PredictedRow[]): string {
  if (!rows.some(isTold)) return 'No recording has been compared yet.'
  const told = rows.filter(isTold)
  const byRecording = [...new Set(rows.map(({ recording }) => recording))].toSorted()
  const worst = told.toSorted((a, b) => offBy(b) - offBy(a))
  const refused = rows.filter((row) => !isTold(row))
  const stalls = stallsAgree(rows)
  const wide = orderOf(rows, 0.2)
  return [
    mdTable(
      columns(head),
      groupsOf(rows)
        .filter(([, own]) => own.length > 0)
        .map(([name, own]) => line(name, own)),
    ),
    `A pair is two rungs of one recording whose measured times differ by more than 5 %. Among pairs that differ by more than 20 %, ${wide.right} of ${wide.pairs} are in the right order. The two largest stall reasons match the measured ones in ${stalls.agree} of the ${stalls.rungs} rungs with recorded stall reasons.`,
    mdTable(
      columns(['Recording', ...head.slice(1)]),
      byRecording
        .filter((name) => told.some(({ recording }) => recording === name))
        .map((name) =>
          line(
            `\`${name}\``,
            rows.filter(({ recording }) => recording === name),
          ),
        ),
    ),
    'The largest errors:',
    mdTable(
      columns(['Recording', 'Rung', 'Measured', 'Predicted', 'Ratio', 'Class']),
      worst
        .slice(0, 10)
        .map((row) => [
          `\`${row.recording}\``,
          `\`${row.rung}\``,
          `${row.measuredMs.toPrecision(3)} ms`,
          `${row.predicted.ms.toPrecision(3)} ms`,
          ratioOf(row).toFixed(2),
          row.predicted.class,
        ]),
    ),
    `${refused.length} rungs have no prediction${refused.length > 0 ? `: ${refused.map(({ recording, rung }) => `\`${rung}\` of ${recording}`).join(', ')}` : ''}.`,
  ].join('\n\n')
}

export function summary(rows: readonly PredictedRow[]): string {
  if (!rows.some(isTold)) return 'No recording has been compared yet.'
  return groupsOf(rows)
    .filter(([, own]) => own.length > 0)
    .map(([name, own]) => line(name, own).join('  '))
    .join('\n')
}
