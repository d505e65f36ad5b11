/** Variants of one source that differ in one parameter, compared with the author's measurements. */
import type { RungResult, Session } from '../../../src-main/domain/session/session'
import type { MetricValue } from '../../../src-main/domain/metrics/metrics'
import { leadFigure, leadOf } from '../../../src-main/domain/analysis/lead-figure'

interface StudyVariant {
  rung: RungResult
  /** The value of the study's parameter. */
  value: number
}

export interface Study {
  /** The source file, shown in the heading if a ladder has several studies. */
  file: string
  parameter: string
  /** The variants, in ascending order of the parameter. */
  variants: readonly StudyVariant[]
}

/** Minimum number of variants in a study, because the Compare screen is better for two variants. */
const fewest = 3

function differing(rungs: readonly RungResult[]): string[] {
  const names = [...new Set(rungs.flatMap(({ params }) => Object.keys(params)))]
  return names.filter((name) => new Set(rungs.map(({ params }) => params[name])).size > 1)
}

export function studies(session: Session): Study[] {
  const files = [...new Set(session.rungs.map(({ file }) => file))].filter((file) => file !== '')
  return files.flatMap((file) => {
    const rungs = session.rungs.filter((rung) => rung.file === file)
    const [parameter, ...others] = differing(rungs)
    if (parameter === undefined || others.length > 0) return []
    const variants = rungs
      .flatMap((rung) => {
        const value = rung.params[parameter]
        return value === undefined ? [] : [{ rung, value }]
      })
      .sort((a, b) => a.value - b.value)
    return new Set(variants.map(({ value }) => value)).size >= fewest
      ? [{ file, parameter, variants }]
      : []
  })
}

/**
 * Returns this session's value for a variant. The id is `throughput` or a metric of the registry.
 */
export const studyFigure = (
  session: Session,
  { rung }: StudyVariant,
  id: string,
): MetricValue | null =>
  id === 'throughput' ? (leadFigure(session, rung)?.rate ?? null) : (rung.metrics[id] ?? null)

/**
 * Returns the author's value in the unit of this session's value. Returns null if the author
 * published no value.
 */
export function publishedFigure(
  session: Session,
  { rung }: StudyVariant,
  id: string,
): number | null {
  const { published } = session.ladder
  if (!published) return null
  // Authors publish operations per second, so a bandwidth has no published value.
  if (id === 'throughput' && leadOf(session).of === 'bytes') return null
  return (
    (id === 'throughput' ? published.gflops[rung.id] : published.metrics[rung.id]?.[id]) ?? null
  )
}

/**
 * Returns the metrics measured for at least one variant. Metrics that the author published are
 * first.
 */
export function studyMetrics(session: Session, { variants }: Study): string[] {
  const ids = [...new Set(variants.flatMap(({ rung }) => Object.keys(rung.metrics)))].filter((id) =>
    variants.some(({ rung }) => rung.metrics[id]?.value != null),
  )
  const given = (id: string) =>
    variants.some((variant) => publishedFigure(session, variant, id) !== null)
  return [...ids.filter(given), ...ids.filter((id) => !given(id))]
}
