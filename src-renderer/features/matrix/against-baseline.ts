/**
 * Compares the matrix with a baseline: each figure's factor or difference, and whether it is
 * better.
 */
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

/**
 * Returns how far apart two figures are: the difference for percentages, the factor for other
 * units.
 */
function distance(base: number, value: number, unit: string): string {
  if (unit === '%') return value === base ? '0' : bareDelta(value - base, '%')
  if (value === 0) return '0'
  // A factor from zero does not exist.
  if (base === 0) return `+${formatCount(value)}`
  return formatRatio(value / base)
}

/**
 * Whether a row is the time or is derived from it. Lower is better for a time, higher for
 * operations and bytes per second.
 */
const followsTime = (row: MatrixRow): boolean => row.source === 'timing'

/**
 * Returns the rows relative to the baseline. `base` has the same rows of the baseline alone. A row
 * missing there keeps its figures, and so do times measured with a different L2 state. Sessions
 * that cannot be compared show differences without verdicts.
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

/** Sorts rungs by a row's values; rungs without a value come last. */
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
