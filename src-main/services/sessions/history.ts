/**
 * Reads the history of a ladder's times. Every live session in the store adds a data point for each
 * rung that it timed.
 */
import { currentId } from '../../domain/ladder/former-ids'
import { indexed, type Described } from '../../adapters/sessions/session-index'
import { isImported, readSession } from '../../adapters/sessions/session-store'
import { inputError } from '../../domain/errors'
import { pointsOf, SessionPoints, seriesOf, type History } from '../../domain/history/history'
import { kindOf } from '../../domain/targets/targets'
import { sameSizes, type Sizes } from '../../domain/task/problem'
import { z } from 'zod'
import { appVersion } from '../version'
import { storeOf, type SessionPlaces } from './session-places'

const Found = z.object({ points: SessionPoints.nullable(), readable: z.boolean() })
type Found = z.infer<typeof Found>

async function describe(name: string, folder: string): Promise<Described<Found>> {
  try {
    const session = await readSession(folder)
    const { times, replays } = kindOf(session.target).can
    const isLive = times && !replays && !(await isImported(folder))
    return {
      value: { points: isLive ? pointsOf(name, session) : null, readable: true },
      keep: true,
    }
  } catch {
    return { value: { points: null, readable: false }, keep: false }
  }
}

interface HistoryRequest {
  /** The ladder's id. */
  ladder: string
  rungs?: readonly string[]
  /** Sizes to include. */
  sizes?: Sizes
  leastPercent: number
}

/** Default threshold in percent. Changes below the threshold are not listed. */
export const usualPercent = 1

interface FoundPoints {
  all: SessionPoints[]
  unreadable: string[]
}

async function findPoints(places: SessionPlaces): Promise<FoundPoints> {
  const found = await indexed({
    root: storeOf(places),
    cache: places.machine.folders.cache,
    name: 'history',
    version: appVersion,
    schema: Found,
    describe,
  })
  return {
    all: [...found.values()].flatMap(({ points }) => points ?? []),
    unreadable: [...found].flatMap(([name, { readable }]) => (readable ? [] : [name])).sort(),
  }
}

/**
 * Returns the ladders that have a history, and the history of one ladder. If `ladder` is null, this
 * is the ladder that was timed last.
 */
export async function findHistory(
  places: SessionPlaces,
  ladder: string | null,
): Promise<{ ladders: string[]; history: History | null }> {
  const { all, unreadable } = await findPoints(places)
  const newest = (points: SessionPoints): string => points.rungs[0]?.createdAt ?? ''
  const timed = all
    .filter(({ rungs }) => rungs.length > 0)
    .sort((a, b) => (newest(a) < newest(b) ? 1 : -1))
  const ladders = [...new Set(timed.map((points) => points.ladder))]
  const id = ladder ?? ladders[0]
  if (id === undefined) return { ladders, history: null }
  const own = timed.filter((points) => points.ladder === id)
  const series = seriesOf(own, usualPercent)
  return { ladders, history: { ladder: id, leastPercent: usualPercent, series, unreadable } }
}

/** Reads a ladder's history. Throws an error if no data points match the request. */
export async function readHistory(
  places: SessionPlaces,
  request: HistoryRequest,
): Promise<History> {
  const { ladder, sizes, leastPercent } = request
  const rungs = request.rungs?.map(currentId)
  const { all, unreadable } = await findPoints(places)
  const own = all
    .filter((points) => points.ladder === ladder)
    .filter(({ problem }) => sizes === undefined || sameSizes(problem.sizes, sizes))
  if (own.length === 0)
    throw inputError(
      `The session store has no timed session of the ladder ${ladder}${sizes ? ' at these sizes' : ''}.`,
      `Make one with \`kernel-ladder run --ladder ${ladder}\`.`,
    )
  const known = new Set(own.flatMap((points) => points.rungs.map(({ rung }) => rung)))
  const unknown = rungs?.find((id) => !known.has(id))
  if (unknown !== undefined)
    throw inputError(
      `No session of ${ladder} has a time of the rung ${JSON.stringify(unknown)}.`,
      `They have: ${[...known].sort().join(', ')}.`,
    )
  const chosen = own.map((points) => ({
    ...points,
    rungs: points.rungs.filter(({ rung }) => rungs?.includes(rung) ?? true),
  }))
  return { ladder, leastPercent, series: seriesOf(chosen, leastPercent), unreadable }
}
