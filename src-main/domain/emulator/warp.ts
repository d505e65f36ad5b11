/** The state of a running warp, and the hooks that count and observe it. */
import type { Instruction } from '../sass/instruction'

/** Indices of predicates: P0 to P6, PT at 7, UP0 to UP6 at 8, UPT at 15. Writes to PT go to the last one. */
export const predicateTrue = 7
export const uniformPredicates = 8

export type Wait =
  | { kind: 'convergence'; barrier: number }
  | { kind: 'warp'; mask: number }
  | { kind: 'block'; barrier: number }
  /** Polled each time the warp takes its turn. With `timesOut`, the wait also ends when nothing else can run. */
  | { kind: 'until'; over: () => boolean; end: () => void; timesOut: boolean }

export const warpLanes = 32
/** Words of a warp's convergence barriers. */
export const convergenceWords = 16 * warpLanes

/** Lanes of a warp at the same instruction. */
export interface Split {
  /** Index of the next instruction. */
  at: number
  mask: number
  waits: Wait | null
  /** It has yielded, so lanes that wait to reconverge with it continue without it. */
  yielded?: boolean
}

/** Blocks that run together and access one another's shared memory. A block without a cluster is its own cluster. */
export interface Cluster {
  readonly blocks: Block[]
  /** Warps waiting at the cluster barrier, and how often all have met there. */
  arrived: number
  meetings: number
}

export interface Block {
  readonly cluster: Cluster
  readonly rank: number
  /** Linear index, x first. */
  readonly number: number
  readonly at: readonly [number, number, number]
  readonly warps: Warp[]
  /** By number, BAR 0 to 15. */
  readonly barriers: Map<number, BlockBarrier>
  /** How often warps met at any of them. */
  meetings: number
  /** Byte addresses where shared and local memory start. */
  readonly shared: number
  readonly local: number
  readonly watch: BlockWatch | null
}

interface BlockBarrier {
  /** Number of threads it waits for; null for all threads of the block that have not exited. */
  wanted: number | null
  arrived: number
  /** Arrivals that do not wait. */
  signalled: number
  waiting: { warp: Warp; split: Split }[]
  value: number
}

/** Counts by instruction. */
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
  /** Generic accesses that reached shared memory or global memory. */
  readonly intoShared: Float64Array
  readonly intoGlobal: Float64Array
}

/** Returns zeroed counts for `length` instructions. */
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

/** Observes reads and writes, when checks are on. */
interface Watch {
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

/** Observes what orders the warps of a block. */
export interface BlockWatch extends Watch {
  beginBlock(): void
  /** These warps met at a barrier. */
  barrier(warps: readonly number[]): void
  /** A warp arrived without waiting. */
  arrive(barrier: number, warp: number): void
  /**
   * At a barrier in shared memory: everything the warp (null: another block of the cluster) did so far is ordered before later acquires.
   */
  release(address: number, warp: number | null): void
  /** A thread of another block copied bytes to this block's shared memory. */
  copiedHere(at: number, thread: number, address: number, bytes: number): void
  acquire(address: number, warp: number): void
}

export interface Warp {
  readonly number: number
  readonly block: Block
  /** Word index of the first register row. */
  readonly base: number
  /** Lane masks. */
  readonly predicates: Int32Array
  /**
   * Masks of the convergence barriers B0 to B15, by lane: 32 words per barrier. Functions save and reuse the same barriers, so lanes at
   * different recursion depths can have different masks in one of them.
   */
  readonly convergence: Int32Array
  /** Lanes that exist, and those that have not exited. */
  readonly lanes: number
  live: number
  splits: Split[]
  barrierResult: number
  /** How often its cluster had met when the warp last arrived at the cluster barrier. */
  clusterTurn: number
}

/** Executes a control instruction for the lanes in `active` of `split`, and sets where both continue. */
export type Control = (warp: Warp, split: Split, active: number) => void

/** Executes one instruction for the lanes in `active`. */
export type Step = (warp: Warp, active: number) => void

/** Stops the kernel; the launch adds the location. */
export class Halt extends Error {
  constructor(
    readonly reason: HaltReason,
    readonly instruction: Instruction | null,
    detail: string,
    /** The thread that caused it, if it was a single one. */
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
