/** Compares the matrix with a baseline. Each value gets a factor or difference and a verdict. */
import { areTimesRanked } from '../../../src-main/domain/analysis/comparability'
import { compareRungs, type Verdict } from '../../../src-main/domain/analysis/compare'
import type { RungResult, Session } from '../../../src-main/domain/session/session'
import { formatCount, formatRatio } from '../../../src-main/domain/metrics/units'
import { bareDelta } from '../../ui/format'
import { guardOf, withoutVerdicts } from '../shared/comparison-guard'
import type { MatrixCell, MatrixRow, MatrixItem } from './matrix'

interface Side {
  session: Session
  rung: RungResult
}

/** Returns the difference if the unit is percent, and the factor otherwise. */
function distance(base: number, value: number, unit: string): string {
  if (unit === '%') return value === base ? '0' : bareDelta(value - base, '%')
  if (value === 0) return '0'
  // A factor relative to zero is undefined, so show the difference.
  if (base === 0) return `+${formatCount(value)}`
  return formatRatio(value / base)
}

/**
 * Returns whether a row is the time or is derived from it. Lower is better for times. Higher is
 * better for operations and bytes per second.
 */
const followsTime = (row: MatrixRow): boolean => row.source === 'timing'

/**
 * Returns the rows relative to the baseline. `base` contains the same rows, with only the
 * baseline's values. A row that is missing in `base` is returned unchanged. Times are also returned
 * unchanged if their L2 state differs from the baseline's. If the sessions cannot be compared, the
 * differences have no verdicts.
 */
export function againstBaseline(
  items: readonly MatrixItem[],
  rungs: readonly RungResult[],
  session: Session,
  base: Side,
  baseItems: readonly MatrixItem[],
): MatrixItem[] {
  const baseCells = new Map(
    baseItems.flatMap((item) =>
      item.type === 'metric' ? [[item.id, item.cells[0]] as const] : [],
    ),
  )
  const guard = base.session === session ? undefined : guardOf(base.session, session)
  const ranked = areTimesRanked(base.session, session)
  const verdicts = rungs.map((rung) => {
    const compared = compareRungs(base, { session, rung })
    const found = guard?.refusals.length ? withoutVerdicts(compared) : compared
    return {
      time: found.time.verdict,
      metrics: new Map(found.metrics.map(({ id, verdict }) => [id, verdict])),
    }
  })
  return items.map((item): MatrixItem => {
    if (item.type === 'group' || (followsTime(item) && !ranked)) return item
    const own = baseCells.get(item.id)
    if (own?.kind !== 'value') return item
    const verdictOf = (index: number): Verdict =>
      (followsTime(item) ? verdicts[index]?.time : verdicts[index]?.metrics.get(item.id)) ??
      'unknown'
    return {
      ...item,
      cells: item.cells.map((cell, index): MatrixCell => {
        if (cell.kind !== 'value') return cell
        const isBase = rungs[index] === base.rung
        return {
          ...cell,
          text: isBase ? cell.text : distance(own.value, cell.value, item.unit),
          exact: cell.text,
          verdict: isBase ? null : verdictOf(index),
        }
      }),
    }
  })
}

/** Returns the rungs sorted by a row's values. Rungs without a value come last. */
export function rungsByRow(
  rungs: readonly RungResult[],
  row: MatrixRow | undefined,
  direction: 'down' | 'up',
): readonly RungResult[] {
  if (!row) return rungs
  const valueOf = (index: number) => {
    const cell = row.cells[index]
    return cell?.kind === 'value' ? cell.value : null
  }
  return rungs
    .map((rung, index) => ({ rung, value: valueOf(index) }))
    .sort((a, b) => {
      if (a.value === null || b.value === null)
        return Number(a.value === null) - Number(b.value === null)
      return direction === 'down' ? b.value - a.value : a.value - b.value
    })
    .map(({ rung }) => rung)
}
