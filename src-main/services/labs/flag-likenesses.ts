/** Marks the rows for submissions that are similar to another submission or to the solution. */
import type { LabFolder } from '../../adapters/labs/lab-folders'
import { findLikenesses, likenessTo } from '../../domain/labs/similarity'
import type { GradeRow } from '../../domain/labs/grade-row'

export function flagLikenesses(
  rows: GradeRow[],
  sources: ReadonlyMap<string, string>,
  lab: LabFolder,
): void {
  const likenesses = findLikenesses(sources, [lab.starter, lab.solution])
  for (const row of rows) {
    const source = sources.get(row.student)
    row.likeSolution = source === undefined ? null : likenessTo(lab.solution, source, [lab.starter])
    row.similarTo = likenesses.flatMap(({ a, b, share }) =>
      a === row.student
        ? [{ student: b, share }]
        : b === row.student
          ? [{ student: a, share }]
          : [],
    )
  }
}
