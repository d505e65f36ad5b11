/** What a warp is while it runs, and who counts and watches what it does. */
import type { Instruction } from '../sass/instruction'

/** Places of predicates: P0 to P6, PT at 7, UP0 to UP6 at 8, UPT at 15; what is written to PT goes to the last one. */
export const predicateTrue = 7
export const uniformPredicates = 8
export const predicateTrash = 16

export type Wait =
  | { kind: 'convergence'; barrier: number }
  | { kind: 'warp'; mask: number }
  | { kind: 'block'; barrier: number }
  /** Asked again each time that the warp has its turn; what times out also ends when nothing else can run. */
  | { kind: 'until'; over: () => boolean; end: () => void; timesOut: boolean }

const warpLanes = 32
/** Words of a warp's convergence barriers. */
export const convergenceWords = 16 * warpLanes

/** Lanes of a warp that are at one instruction. */
export interface Split {
  /** Index of the next instruction. */
  at: number
  mask: number
  waits: Wait | null
  /** It has given way, so lanes that wait to meet it again go on without it. */
  yielded?: boolean
}

/** Blocks that run together and see one another's shared memory. One without a cluster is a cluster of its own. */
export interface Cluster {
  readonly blocks: Block[]
  /** Warps at its barrier, and how often all have met there. */
  arrived: number
  meetings: number
}

export interface Block {
  readonly cluster: Cluster
  readonly rank: number
  /** Linear, x first. */
  readonly number: number
  readonly at: readonly [number, number, number]
  readonly warps: Warp[]
  /** By number: BAR 0 to 15. */
  readonly barriers: Map<number, BlockBarrier>
  /** How often warps met at one of them. */
  meetings: number
  /** Bytes of the memory where shared and local memory begin. */
  readonly shared: number
  readonly local: number
  readonly watch: BlockWatch | null
}

export interface BlockBarrier {
  /** How many threads it waits for; null for all threads of the block that have not exited. */
  wanted: number | null
  arrived: number
  /** Arrivals without a wait. */
  signalled: number
  waiting: { warp: Warp; split: Split }[]
  value: number
}

/** By instruction. */
export interface Counts {
  readonly executed: Float64Array
  readonly threads: Float64Array
  readonly on: Float64Array
  readonly wavefronts: Float64Array
  readonly idealWavefronts: Float64Array
  readonly tags: Float64Array
  readonly sectors: Float64Array
  readonly idealSectors: Float64Array
  readonly divergent: Float64Array
  readonly passes: Float64Array
  readonly conflicts: Float64Array
  readonly l1Sectors: Float64Array
  /** Generic accesses that reached shared memory, and global memory. */
  readonly intoShared: Float64Array
  readonly intoGlobal: Float64Array
}

/** Zero counts of so many instructions. */
export function newCounts(length: number): Counts {
  const one = (): Float64Array => new Float64Array(length)
  return {
    executed: one(),
    threads: one(),
    on: one(),
    wavefronts: one(),
    idealWavefronts: one(),
    tags: one(),
    sectors: one(),
    idealSectors: one(),
    divergent: one(),
    passes: one(),
    conflicts: one(),
    l1Sectors: one(),
    intoShared: one(),
    intoGlobal: one(),
  }
}

/** Who wrote and read what, where checks are asked for. */
export interface Watch {
  global(at: number, warp: Warp, lane: number, offset: number, bytes: number, write: boolean): void
  shared(
    at: number,
    warp: Warp,
    lane: number,
    address: number,
    bytes: number,
    write: boolean,
    atomic: boolean,
  ): void
}

/** Who is told of what orders the warps of a block. */
export interface BlockWatch extends Watch {
  beginBlock(): void
  /** These warps have met. */
  barrier(warps: readonly number[]): void
  /** A warp has arrived and goes on. */
  arrive(barrier: number, warp: number): void
  /**
   * Of a barrier in shared memory: what the warp, or null for other blocks of the cluster, has done so far is ordered
   * before those who acquire it.
   */
  release(address: number, warp: number | null): void
  /** A thread of another block has had bytes copied to this block's shared memory. */
  copiedHere(at: number, thread: number, address: number, bytes: number): void
  acquire(address: number, warp: number): void
}

export interface Warp {
  readonly number: number
  readonly block: Block
  /** Word index of its first row of registers. */
  readonly base: number
  /** Masks of lanes. */
  readonly predicates: Int32Array
  /**
   * Masks of the convergence barriers B0 to B15, by lane: 32 words for each barrier. Functions save and reuse the same
   * barriers, so lanes at different depths of a recursion have different masks in one of them.
   */
  readonly convergence: Int32Array
  /** Lanes that exist; those that have not exited yet. */
  readonly lanes: number
  live: number
  splits: Split[]
  barrierResult: number
  /** How often its cluster had met when it last arrived at the cluster's barrier. */
  clusterTurn: number
}

/** Does the instruction for the lanes in `active`, which are of `split`, and sets where both go on. */
export type Control = (warp: Warp, split: Split, active: number) => void

/** What one instruction does for the lanes in `active`. */
export type Step = (warp: Warp, active: number) => void

/** Stops the kernel; the launch adds where. */
export class Halt extends Error {
  constructor(
    readonly reason: HaltReason,
    readonly instruction: Instruction | null,
    detail: string,
    /** The thread that is to blame, where it is one. */
    readonly by: { warp: Warp; lane: number } | null = null,
  ) {
    super(detail)
  }
}

export type HaltReason =
  | 'unknown-instruction'
  | 'illegal-address'
  | 'too-long'
  | 'deadlock'
  | 'memory'
  | 'trap'
  | 'assert'
  | 'stack'

// Where the lanes of a warp go: apart at a branch, and together again where they wait for one another.

/** Sends the lanes in `active` elsewhere; the others go on. */
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

/** Sends each lane in `active` to a goal of its own; the others go on behind the instruction at `index`. */
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

/** The union of what the lanes in `mask` have in a convergence barrier. */
export function convergenceOf({ convergence }: Warp, barrier: number, mask: number): number {
  let union = 0
  for (let rest = mask; rest !== 0; rest &= rest - 1)
    union |= convergence[barrier * warpLanes + (31 - Math.clz32(rest & -rest))]!
  return union
}

/** Sets a convergence barrier of the lanes in `mask` to what `valueOf` makes of its value. */
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

/** Ends the wait of the lanes that meet at a convergence barrier, if all that should have arrived; false otherwise. */
function convergeAt(warp: Warp, barrier: number): boolean {
  const waiting = warp.splits.filter(
    ({ waits }) => waits?.kind === 'convergence' && waits.barrier === barrier,
  )
  const wantedBy = waiting.map(({ mask }) => convergenceOf(warp, barrier, mask) | mask)
  for (const [place, first] of waiting.entries()) {
    // Lanes at other depths of a recursion wait at this barrier for lanes of their own.
    const group = waiting.filter(
      ({ mask }, other) => mask & wantedBy[place]! && first.mask & wantedBy[other]!,
    )
    const arrived = group.reduce((mask, split) => mask | split.mask, 0)
    const all = wantedBy[place]! & warp.live
    const wanted = all & ~yieldedLanes(warp)
    if ((arrived & wanted) !== wanted) continue
    // Those that gave way will meet without them.
    if ((arrived & all) !== all)
      setConvergence(warp, barrier, all & ~arrived, (before) => before & ~arrived)
    join(warp, group, arrived)
    return true
  }
  return false
}

/** Ends the wait of lanes that have all come together. */
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
    // A mask that leaves out the lanes that wait is undefined in CUDA; they wait for the others alone.
    const all = waiting.filter((split) => split.mask & mask || split.waits === waits)
    const arrived = all.reduce((union, split) => union | split.mask, 0)
    const wanted = mask & warp.live
    if ((arrived & wanted) !== wanted) continue
    for (const split of all) split.waits = null
    // Lanes that wait at one place go on together.
    const first = all[0]!
    if (all.every((split) => split.at === first.at)) join(warp, all, arrived)
    break
  }
}

const yieldedLanes = ({ splits }: Warp): number =>
  splits.reduce((mask, split) => (split.yielded ? mask | split.mask : mask), 0)

const nextTurn: Wait = { kind: 'until', over: () => true, end: () => {}, timesOut: false }

/**
 * YIELD or NANOSLEEP, which loops have that may wait for other lanes: the others have their turn, and those that wait for these lanes
 * to meet them again go on without them. Else a lane that holds a lock would wait for those that want it.
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

/** Lanes that a barrier let go at one place go on together. */
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
