/**
 * What a save did to the rungs of a ladder that is watched: each rung of a round against the last time that
 * it ran well. A round may be of some rungs only, and a rung that fails in one is not forgotten. Pure.
 */
import { z } from 'zod'
import { Statement } from '../messages/message'
import { RungStatus, type RungResult, type Session } from '../session/session'
import { checkAgainst, rungVerdicts } from './baseline-check'

export const WatchedRung = z.object({
  id: z.string(),
  title: z.string(),
  verdict: z.enum(rungVerdicts),
  reasons: z.array(Statement),
  status: RungStatus,
  beforeMs: z.number().nullable(),
  nowMs: z.number().nullable(),
  /** The new time over the one before, and where it can lie; over the reference's where that itself moved. */
  change: z.object({ ratio: z.number(), low: z.number(), high: z.number() }).nullable(),
  /** It ran in the last round. */
  fresh: z.boolean(),
})
export type WatchedRung = z.infer<typeof WatchedRung>

export interface Watched {
  rungs: readonly WatchedRung[]
  /** Each rung as it last ran well; what the next round is held against. */
  known: Session | null
}

export const nothingWatched: Watched = { rungs: [], known: null }

/** A smaller change is called none. */
const thresholdPercent = 1

const ranWell = ({ status, timing }: RungResult): boolean => status === 'ok' && timing !== null

/** `order`: the ids of the ladder's rungs as it is now. */
export function watchRound(
  { rungs, known }: Watched,
  now: Session,
  order: readonly string[],
): Watched {
  const ids = now.rungs.map(({ id }) => id)
  const before = {
    ...(known ?? now),
    rungs: known?.rungs.filter(({ id }) => ids.includes(id)) ?? [],
  }
  const check = checkAgainst(before, now, thresholdPercent)
  const fresh = check.rungs.map(
    ({ id, title, verdict, reasons, status, medianMs, change, normalized }): WatchedRung => ({
      id,
      title,
      verdict,
      reasons,
      status: status.now!,
      beforeMs: medianMs.baseline,
      nowMs: medianMs.now,
      change: normalized ?? change,
      fresh: true,
    }),
  )
  const left = rungs.flatMap((rung) =>
    ids.includes(rung.id) ? [] : [{ ...rung, fresh: false as const }],
  )
  const all = [...fresh, ...left]
  const comparable = check.obstacles.length === 0
  const kept = (known?.rungs ?? []).filter(
    ({ id }) => comparable && !now.rungs.some((rung) => rung.id === id && ranWell(rung)),
  )
  return {
    rungs: order.flatMap((id) => all.find((rung) => rung.id === id) ?? []),
    known: {
      ...now,
      rungs: [...now.rungs.filter(ranWell), ...kept].filter(({ id }) => order.includes(id)),
    },
  }
}
