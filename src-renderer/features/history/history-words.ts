/** What the history screen shows of a series, and which one first. */
import type { History, Series } from '../../../src-main/domain/history/history'

/** Distinguishes the series of a history. */
export const keyOf = ({ rung, params, problem, environment }: Series): string =>
  JSON.stringify([rung, params, problem, environment])

/** What was measured where: series of the same group differ only in their rung. */
export const groupOf = ({ problem, environment }: Series): string =>
  JSON.stringify([problem, environment])

const largest = ({ changes }: Series): number =>
  Math.max(0, ...changes.map(({ ratio }) => Math.abs(Math.log(ratio))))

/** The one whose time moved most; the longest where none did. */
export function firstShown({ series }: Pick<History, 'series'>): Series | undefined {
  return series.toSorted((a, b) => largest(b) - largest(a) || b.points.length - a.points.length)[0]
}

/** Why a time moved: by its own source, with the whole GPU, or neither. */
export function reasonOf({
  ratio,
  relative,
  sourceChanged,
}: Series['changes'][number]): 'source' | 'together' | 'unknown' {
  if (sourceChanged) return 'source'
  const moved = Math.abs(Math.log(ratio))
  return relative !== null && Math.abs(Math.log(relative)) < moved / 3 ? 'together' : 'unknown'
}
