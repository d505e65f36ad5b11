/** Groups the kernels of an import by the NVTX ranges around their launches. Pure. */
import { can } from '../targets/targets'
import type { RungResult, Session } from '../session/session'

export interface RangeGroup {
  /** NVTX ranges, outermost first. The list is empty for kernels outside all ranges. */
  ranges: readonly string[]
  /** The ranges as a heading, such as `step › attention`; null outside all ranges. */
  title: string | null
  /**
   * Kernels, longest first. A range has a total time but no counters, because counters belong to
   * single kernels.
   */
  rungs: RungResult[]
  /** Total time in ms; null if any kernel was not timed. */
  totalMs: number | null
}

/** Returns a kernel's NVTX ranges, outermost first. */
const rangesOf = ({ profile }: RungResult): readonly string[] => {
  const [kernel] = profile?.kernels ?? []
  return kernel?.ranges ?? (kernel?.range === undefined ? [] : [kernel.range])
}

const timeOf = ({ profiledTime }: RungResult): number | null => profiledTime?.totalMs ?? null

const longestFirst = (a: number | null, b: number | null): number => (b ?? 0) - (a ?? 0)

/**
 * Returns the range groups in descending order of total time. Returns null unless the session is an
 * import with NVTX ranges.
 */
export function rangeGroups({ target, program, rungs }: Session): RangeGroup[] | null {
  // In a profiled program, one row combines launches from several ranges.
  if (can(target).knowsRun || program) return null
  if (rungs.every((rung) => rangesOf(rung).length === 0)) return null
  const byRange = new Map<string, RungResult[]>()
  for (const rung of rungs) {
    const key = JSON.stringify(rangesOf(rung))
    const own = byRange.get(key)
    if (own) own.push(rung)
    else byRange.set(key, [rung])
  }
  return [...byRange.values()]
    .map((own): RangeGroup => {
      const ranges = rangesOf(own[0]!)
      const times = own.map(timeOf)
      return {
        ranges,
        title: ranges.length === 0 ? null : ranges.join(' › '),
        rungs: own.sort((a, b) => longestFirst(timeOf(a), timeOf(b))),
        totalMs: times.every((ms) => ms !== null) ? times.reduce((sum, ms) => sum + ms, 0) : null,
      }
    })
    .sort((a, b) => longestFirst(a.totalMs, b.totalMs))
}
