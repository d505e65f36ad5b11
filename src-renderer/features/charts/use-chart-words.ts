/** Text shared by several charts: where the data comes from, and file names. */
import { useI18n } from 'vue-i18n'
import type { RungResult, Session } from '../../../src-main/domain/session/session'
import { formatDate, problemText } from '../../ui/format'
import type { ChartId } from '../../../src-main/domain/report/drawing'
import { rungLabel } from './figure'

/** Further rungs are counted and not named: a program can have hundreds of kernels. */
const mostNamed = 12

export function useChartWords() {
  const { t } = useI18n()

  const origin = (session: Session): string => {
    const { problem } = session
    return [
      session.ladder.title,
      ...(problem ? [problemText(problem)] : []),
      ...(session.device ? [session.device.name] : []),
      ...(session.tools.nvcc ? [`nvcc ${session.tools.nvcc}`] : []),
      ...(session.tools.ncu ? [`ncu ${session.tools.ncu}`] : []),
      t(`targets.${session.target.kind}.chart`, { date: formatDate(session.createdAt) }),
    ].join(' · ')
  }

  const fileName = (session: Session, chart: ChartId): string => {
    const [size] = Object.values(session.problem?.sizes ?? {})
    return [session.ladder.id, ...(size === undefined ? [] : [String(size)]), chart].join('-')
  }

  /** The names, or the first of very many. */
  const someOf = (names: readonly string[]): string => {
    const first = names.slice(0, mostNamed).join(', ')
    const more = names.length - mostNamed
    return more > 0 ? t('charts.andMore', { rungs: first, count: more }) : first
  }

  /** Names the rungs that are not drawn, with the reason if they share one. */
  const leftOut = (session: Session, rungs: readonly RungResult[], reason?: string): string[] =>
    rungs.length === 0
      ? []
      : [
          t(reason === undefined ? 'charts.leftOut' : 'charts.leftOutBecause', {
            rungs: someOf(rungs.map((rung) => rungLabel(session, rung))),
            reason: reason ?? '',
          }),
        ]

  return { origin, fileName, someOf, leftOut }
}
