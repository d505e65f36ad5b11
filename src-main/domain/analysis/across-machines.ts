/**
 * Compares the results of one ladder on several machines.
 *
 * The comparison covers counters and percentages of the GPU's peak, but not times on different
 * GPUs.
 */
import { z } from 'zod'
import { Statement } from '../messages/message'
import { CacheState, rungOf, RungStatus, type Session } from '../session/session'
import { Identifier } from '../ladder/rung'
import { MetricValue } from '../metrics/metrics'
import { leadFigure, leadOf, leadPipe } from './lead-figure'
import { comparability } from './comparability'

const Side = z.object({
  status: RungStatus,
  /** Median time in milliseconds, or null if the rung was not timed. */
  timeMs: z.number().nullable(),
  /** L2 contents during timing, or null if the rung was not timed. */
  cacheState: CacheState.nullable(),
  /**
   * Operations per second for a compute-bound task, or bytes per second for a memory-bound task on
   * this GPU. Null if the rung was not timed.
   */
  rate: MetricValue.nullable(),
  /** Rate as a percentage of this GPU's peak, or null if the peak is unknown. */
  share: z.number().nullable(),
  /** Counters of the launch by id. */
  metrics: z.record(z.string(), MetricValue),
})

export const Across = z.object({
  rungs: z.array(
    z.object({
      id: Identifier,
      title: z.string(),
      /**
       * One entry per machine, in the order of the sessions. An entry is null if the session lacks
       * the rung.
       */
      on: z.array(Side.nullable()),
    }),
  ),
  /** Whether times can be compared. All sessions must have the same GPU model and L2 contents. */
  timesComparable: z.boolean(),
  /** Differences between the first machine and the other machines, apart from the code. */
  reasons: z.array(Statement),
})

export type Across = z.infer<typeof Across>

export type AcrossSide = z.infer<typeof Side>

export function across(sessions: readonly Session[]): Across {
  const ids = [...new Set(sessions.flatMap(({ rungs }) => rungs.map(({ id }) => id)))]
  const [first, ...others] = sessions
  const reasons = others.flatMap((other) => {
    const { refusals, warnings } = comparability(first!, other)
    return [...refusals, ...warnings]
  })
  const texts = new Set<string>()
  return {
    rungs: ids.map((id) => ({
      id,
      title: sessions.map((session) => rungOf(session, id)?.title).find(Boolean) ?? id,
      on: sessions.map((session) => sideOf(session, id)),
    })),
    timesComparable:
      new Set(
        sessions.map(({ device, settings }) => `${device?.name} ${settings.cacheState ?? 'cold'}`),
      ).size === 1,
    reasons: reasons.filter((reason) => {
      const text = JSON.stringify(reason)
      return !texts.has(text) && texts.add(text)
    }),
  }
}

function sideOf(session: Session, id: string): AcrossSide | null {
  const rung = rungOf(session, id)
  if (!rung) return null
  const figure = leadFigure(session, rung, leadOf(session))
  return {
    status: rung.status,
    timeMs: rung.timing?.medianMs ?? null,
    cacheState: rung.timing?.cacheState ?? null,
    rate: figure?.rate ?? null,
    share: figure?.share ?? null,
    metrics: rung.metrics,
  }
}

/** Returns the counter that tables show next to the percentage of the peak. */
export const acrossPipe = (sessions: readonly Session[]): string => leadPipe(sessions[0]!)
