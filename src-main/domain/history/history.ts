/**
 * A ladder's history: the times of its rungs across all sessions. There is one series for each
 * rung, problem and environment. The functions in this module are pure.
 */
import { currentId } from '../ladder/former-ids'
import { z } from 'zod'
import { Identifier } from '../ladder/rung'
import { CacheState, type Session } from '../session/session'
import { Problem } from '../task/problem'
import { gpuOfTarget } from '../targets/targets'
import { changePoints } from './change-points'

/**
 * A session's environment. In sessions with the same environment, only the code differs. A
 * different driver, compiler or L2 state can change all times.
 */
const Environment = z.object({
  gpu: z.string(),
  cacheState: CacheState,
  driver: z.string().nullable(),
  nvcc: z.string().nullable(),
  /**
   * Timing model that predicted the times. Absent for measured times, so that predicted and
   * measured times never share a series.
   */
  model: z.string().optional(),
})
type Environment = z.infer<typeof Environment>

const Point = z.object({
  /** The session's name. */
  session: z.string(),
  createdAt: z.iso.datetime(),
  ms: z.number(),
  /** Time divided by the time of the interleaved reference, or null if there is no reference. */
  relative: z.number().nullable(),
  sourceHash: z.string(),
})
type Point = z.infer<typeof Point>

/** The session data that a history uses. */
export const SessionPoints = z.object({
  ladder: Identifier,
  problem: Problem,
  environment: Environment,
  rungs: z.array(
    Point.extend({ rung: Identifier, title: z.string(), params: z.record(z.string(), z.number()) }),
  ),
})
export type SessionPoints = z.infer<typeof SessionPoints>

/**
 * Returns a session's points in the history. Returns null if the session has no problem or no known
 * GPU.
 */
export function pointsOf(name: string, session: Session): SessionPoints | null {
  const { problem, device, ladder, tools, settings, createdAt, prediction } = session
  const gpu = device?.name ?? (prediction && gpuOfTarget(session.target)?.name)
  if (!problem || !gpu) return null
  return {
    ladder: ladder.id,
    problem,
    environment: {
      gpu,
      cacheState: prediction ? 'cold' : (settings.cacheState ?? 'unknown'),
      driver: device?.driver ?? null,
      nvcc: tools.nvcc,
      ...(prediction ? { model: prediction.model } : {}),
    },
    rungs: session.rungs.flatMap(({ id, title, params, status, timing, predicted, sourceHash }) => {
      const ms = timing?.medianMs ?? predicted?.ms ?? 0
      return status === 'ok' && ms > 0
        ? [
            {
              ...{ rung: currentId(id), title, params, sourceHash, createdAt },
              session: name,
              ms,
              relative:
                timing?.referenceMedianMs && timing.referenceMedianMs > 0
                  ? ms / timing.referenceMedianMs
                  : null,
            },
          ]
        : []
    }),
  }
}

const Change = z.object({
  /** Name of the first session after the time changed. */
  session: z.string(),
  createdAt: z.iso.datetime(),
  beforeMs: z.number(),
  afterMs: z.number(),
  /** New level divided by the old level. */
  ratio: z.number(),
  /**
   * New level divided by the old level, for times relative to the reference. The ratio is near 1 if
   * the whole GPU's speed changed. Null if there is no reference.
   */
  relative: z.number().nullable(),
  /**
   * Whether the rung's source changed between the last session of the old level and the first
   * session of the new level.
   */
  sourceChanged: z.boolean(),
})
export type Change = z.infer<typeof Change>

export const Series = z.object({
  rung: Identifier,
  title: z.string(),
  params: z.record(z.string(), z.number()),
  problem: Problem,
  environment: Environment,
  /** Points, oldest first. */
  points: z.array(Point),
  changes: z.array(Change),
})
export type Series = z.infer<typeof Series>

export const historyShape = {
  ladder: Identifier,
  /** Minimum size of a listed change, in percent. */
  leastPercent: z.number(),
  series: z.array(Series),
  /** Names of stored sessions that could not be read. */
  unreadable: z.array(z.string()),
}
export type History = z.infer<z.ZodObject<typeof historyShape>>

const middle = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const half = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2
}

function changesOf(points: readonly Point[], leastPercent: number): Change[] {
  const starts = changePoints(points.map(({ ms }) => Math.log(ms)))
  const edges = [0, ...starts, points.length]
  const level = (index: number): Point[] => points.slice(edges[index], edges[index + 1])
  return starts.flatMap((start, index): Change[] => {
    const [before, after] = [level(index), level(index + 1)]
    const [beforeMs, afterMs] = [before, after].map((side) => middle(side.map(({ ms }) => ms)))
    const [from, to] = [before, after].map((side) => {
      const known = side.flatMap(({ relative }) => relative ?? [])
      return known.length === side.length ? middle(known) : null
    })
    const ratio = afterMs! / beforeMs!
    if (Math.abs(Math.log(ratio)) < Math.log1p(leastPercent / 100)) return []
    const at = points[start]!
    return [
      {
        session: at.session,
        createdAt: at.createdAt,
        beforeMs: beforeMs!,
        afterMs: afterMs!,
        ratio,
        relative: from == null || to == null ? null : to / from,
        sourceChanged: at.sourceHash !== points[start - 1]!.sourceHash,
      },
    ]
  })
}

export function seriesOf(sessions: readonly SessionPoints[], leastPercent: number): Series[] {
  const found = new Map<string, Series>()
  const when = ({ rungs }: SessionPoints): string => rungs[0]?.createdAt ?? ''
  const oldestFirst = sessions.toSorted((a, b) => (when(a) < when(b) ? -1 : 1))
  for (const { problem, environment, rungs } of oldestFirst)
    for (const { rung, title, params, ...point } of rungs) {
      const key = JSON.stringify([rung, params, problem, environment])
      const series = found.get(key) ?? {
        ...{ rung, title, params, problem, environment },
        points: [],
        changes: [],
      }
      series.points.push(point)
      found.set(key, series)
    }
  return [...found.values()].map((series) => ({
    ...series,
    changes: changesOf(series.points, leastPercent),
  }))
}
