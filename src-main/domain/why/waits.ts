/**
 * Attributes changes in issue-slot utilization to stall reasons. For each reason, the average number
 * of stalled warps per issued instruction equals a warp's stall cycles per instruction. The number
 * of instructions issued per cycle equals the number of resident warps divided by the sum of these
 * stall cycles. Fewer stall cycles therefore mean busier issue slots.
 */
import { isBelowFloor } from '../analysis/compare'
import { type Unit } from './units'
import { valueOf, type Side } from './side'

export const waitIds = [
  'stallLongScoreboard',
  'stallShortScoreboard',
  'stallMioThrottle',
  'stallLgThrottle',
  'stallBarrier',
  'stallWait',
  'stallDispatch',
] as const
/** A stall reason. Excludes warps that were not selected and warps that wait for a busy pipe. */
export type WaitId = (typeof waitIds)[number]

const shared = [
  'sharedLoadBankConflicts',
  'sharedStoreBankConflicts',
  'sharedLoadWavefronts',
  'sharedStoreWavefronts',
  'sharedLoads',
]
const global = ['l1Bytes', 'l2Bytes', 'dramBytes']

/** Counters that affect each stall reason. */
const feeds: Readonly<Record<WaitId, readonly string[]>> = {
  stallLongScoreboard: global,
  stallShortScoreboard: shared,
  stallMioThrottle: shared,
  stallLgThrottle: global,
  stallBarrier: [],
  stallWait: [],
  stallDispatch: ['sharedLoadBankConflicts', 'sharedLoadWavefronts'],
}

export interface Wait {
  id: WaitId
  a: number
  b: number
}

/** Reasons below this fraction of the largest change are omitted. */
const besideLargest = 0.25

export const hasWaits = (side: Side): boolean => waitIds.some((id) => valueOf(side, id) !== null)

/**
 * Returns the stall reasons whose change explains the change in issue-slot utilization, largest
 * first.
 */
export function waitsThatMoved(a: Side, b: Side, busier: boolean): Wait[] {
  const moved = waitIds
    .flatMap((id): Wait[] => {
      const [left, right] = [valueOf(a, id), valueOf(b, id)]
      return left === null || right === null ? [] : [{ id, a: left, b: right }]
    })
    .map((wait) => ({ wait, by: busier ? wait.a - wait.b : wait.b - wait.a }))
    .filter(({ wait: { id }, by }) => by > 0 && !isBelowFloor(id, by, a.rung, b.rung))
    .sort((one, other) => other.by - one.by)
  const most = moved[0]?.by ?? 0
  return moved
    .filter(({ by }) => by >= besideLargest * most)
    .slice(0, 3)
    .map(({ wait }) => wait)
}

export interface Move {
  id: string
  a: number
  b: number
}

/** Minimum relative change at which a counter is mentioned. */
const leastMove = 0.03

const isConflict = (id: string): boolean => /BankConflicts$/.test(id)

/**
 * Returns whether a change is significant. A change in bank conflicts is insignificant if the
 * conflicts are a negligible part of the passes.
 */
const matters = (a: Side, b: Side, { id, ...move }: Move): boolean =>
  !isConflict(id) || !isBelowFloor(id, move.b - move.a, a.rung, b.rung)

/** Returns the counters that decreased (or increased, if `down` is false), in the given order. */
export const movesOf = (
  a: Side,
  b: Side,
  ids: readonly string[],
  down: boolean,
  least = leastMove,
): Move[] =>
  ids.flatMap((id): Move[] => {
    const [left, right] = [valueOf(a, id), valueOf(b, id)]
    if (left === null || right === null) return []
    const [from, to] = down ? [left, right] : [right, left]
    const move = { id, a: left, b: right }
    return from - to > least * Math.max(from, to) && matters(a, b, move) ? [move] : []
  })

/** Minimum relative change at which a counter noticeably affects stalls. */
const leastFeed = 0.1

/**
 * Bytes per pass. In one pass, the L1 data stage processes 128 bytes of L1 data or one
 * shared-memory wavefront.
 */
const bytesPerPass = 128

/** Converts a change in a counter to passes, so that bytes and wavefronts are comparable. */
const passes = ({ id, a, b }: Move): number =>
  Math.abs(a - b) / (id === 'l1Bytes' ? bytesPerPass : 1)

const amount = ({ a, b }: Move): number => Math.abs(a - b)

/** Counters below this fraction of the largest change are omitted. */
const besideLargestMove = 0.2

/** Returns up to two counters with the largest changes. */
function largest(moves: readonly Move[], of: (move: Move) => number = amount): Move[] {
  const sorted = [...moves].sort((one, other) => of(other) - of(one))
  return sorted.filter((move) => of(move) >= besideLargestMove * of(sorted[0]!)).slice(0, 2)
}

/**
 * Returns the counters that affect the first stall reason and that changed in the given direction.
 */
export const feedsThatMoved = (a: Side, b: Side, waits: readonly Wait[], down: boolean): Move[] =>
  largest(movesOf(a, b, waits[0] ? feeds[waits[0].id] : [], down, leastFeed))

/**
 * Detail counters, keyed by main counter. A detail counter that changed is mentioned with its main
 * counter.
 */
const detail: Readonly<Record<string, readonly string[]>> = {
  sharedLoadWavefronts: ['sharedLoadBankConflicts', 'sharedLoads'],
  sharedStoreWavefronts: ['sharedStoreBankConflicts'],
  l1Bytes: ['globalLoadSectorsPerRequest'],
  memoryInstructions: ['l1Bytes'],
}

/**
 * Returns a unit's work counters with the largest changes. Includes detail counters, and bank
 * conflicts if they make up at least half of a change.
 */
export function workThatMoved(a: Side, b: Side, { work }: Unit, down: boolean): Move[] {
  const moves = largest(movesOf(a, b, work, down), passes)
  // The load counter includes predicated-off loads, which need no pass. Predicated-off loads can
  // hide the bank conflicts of other loads.
  if (moves.length === 0)
    return largest(
      movesOf(
        a,
        b,
        work.flatMap((id) => detail[id] ?? []),
        down,
      ),
    )
  return moves
    .flatMap((move) => {
      const more = movesOf(a, b, detail[move.id] ?? [], down).find(
        (one) => !isConflict(one.id) || amount(one) >= amount(move) / 2,
      )
      return more ? [move, more] : [move]
    })
    .slice(0, 3)
}

/**
 * Returns changes that keep a memory level busier without more work: wider accesses, fewer
 * instructions, or less traffic in the levels before it.
 */
export function overlapThatMoved(a: Side, b: Side, { id }: Unit, busier: boolean): Move[] {
  const up = movesOf(a, b, ['globalLoadSectorsPerRequest', 'achievedOccupancy'], !busier, leastFeed)
  const before = id === 'dram' ? ['instructions', 'l2Bytes'] : ['instructions']
  const down = movesOf(a, b, before, busier, leastFeed)
  return [...up, ...down].sort((one, other) => size(other) - size(one)).slice(0, 2)
}

/**
 * Returns the changed counters that may affect stalls. The card profile has no stall counters, only
 * a few counters for the units that warps stall on.
 */
export function cardFeedsThatMoved(a: Side, b: Side, busier: boolean): Move[] {
  const loads = Math.max(valueOf(a, 'sharedLoads') ?? 0, valueOf(b, 'sharedLoads') ?? 0)
  const moves = movesOf(a, b, shared, busier, leastFeed)
  // Ignore changes that are small relative to the number of shared loads, because they do not
  // affect stalls.
  return largest(moves.filter((move) => amount(move) >= leastFeed * loads))
}

const size = ({ a: from, b: to }: Move): number =>
  from > 0 && to > 0 ? Math.abs(Math.log(to / from)) : Infinity
