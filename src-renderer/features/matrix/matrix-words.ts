/** Texts of the matrix: row names, and a cell's exact value and origin. */
import { useI18n } from 'vue-i18n'
import { csvTable, type Cell, md, mdTable } from '../../../src-main/domain/text/tables'
import type { MatrixCell, MatrixItem, MatrixRow, MatrixGroup } from './matrix'
import type { RungResult, Session } from '../../../src-main/domain/session/session'
import { useMetricWords, useProvenance } from '../metrics'

// The matrix as text for a spreadsheet or document; session contents never become a formula or markup.

export interface CopyWords {
  metric: string
  unit: string
  label(row: MatrixRow): string
  unavailable: string
  absent: string
}

const rowsOf = (items: readonly MatrixItem[]): MatrixRow[] =>
  items.filter((item) => item.type === 'metric')

/** Numbers at full precision, so that a spreadsheet can calculate with them. */
function csvCell(cell: MatrixCell, words: CopyWords): Cell {
  switch (cell.kind) {
    case 'value':
      return cell.value
    case 'text':
      return cell.text
    case 'several':
      return cell.texts.join(' / ')
    case 'unavailable':
      return words.unavailable
    case 'absent':
      return words.absent
  }
}

export const matrixCsv = (
  titles: readonly string[],
  items: readonly MatrixItem[],
  words: CopyWords,
): string =>
  csvTable(
    // Header cells are escaped like the others: a title may contain anything.
    [words.metric, words.unit, ...titles],
    rowsOf(items).map((row) => [
      row.source === 'ncu' ? row.id : words.label(row),
      row.unit,
      ...row.cells.map((cell) => csvCell(cell, words)),
    ]),
  )

/** Figures formatted as on screen. */
export const matrixMarkdown = (
  titles: readonly string[],
  items: readonly MatrixItem[],
  words: CopyWords,
): string =>
  mdTable(
    [
      { header: md(words.metric), align: 'left' },
      { header: md(words.unit), align: 'left' },
      ...titles.map((title) => ({ header: md(title) })),
    ],
    rowsOf(items).map((row) => [
      md(row.source === 'ncu' ? row.id : words.label(row)),
      md(row.unit),
      ...row.cells.map((cell) =>
        cell.kind === 'value' ? md(cell.text) : md(String(csvCell(cell, words))),
      ),
    ]),
  )

export function useMatrixWords() {
  const { t, te, locale } = useI18n()
  const { metricLabel, metricMeaning } = useMetricWords()
  const { metricTip, timeTip, throughputTip, rateTip, ratioTip } = useProvenance()

  const label = ({ id, source }: MatrixRow): string => {
    if (source === 'timing') return t(`matrix.timing.${id}`)
    return source === 'registry' ? metricLabel(id) : id
  }
  const group = (id: MatrixGroup): string => {
    if (id === 'time') return t('ladder.group.time')
    return id === 'ncu' ? t('matrix.ncu') : t(`metricGroup.${id}`)
  }
  const unit = (row: MatrixRow): string =>
    te(`unit.${row.unit}`) ? t(`unit.${row.unit}`) : row.unit

  /** Only the names of ncu's own metrics are known here; ncu documents their meaning. */
  const meaning = ({ id, source }: MatrixRow): string => {
    if (source === 'registry') return metricMeaning(id) ?? ''
    return source === 'timing' ? t(`matrix.timingMeaning.${id}`) : t('matrix.ncuMeaning')
  }

  const cellText = (cell: MatrixCell): string => {
    switch (cell.kind) {
      case 'value':
      case 'text':
        return cell.text
      case 'several':
        return t('matrix.several', { n: cell.texts.length })
      case 'unavailable':
        return t('evidence.unavailableShort')
      case 'absent':
        return '—'
    }
  }

  /** A cell's exact value and origin, as sentences. */
  function origin(session: Session, rung: RungResult, row: MatrixRow, cell: MatrixCell): string[] {
    if (row.source === 'registry') return [...metricTip(session, rung, row.id).lines]
    if (row.source === 'timing') {
      const tip =
        row.id === 'time'
          ? timeTip(rung)
          : row.id === 'throughput'
            ? throughputTip(rung)
            : row.id === 'bandwidth'
              ? rateTip(session, rung)
              : ratioTip(session, rung)
      return [...(tip.title ? [tip.title] : []), ...tip.lines]
    }
    switch (cell.kind) {
      case 'value':
        return [
          `${cell.value} ${row.unit}`.trim(),
          t('matrix.byNcu', { ncu: session.tools.ncu ?? '' }),
        ]
      case 'text':
        return [cell.text]
      case 'several':
        return [t('matrix.severalText', { values: cell.texts.join(' / ') })]
      case 'unavailable':
        return [t('matrix.noValue')]
      case 'absent':
        return [t('provenance.absent', { level: session.settings.profile })]
    }
  }

  /** The figure beside how far it is from the baseline, and the verdict that the color stands for. */
  const against = (cell: MatrixCell): string[] =>
    cell.kind === 'value' && cell.exact !== undefined
      ? [
          cell.exact,
          ...(cell.verdict
            ? [`${cell.text}, ${t(`verdict.${cell.verdict}`)}`]
            : [t('baseline.label')]),
        ]
      : []

  const forCopy = (): CopyWords => ({
    metric: t('compare.metric'),
    unit: t('matrix.unit'),
    label,
    unavailable: t('evidence.unavailableShort'),
    absent: t('evidence.absent'),
  })

  /** A rendered cell depends on this as well as on its value. */
  const language = () => locale.value

  return { label, group, unit, meaning, cellText, origin, against, forCopy, language }
}
