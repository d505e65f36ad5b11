/** Sorts the ladder's rows, and filters the rows that are not pinned. */
import { foundBy } from '../shared/shown-rungs'
import type { LadderRow } from './ladder-rows'

export const ladderSorts = ['order', 'time', 'step', 'metric'] as const

export type LadderSort = (typeof ladderSorts)[number]

export interface LadderView {
  search: string
  sort: LadderSort
  /** The metric to sort by, if `sort` is `metric`. */
  metric: string
  pinned: readonly string[]
}

/** Returns a row's sort key. Larger keys come first, and null comes last. */
function sortValue(row: LadderRow, { sort, metric }: LadderView): number | null {
  switch (sort) {
    case 'order':
      return null
    case 'time':
      return row.rung.timing || row.rung.profiledTime
        ? -(row.rung.timing?.medianMs ?? row.rung.profiledTime!.totalMs)
        : null
    case 'step':
      return row.step?.factor ?? null
    case 'metric':
      return row.rung.metrics[metric]?.value ?? null
  }
}

/**
 * Returns the pinned rows and the rows that match the search. The search does not remove pinned
 * rows. By default, pinned rows and other rows are in ladder order.
 */
export function arrangeRows(
  rows: readonly LadderRow[],
  view: LadderView,
): { pinned: LadderRow[]; rows: LadderRow[] } {
  const isFound = foundBy(view.search, rows) ?? (() => true)
  const isPinned = ({ rung }: LadderRow) => view.pinned.includes(rung.id)
  const shown = rows.filter((row) => !isPinned(row) && isFound(row))
  if (view.sort !== 'order')
    shown.sort((a, b) => {
      const [left, right] = [sortValue(a, view), sortValue(b, view)]
      if (left === null || right === null) return Number(left === null) - Number(right === null)
      return right - left
    })
  return { pinned: rows.filter(isPinned), rows: shown }
}
