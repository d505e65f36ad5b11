/** One ladder over several problem sizes: one session per size, joined by rung. */
import type { SessionSummary } from '../../../src-main/contract'
import { bySize } from '../../../src-main/contract/sessions'
import { leadFigure, leadOf, type Lead } from '../../../src-main/domain/analysis/lead-figure'
import { comparability } from '../../../src-main/domain/analysis/comparability'
import type { AnyMessage } from '../../../src-main/domain/messages/message'
import { problemLabel } from '../../../src-main/domain/task/problem'
import type { SweepMeasure } from '../../../src-main/domain/report/report-format'
import { rungBefore, type RungResult, type Session } from '../../../src-main/domain/session/session'

/** Toggles a session; selecting one deselects any other of the same size. */
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

export interface SweepRung {
  id: string
  title: string
  /** One value per session, in their order; null if the rung has none there. */
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
  const before = rungBefore(session, rung.id)?.timing
  return before ? before.medianMs / rung.timing.medianMs : null
}

export interface Sweep {
  sessions: readonly Session[]
  sizes: readonly string[]
  rungs: readonly SweepRung[]
  /** Differences between the sessions other than the size, each once. */
  warnings: readonly AnyMessage[]
}

/** `of`: what a throughput is of, at every size. */
export function sweep(
  sessions: readonly Session[],
  by: SweepMeasure,
  of: Lead['of'] = 'operations',
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
      values: found.map(({ session, rung }) => (rung ? measure(session, rung, by, of) : null)),
    }
  })
  const [first, ...rest] = ordered
  return {
    sessions: ordered,
    sizes: ordered.map(({ problem }) => (problem ? problemLabel(problem) : '')),
    rungs: rungs.filter(({ values }) => values.some((value) => value !== null)),
    // The chart is about different sizes, so they need no warning.
    warnings: first
      ? rest.flatMap((other) => comparability(first, { ...other, problem: first.problem }).warnings)
      : [],
  }
}
