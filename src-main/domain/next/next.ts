/**
 * Recommendations for a rung: the applicable moves, each with a bound, a forecast from past steps,
 * and an example.
 */
import { z } from 'zod'
import { message, Statement, together, type AnyMessage } from '../messages/message'
import { code } from '../messages/sentence'
import { CauseLine, linesOf } from '../why/cause-lines'
import type { Side } from '../why/side'
import { formatPercent } from '../metrics/units'
import { boundOf, fullness } from './bound'
import { factsOf, type Facts } from './facts'
import { exampleOf, landingOf, readinessOf, type LeftOut, type Past, type Range } from './landing'
import { isLibraryKernel } from './library-kernel'
import { limitOf, obstacleOf } from './limit'
import type { Found, Move } from './move'
import { moves } from './registry'
import { tracedStalls } from './traced'

const Ranged = z.object({ low: z.number(), mid: z.number(), high: z.number() })

export const NextStep = z.object({
  /** Move id. */
  id: z.string(),
  /** Description of the recommended change. */
  statement: Statement,
  /** Costs and requirements of the recommended change. */
  costs: Statement,
  /**
   * Range of the forecast speedup. 7 % of similar past steps were below `low`, and half were below
   * `mid`.
   */
  speedup: Ranged,
  /** Time of one launch of the rung, in milliseconds. */
  msNow: z.number(),
  msAfter: Ranged,
  evidence: z.array(Statement),
  /** The cause's source lines, most expensive first. Absent below the deep profile level. */
  lines: z.array(CauseLine).optional(),
  /** A recorded step of a built-in ladder that made this move; absent if there is none. */
  example: z
    .object({ ladder: z.string(), from: z.string(), to: z.string(), recording: z.string() })
    .optional(),
})
export type NextStep = z.infer<typeof NextStep>

export const Next = z.object({
  rung: z.string(),
  /** Recommended steps, best first, at most five. */
  steps: z.array(NextStep),
  /** The rung's limit, or the reason why there are no recommendations. */
  limit: Statement,
})
export type Next = z.infer<typeof Next>

/** Maximum number of steps shown. */
const mostSteps = 5
/** Minimum speedup for a step to be recommended, because smaller gains are not worth the effort. */
const leastGain = 1.01

export interface Candidate {
  move: Move
  found: Found
  bound: number
  speedup: Range
}

/**
 * Returns the rank of a move: the logarithm of its gain times the square root of how often ladders
 * make the move.
 */
const rankOf = ({ move, speedup }: Candidate, out: LeftOut, past: Past): number =>
  Math.max(Math.log(speedup.mid), 0.001) * Math.sqrt(readinessOf(move.id, out, past))

/**
 * Returns all moves that apply, best first. Moves that replace the kernel or change its results
 * come last.
 */
export function candidatesOf(facts: Facts, out: LeftOut, past: Past): Candidate[] {
  return moves
    .flatMap((move): Candidate[] => {
      const found = move.find(facts)
      if (found === null) return []
      const bound = boundOf(facts, found.change)
      const exact =
        found.change.replaced === undefined ? null : { low: bound, mid: bound, high: bound }
      const speedup = exact ?? landingOf(move.id, bound, out, past)
      return speedup ? [{ move, found, bound, speedup }] : []
    })
    .map((candidate) => ({ candidate, rank: rankOf(candidate, out, past) }))
    .sort(
      (a, b) =>
        Number(a.candidate.move.isLast ?? false) - Number(b.candidate.move.isLast ?? false) ||
        b.rank - a.rank,
    )
    .map(({ candidate }) => candidate)
}

/** Rounds to four significant digits. */
const rounded = (value: number): number => Number(value.toPrecision(4))

function toStep(
  { move, found, bound, speedup }: Candidate,
  facts: Facts,
  out: LeftOut,
  past: Past,
): NextStep {
  const { ms } = facts.time
  const lines = found.burden ? linesOf(facts.side, found.burden, null) : []
  const unit = fullness(facts)[0]?.unit ?? null
  const example = exampleOf(move.id, { bound, unit }, out, past)
  return {
    id: move.id,
    statement: move.says,
    costs: move.costs,
    speedup: { low: rounded(speedup.low), mid: rounded(speedup.mid), high: rounded(speedup.high) },
    msNow: ms,
    msAfter: {
      low: rounded(ms / speedup.high),
      mid: rounded(ms / speedup.mid),
      high: rounded(ms / speedup.low),
    },
    evidence: [...found.evidence, ...tracedEvidence(facts, found)],
    ...(lines.length > 0 ? { lines } : {}),
    ...(example
      ? {
          example: {
            ladder: example.ladder,
            from: example.from,
            to: example.to,
            recording: example.recording,
          },
        }
      : {}),
  }
}

/** Describes the stalls that the move removes, and the instructions that the warps wait for. */
function tracedEvidence({ side }: Facts, { change }: Found): AnyMessage[] {
  const removed = {
    long_sb: (change.waits?.stallLongScoreboard ?? 1) < 1,
    short_sb: (change.waits?.stallShortScoreboard ?? 1) < 1,
  }
  const traced = new Map<string, { statement: (share: string) => AnyMessage; share: number }>()
  for (const { reason, share, waiting, producer } of (side.deep?.kernels ?? []).flatMap(
    tracedStalls,
  )) {
    if (!removed[reason]) continue
    const [at, from] = [placeOf(waiting), placeOf(producer)]
    const key = JSON.stringify([at, from])
    traced.set(key, {
      statement: (words) => message('next.traced', { share: words, at, producer: from }),
      share: (traced.get(key)?.share ?? 0) + share,
    })
  }
  return [...traced.values()]
    .slice(0, mostTraced)
    .map(({ statement, share }) => statement(formatPercent(100 * share)))
}

const mostTraced = 2

const placeOf = ({ opcode, line }: { opcode: string; line: number | null }): AnyMessage =>
  line === null
    ? message('next.instruction', { opcode: code(opcode) })
    : message('next.instructionAt', { opcode: code(opcode), line })

/**
 * Returns recommendations for one rung. `source` is the rung's text, used if there is no machine
 * code. Missing counters lead to fewer recommendations. Contradictory counters lead to no
 * recommendations.
 */
export function nextOf(side: Side, source: string | null, past: Past): Next {
  const facts = factsOf(side, source)
  const obstacle = obstacleOf(side, facts)
  if (obstacle !== null || facts === null)
    return { rung: side.rung.id, steps: [], limit: obstacle ?? message('next.contradiction') }
  const out = { ladder: side.session.ladder.id, to: null }
  if (isLibraryKernel(side.session, side.rung))
    return {
      rung: side.rung.id,
      steps: [],
      limit: together(limitOf(facts), message('next.ofLibrary')),
    }
  const worth = candidatesOf(facts, out, past).filter(({ speedup }) => speedup.high >= leastGain)
  return {
    rung: side.rung.id,
    steps: worth.slice(0, mostSteps).map((candidate) => toStep(candidate, facts, out, past)),
    limit: limitOf(facts),
  }
}
