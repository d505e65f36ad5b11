/**
 * Computes the effect of a save on a watched ladder's rungs. Each rung in a round is compared with
 * its last successful run. A round may cover only some rungs. If a rung fails, its earlier result
 * remains the baseline.
 */
import { z } from 'zod'
import { Statement } from '../messages/message'
import { rungOf, RungStatus, type RungResult, type Session } from '../session/session'
import { can } from '../targets/targets'
import { checkAgainst, rungVerdicts } from './baseline-check'
import { compareRungs, MetricDelta } from './compare'

export const WatchedRung = z.object({
  id: z.string(),
  title: z.string(),
  verdict: z.enum(rungVerdicts),
  reasons: z.array(Statement),
  status: RungStatus,
  beforeMs: z.number().nullable(),
  nowMs: z.number().nullable(),
  /**
   * New time divided by the previous time, with its confidence interval. The ratio is relative to
   * the reference if the reference changed too.
   */
  change: z.object({ ratio: z.number(), low: z.number(), high: z.number() }).nullable(),
  /** Counters that differ from the last successful run, or null if either run has no counters. */
  counters: z.array(MetricDelta).nullable(),
  /** Whether the rung ran in the last round. */
  fresh: z.boolean(),
})
export type WatchedRung = z.infer<typeof WatchedRung>

export interface Watched {
  rungs: readonly WatchedRung[]
  /** Last successful result of each rung, which is the baseline for the next round. */
  known: Session | null
}

export const nothingWatched: Watched = { rungs: [], known: null }

/** Changes below this percentage are ignored. */
const thresholdPercent = 1

/** Returns whether a rung ran successfully. An emulated run has counters but no times. */
const ranWell = ({ target }: Session, { status, timing }: RungResult): boolean =>
  status === 'ok' && (timing !== null || !can(target).times)

function changedCounters(
  before: Session,
  now: Session,
  id: string,
): z.infer<typeof WatchedRung>['counters'] {
  const [a, b] = [rungOf(before, id), rungOf(now, id)]
  if (!a || !b) return null
  const { metrics } = compareRungs({ session: before, rung: a }, { session: now, rung: b })
  const known = metrics.filter(({ verdict }) => verdict !== 'unknown')
  return known.length === 0 ? null : known.filter(({ verdict }) => verdict !== 'same')
}

/**
 * Compares a round with the previous results. `order` lists the ids of the ladder's current rungs.
 */
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
      // After an edit to the task or its sizes, the two runs are not comparable. In this case,
      // explain why, because the verdicts contain no explanation.
      reasons: check.obstacles.length > 0 && before.rungs.length > 0 ? check.obstacles : reasons,
      status: status.now!,
      beforeMs: medianMs.baseline,
      nowMs: medianMs.now,
      change: normalized ?? change,
      counters: check.obstacles.length > 0 ? null : changedCounters(before, now, id),
      fresh: true,
    }),
  )
  const left = rungs.flatMap((rung) =>
    ids.includes(rung.id) ? [] : [{ ...rung, fresh: false as const }],
  )
  const all = [...fresh, ...left]
  const comparable = check.obstacles.length === 0
  const kept = (known?.rungs ?? []).filter(
    ({ id }) => comparable && !now.rungs.some((rung) => rung.id === id && ranWell(now, rung)),
  )
  return {
    rungs: order.flatMap((id) => all.find((rung) => rung.id === id) ?? []),
    known: {
      ...now,
      rungs: [...now.rungs.filter((rung) => ranWell(now, rung)), ...kept].filter(({ id }) =>
        order.includes(id),
      ),
    },
  }
}
