/** Handles divergence within a warp. Lanes split at a branch and reconverge at a barrier. */
import { warpLanes, type Wait, type Split, type Counts, type Warp } from './warp'

/**
 * Moves the lanes in `active` to the branch target. The split's lanes outside `active` continue at
 * the next instruction.
 */
export function branch(
  warp: Warp,
  split: Split,
  active: number,
  target: number,
  counts: Counts,
): void {
  const rest = split.mask & ~active
  if (rest === 0) {
    split.at = target
    return
  }
  split.at++
  if (active === 0) return
  counts.divergent[split.at - 1]!++
  split.mask = rest
  warp.splits.push({ at: target, mask: active, waits: null })
}

/**
 * Moves each lane in `active` to its own target. The split's lanes outside `active` continue after
 * the instruction at `index`.
 */
export function scatter(
  warp: Warp,
  split: Split,
  active: number,
  index: number,
  counts: Counts,
  goalOf: (lane: number) => number,
): void {
  const goals = new Map<number, number>()
  for (let rest = active; rest !== 0; rest &= rest - 1) {
    const lane = 31 - Math.clz32(rest & -rest)
    const goal = goalOf(lane)
    goals.set(goal, (goals.get(goal) ?? 0) | (1 << lane))
  }
  if (goals.size > 1) counts.divergent[index]!++
  const rest = split.mask & ~active
  const [only] = goals.keys()
  if (goals.size === 1 && rest === 0) {
    split.at = only!
    return
  }
  warp.splits = warp.splits.filter((each) => each !== split)
  for (const [goal, mask] of goals) warp.splits.push({ at: goal, mask, waits: null })
  if (rest !== 0) warp.splits.push({ at: index + 1, mask: rest, waits: null })
}

/** Returns the union of the convergence-barrier masks for the lanes in `mask`. */
export function convergenceOf({ convergence }: Warp, barrier: number, mask: number): number {
  let union = 0
  for (let rest = mask; rest !== 0; rest &= rest - 1)
    union |= convergence[barrier * warpLanes + (31 - Math.clz32(rest & -rest))]!
  return union
}

/** Sets the convergence-barrier mask of each lane in `mask` to the result of `valueOf`. */
export function setConvergence(
  { convergence }: Warp,
  barrier: number,
  mask: number,
  valueOf: (before: number, lane: number) => number,
): void {
  for (let rest = mask; rest !== 0; rest &= rest - 1) {
    const lane = 31 - Math.clz32(rest & -rest)
    const place = barrier * warpLanes + lane
    convergence[place] = valueOf(convergence[place]!, lane)
  }
}

/**
 * Ends the wait at a convergence barrier if all expected lanes have arrived. Returns false
 * otherwise.
 */
function convergeAt(warp: Warp, barrier: number): boolean {
  const waiting = warp.splits.filter(
    ({ waits }) => waits?.kind === 'convergence' && waits.barrier === barrier,
  )
  const wantedBy = waiting.map(({ mask }) => convergenceOf(warp, barrier, mask) | mask)
  for (const [place, first] of waiting.entries()) {
    // At one convergence barrier, lanes at different recursion depths wait for different lanes.
    const group = waiting.filter(
      ({ mask }, other) => mask & wantedBy[place]! && first.mask & wantedBy[other]!,
    )
    const arrived = group.reduce((mask, split) => mask | split.mask, 0)
    const all = wantedBy[place]! & warp.live
    const wanted = all & ~yieldedLanes(warp)
    if ((arrived & wanted) !== wanted) continue
    // The barrier does not wait for lanes that yielded.
    if ((arrived & all) !== all)
      setConvergence(warp, barrier, all & ~arrived, (before) => before & ~arrived)
    join(warp, group, arrived)
    return true
  }
  return false
}

/** Releases waiting lanes once all lanes that they wait for have arrived. */
export function converge(warp: Warp): void {
  let [barriers, others] = [0, false]
  for (const { waits } of warp.splits) {
    if (waits?.kind === 'convergence') barriers |= 1 << waits.barrier
    if (waits?.kind === 'warp') others = true
  }
  for (let index = 0; barriers >>> index !== 0; index++)
    if ((barriers >>> index) & 1) while (convergeAt(warp, index));
  if (!others) return
  const waiting = warp.splits.filter(({ waits }) => waits?.kind === 'warp')
  for (const { waits } of waiting) {
    if (waits?.kind !== 'warp') continue
    const { mask } = waits
    // CUDA does not define the behavior if a mask omits waiting lanes. In the emulator, a lane that
    // is missing from its own mask waits for the lanes in the mask.
    const all = waiting.filter((split) => split.mask & mask || split.waits === waits)
    const arrived = all.reduce((union, split) => union | split.mask, 0)
    const wanted = mask & warp.live
    if ((arrived & wanted) !== wanted) continue
    for (const split of all) split.waits = null
    // Lanes that wait at the same instruction continue as one split.
    const first = all[0]!
    if (all.every((split) => split.at === first.at)) join(warp, all, arrived)
    break
  }
}

const yieldedLanes = ({ splits }: Warp): number =>
  splits.reduce((mask, split) => (split.yielded ? mask | split.mask : mask), 0)

const nextTurn: Wait = { kind: 'until', over: () => true, end: () => {}, timesOut: false }

/**
 * Handles YIELD and NANOSLEEP, which appear in loops that may wait for other lanes. Lanes that did
 * not yield run next. Lanes that wait to reconverge with the yielding lanes stop waiting, because
 * such a lane may hold the lock on which the yielding lanes spin.
 */
export function giveWay(warp: Warp, split: Split): void {
  split.waits = nextTurn
  split.yielded = true
  converge(warp)
}

function join(warp: Warp, waiting: Split[], mask: number): void {
  const first = waiting[0]!
  first.mask = mask
  first.waits = null
  if (waiting.length > 1)
    warp.splits = warp.splits.filter((split) => split === first || !waiting.includes(split))
}

/** Merges splits that a barrier has released at the same instruction. */
export function mergeSame(warp: Warp): void {
  if (warp.splits.length < 2) return
  for (const split of warp.splits) {
    const same = warp.splits.filter(
      (each) => each.at === split.at && each.waits === null && split.waits === null,
    )
    if (same.length > 1) {
      join(
        warp,
        same,
        same.reduce((mask, each) => mask | each.mask, 0),
      )
      return mergeSame(warp)
    }
  }
}
