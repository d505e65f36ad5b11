/** Strings in the matrix: row names, exact values, and their origins. */
import { t, wordsAt } from '../../ui/words'
import { language } from '../../ui/language'
import type { MatrixCell, MatrixRow, MatrixGroup } from './matrix'
import type { RungResult, Session } from '../../../src-main/domain/session/session'
import { useProvenance } from '../shared/use-provenance'
import { useMetricWords } from '../shared/use-metric-words'
import type { CopyWords } from './matrix-copy'

export function useMatrixWords() {
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
  const unit = (row: MatrixRow): string => wordsAt(`unit.${row.unit}`) ?? row.unit

  /**
   * Returns a metric's meaning. For ncu metrics, refers to ncu's documentation, because this
   * program stores only the names of these metrics.
   */
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

  /** Returns a cell's exact value and origin as sentences. */
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

  /**
   * Returns the sentences for a cell with a baseline: the value, its factor or difference, and the
   * verdict.
   */
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

  /**
   * The language is part of a rendered cell's key, because the cell's text depends on the language.
   */
  const shownLanguage = () => language.value

  return {
    label,
    group,
    unit,
    meaning,
    cellText,
    origin,
    against,
    forCopy,
    language: shownLanguage,
  }
}
