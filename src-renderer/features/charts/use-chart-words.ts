/** Strings that several charts share: data sources and file names. */
import { t } from '../../ui/words'
import type { RungResult, Session } from '../../../src-main/domain/session/session'
import { formatDate, problemText } from '../../ui/format'
import { unusualScalars } from '../../../src-main/domain/task/problem'
import type { ChartId } from '../../../src-main/domain/report/chart-drawings'
import { rungLabel } from './figure-table'

/**
 * Maximum number of rung names in a list, because a program can have hundreds of kernels with long
 * names. The list ends with the number of rungs that it omits.
 */
const mostNamed = 12

const mostLetters = 160

/** Returns as many names as fit the limits, and at least one. */
function named(names: readonly string[]): readonly string[] {
  let letters = 0
  const past = names.findIndex((name, index) => {
    letters += name.length
    return index === mostNamed || (index > 0 && letters > mostLetters)
  })
  return past === -1 ? names : names.slice(0, past)
}

export function useChartWords() {
  const origin = (session: Session): string => {
    const { problem } = session
    return [
      session.ladder.title,
      ...(problem ? [problemText(problem, unusualScalars(session.ladder.task, problem))] : []),
      ...(session.device ? [session.device.name] : []),
      ...(session.tools.nvcc ? [`nvcc ${session.tools.nvcc}`] : []),
      ...(session.tools.ncu ? [`ncu ${session.tools.ncu}`] : []),
      t(`targets.${session.target.kind}.chart`, {
        name: session.target.name,
        date: formatDate(session.createdAt),
      }),
    ].join(' · ')
  }

  const fileName = (session: Session, chart: ChartId): string => {
    const [size] = Object.values(session.problem?.sizes ?? {})
    return [session.ladder.id, ...(size === undefined ? [] : [String(size)]), chart].join('-')
  }

  /** Returns the names as text. A long list is cut and ends with the number of remaining names. */
  const shortList = (names: readonly string[]): string => {
    const first = named(names)
    const more = names.length - first.length
    const rungs = first.join(', ')
    return more > 0 ? t('charts.andMore', { rungs, count: more }) : rungs
  }

  /**
   * Returns a sentence that lists the rungs not drawn, or nothing if all rungs are drawn. The
   * sentence includes `reason` if it is given.
   */
  const leftOut = (session: Session, rungs: readonly RungResult[], reason?: string): string[] =>
    rungs.length === 0
      ? []
      : [
          t(reason === undefined ? 'charts.leftOut' : 'charts.leftOutBecause', {
            rungs: shortList(rungs.map((rung) => rungLabel(session, rung))),
            reason: reason ?? '',
          }),
        ]

  return { origin, fileName, shortList, leftOut }
}
