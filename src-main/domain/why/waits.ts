/**
 * What warps wait for. The average number of warps stalled for a reason per issued instruction is also the
 * number of cycles that a warp spends in it per instruction, and the slots that are busy are the resident warps over
 * the sum of these cycles: fewer cycles of waiting are busier slots.
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
/** Reasons for which warps wait; one that was not selected, or waits for the pipe looked at, waits for no other. */
export type WaitId = (typeof waitIds)[number]

const shared = [
  'sharedLoadBankConflicts',
  'sharedStoreBankConflicts',
  'sharedLoadWavefronts',
  'sharedStoreWavefronts',
  'sharedLoads',
]
const global = ['l1Bytes', 'l2Bytes', 'dramBytes']

/** Counters of what warps wait for. */
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

/** A reason that changed less than this share of the largest change is not named beside it. */
const besideLargest = 0.25

export const hasWaits = (side: Side): boolean => waitIds.some((id) => valueOf(side, id) !== null)

/** The waits that moved in the direction that explains a change of busy slots, largest first. */
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

/** A counter has to move by this share to be named as evidence. */
const leastMove = 0.03

const isConflict = (id: string): boolean => /BankConflicts$/.test(id)

/** Conflicts that are nothing beside the passes they are a part of change nothing. */
const matters = (a: Side, b: Side, { id, ...move }: Move): boolean =>
  !isConflict(id) || !isBelowFloor(id, move.b - move.a, a.rung, b.rung)

/** The counters among these that moved down, or up, in the order given. */
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

/** Warps wait noticeably less for something when there is this much less of it. */
const leastFeed = 0.1

/** The L1 data stage passes 128 bytes of L1, or one wavefront of shared memory, at a time. */
const bytesPerPass = 128

/** What a counter amounts to in passes, so that bytes and wavefronts can be set against each other. */
const passes = ({ id, a, b }: Move): number =>
  Math.abs(a - b) / (id === 'l1Bytes' ? bytesPerPass : 1)

const amount = ({ a, b }: Move): number => Math.abs(a - b)

/** A counter that moved less than this share of the largest one is not named beside it. */
const besideLargestMove = 0.2

/** The two that moved most. */
function largest(moves: readonly Move[], of: (move: Move) => number = amount): Move[] {
  const sorted = [...moves].sort((one, other) => of(other) - of(one))
  return sorted.filter((move) => of(move) >= besideLargestMove * of(sorted[0]!)).slice(0, 2)
}

/** Counters of what these waits wait for, that moved with them. */
export const feedsThatMoved = (a: Side, b: Side, waits: readonly Wait[], down: boolean): Move[] =>
  largest(movesOf(a, b, waits[0] ? feeds[waits[0].id] : [], down, leastFeed))

/** Counters that tell more of another one; named with it where they moved. */
const detail: Readonly<Record<string, readonly string[]>> = {
  sharedLoadWavefronts: ['sharedLoadBankConflicts', 'sharedLoads'],
  sharedStoreWavefronts: ['sharedStoreBankConflicts'],
  l1Bytes: ['globalLoadSectorsPerRequest'],
  memoryInstructions: ['l1Bytes'],
}

/** The work of a unit that moved: the largest amounts, conflicts where they are most of one. */
export function workThatMoved(a: Side, b: Side, { work }: Unit, down: boolean): Move[] {
  const moves = largest(movesOf(a, b, work, down), passes)
  // Loads that a predicate turns off take no pass but are counted, and can hide the conflicts of the others.
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

/** What keeps a memory busier without more work: wider accesses, fewer instructions, less traffic before it. */
export function overlapThatMoved(a: Side, b: Side, { id }: Unit, busier: boolean): Move[] {
  const up = movesOf(a, b, ['globalLoadSectorsPerRequest', 'achievedOccupancy'], !busier, leastFeed)
  const before = id === 'dram' ? ['instructions', 'l2Bytes'] : ['instructions']
  const down = movesOf(a, b, before, busier, leastFeed)
  return [...up, ...down].sort((one, other) => size(other) - size(one)).slice(0, 2)
}

/** The card level counts no waits, but some of what is waited for. */
export function cardFeedsThatMoved(a: Side, b: Side, busier: boolean): Move[] {
  const loads = Math.max(valueOf(a, 'sharedLoads') ?? 0, valueOf(b, 'sharedLoads') ?? 0)
  const moves = movesOf(a, b, shared, busier, leastFeed)
  // What is nothing beside the loads of shared memory, nothing waits for.
  return largest(moves.filter((move) => amount(move) >= leastFeed * loads))
}

const size = ({ a: from, b: to }: Move): number =>
  from > 0 && to > 0 ? Math.abs(Math.log(to / from)) : Infinity
