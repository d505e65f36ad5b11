/** Data for the sweep chart: a ladder at several problem sizes, with one session per size. */
import type { RungResult, Session } from '../../../src-main/domain/session/session'
import { problemLabel } from '../../../src-main/domain/task/problem'
import { leadFigure, leadOf, type Lead } from '../../../src-main/domain/analysis/lead-figure'
import type { SessionSummary } from '../../../src-main/contract/index'
import { stepTo } from '../../../src-main/domain/analysis/climb'
import { areTimesRanked, comparability } from '../../../src-main/domain/analysis/comparability'
import type { AnyMessage } from '../../../src-main/domain/messages/message'
import type { SweepMeasure } from '../../../src-main/domain/report/chart-drawings'
import { bySize } from '../../../src-main/domain/session/size-series'

/** Toggles a session. Selecting a session deselects any other session of the same size. */
export function toggleChoice(
  candidates: readonly SessionSummary[],
  chosen: readonly string[],
  ref: string,
): string[] {
  if (chosen.includes(ref)) return chosen.filter((other) => other !== ref)
  const sizeOf = (of: string) => {
    const item = candidates.find((candidate) => candidate.ref === of)
    return item?.problem && problemLabel(item.problem)
  }
  return [...chosen.filter((other) => sizeOf(other) !== sizeOf(ref)), ref]
}

interface SweepRung {
  id: string
  title: string
  /**
   * One value per session, in the order of the sessions. A value is null if the rung has no value
   * in that session.
   */
  values: (number | null)[]
}

function measure(
  session: Session,
  rung: RungResult,
  by: SweepMeasure,
  of: Lead['of'],
): number | null {
  if (!rung.timing) return null
  if (by === 'throughput')
    return leadFigure(session, rung, { ...leadOf(session), of })?.rate.value ?? null
  if (by === 'toReference') return rung.timing.ratioToReference
  return stepTo(session, rung)?.factor ?? null
}

interface Sweep {
  sessions: readonly Session[]
  sizes: readonly string[]
  rungs: readonly SweepRung[]
  /** Differences between the sessions other than the problem size, without duplicates. */
  warnings: readonly AnyMessage[]
}

/**
 * Joins the sessions by rung. `of` selects the throughput in operations or bytes. Only sessions
 * with the same L2 state as `shown` have values. Sessions with a different L2 state cause a
 * warning.
 */
export function sweep(
  sessions: readonly Session[],
  by: SweepMeasure,
  of: Lead['of'] = 'operations',
  shown: Session | undefined = sessions[0],
): Sweep {
  const ordered = [...sessions].sort(bySize)
  const ids = [...new Set(ordered.flatMap(({ rungs }) => rungs.map(({ id }) => id)))]
  const rungs = ids.map((id) => {
    const found = ordered.map((session) => ({
      session,
      rung: session.rungs.find((rung) => rung.id === id),
    }))
    return {
      id,
      title: found.find(({ rung }) => rung)?.rung?.title ?? id,
      values: found.map(({ session, rung }) =>
        rung && shown && areTimesRanked(session, shown) ? measure(session, rung, by, of) : null,
      ),
    }
  })
  return {
    sessions: ordered,
    sizes: ordered.map(({ problem }) => (problem ? problemLabel(problem) : '')),
    rungs: rungs.filter(({ values }) => values.some((value) => value !== null)),
    warnings: shown
      ? ordered
          .filter((other) => other !== shown)
          .flatMap((other) => comparability(shown, other).warnings)
      : [],
  }
}
