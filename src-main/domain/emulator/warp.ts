/** The state of a warp while it runs, and the hooks that count and watch it. */
import type { Instruction } from '../sass/instruction'

/** Places of predicates: P0 to P6, PT at 7, UP0 to UP6 at 8, UPT at 15; what is written to PT goes to the last one. */
export const predicateTrue = 7
export const uniformPredicates = 8

export type Wait =
  | { kind: 'convergence'; barrier: number }
  | { kind: 'warp'; mask: number }
  | { kind: 'block'; barrier: number }
  /** Asked again each time that the warp has its turn; what times out also ends when nothing else can run. */
  | { kind: 'until'; over: () => boolean; end: () => void; timesOut: boolean }

export const warpLanes = 32
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

interface BlockBarrier {
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
