/** The history of a ladder: every live session of the store is a point of each rung that it timed. */
import { indexed, type Described } from '../../adapters/sessions/session-index'
import { isImported, readSession } from '../../adapters/sessions/session-store'
import { inputError } from '../../domain/errors'
import { pointsOf, SessionPoints, seriesOf, type History } from '../../domain/history/history'
import { kindOf } from '../../domain/target/targets'
import { sameSizes, type Sizes } from '../../domain/task/problem'
import { z } from 'zod'
import { appVersion } from '../version'
import { storeOf, type SessionPlaces } from './sessions'

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

export interface HistoryRequest {
  /** Its id. */
  ladder: string
  rungs?: readonly string[]
  /** Only sessions of these sizes. */
  sizes?: Sizes
  leastPercent: number
}

export async function readHistory(
  places: SessionPlaces,
  { ladder, rungs, sizes, leastPercent }: HistoryRequest,
): Promise<History> {
  const found = await indexed({
    root: storeOf(places),
    cache: places.machine.folders.cache,
    name: 'history',
    version: appVersion,
    schema: Found,
    describe,
  })
  const own = [...found.values()]
    .flatMap(({ points }) => points ?? [])
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
  return {
    ladder,
    leastPercent,
    series: seriesOf(chosen, leastPercent),
    unreadable: [...found].flatMap(([name, { readable }]) => (readable ? [] : [name])).sort(),
  }
}
