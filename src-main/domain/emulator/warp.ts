/** The state of a running warp, and the hooks that count and observe its work. */
import type { Instruction } from '../sass/instruction'

/**
 * Indices of predicates. P0 to P6 have indices 0 to 6, and PT has index 7. UP0 to UP6 have indices
 * 8 to 14, and UPT has index 15. Writes to PT and UPT are discarded.
 */
export const predicateTrue = 7
export const uniformPredicates = 8

export type Wait =
  | { kind: 'convergence'; barrier: number }
  | { kind: 'warp'; mask: number }
  | { kind: 'block'; barrier: number }
  /**
   * A condition that is checked whenever it is the warp's turn to run. If `timesOut` is true, the
   * wait also ends when no other warp can run.
   */
  | { kind: 'until'; over: () => boolean; end: () => void; timesOut: boolean }

export const warpLanes = 32
/** Number of words for a warp's convergence barriers. */
export const convergenceWords = 16 * warpLanes

/** A warp's lanes that are at the same instruction. */
export interface Split {
  /** Index of the next instruction. */
  at: number
  mask: number
  waits: Wait | null
  /**
   * Whether the split has yielded. Lanes that would reconverge with a yielded split do not wait for
   * that split.
   */
  yielded?: boolean
}

/**
 * Blocks that run concurrently and can access one another's shared memory. Without clusters, each
 * block forms its own cluster.
 */
export interface Cluster {
  readonly blocks: Block[]
  /** Number of warps that wait at the cluster barrier, and number of completed cluster barriers. */
  arrived: number
  meetings: number
}

export interface Block {
  readonly cluster: Cluster
  readonly rank: number
  /** Linear index of the block, with x varying fastest. */
  readonly number: number
  readonly at: readonly [number, number, number]
  readonly warps: Warp[]
  /** Barriers, keyed by number (BAR 0 to 15). */
  readonly barriers: Map<number, BlockBarrier>
  /** Number of completed barriers in the block. */
  meetings: number
  /** Byte addresses at which shared memory and local memory start. */
  readonly shared: number
  readonly local: number
  readonly watch: BlockWatch | null
}

interface BlockBarrier {
  /**
   * Number of threads that the barrier waits for. Null means all of the block's threads that have
   * not exited.
   */
  wanted: number | null
  arrived: number
  /** Number of threads that arrived without waiting. */
  signalled: number
  waiting: { warp: Warp; split: Split }[]
  value: number
}

/** Counters, indexed by instruction. */
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
  /** Numbers of generic accesses to shared memory and to global memory. */
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

/** Hooks that observe reads and writes, called only while checks are on. */
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

/** Hooks that also observe the synchronization between a block's warps. */
export interface BlockWatch extends Watch {
  beginBlock(): void
  /** Called when all of the given warps have arrived at a barrier. */
  barrier(warps: readonly number[]): void
  /** Called when a warp arrives at a barrier but does not wait there. */
  arrive(barrier: number, warp: number): void
  /**
   * Called when a warp releases a barrier in shared memory. As a result, the warp's earlier
   * accesses happen before later acquires of the barrier. `warp` is null if the warp belongs to
   * another block in the cluster.
   */
  release(address: number, warp: number | null): void
  /** Called when a thread in another block has copied bytes to this block's shared memory. */
  copiedHere(at: number, thread: number, address: number, bytes: number): void
  acquire(address: number, warp: number): void
}

export interface Warp {
  readonly number: number
  readonly block: Block
  /** Word index of the first register row. */
  readonly base: number
  /** Lane mask of each predicate. */
  readonly predicates: Int32Array
  /**
   * Lane masks of the convergence barriers B0 to B15, with 32 words per barrier, one per lane.
   * A called function saves its caller's barriers and then uses the same barrier numbers. Lanes at
   * different recursion depths can therefore have different masks for the same barrier.
   */
  readonly convergence: Int32Array
  /** Mask of the lanes that exist, and mask of the lanes that have not exited. */
  readonly lanes: number
  live: number
  splits: Split[]
  barrierResult: number
  /** Number of completed cluster barriers when the warp last arrived at the cluster barrier. */
  clusterTurn: number
}

/**
 * Executes a control instruction for the split's lanes in `active`. Sets the next instruction of
 * the active lanes and of the split's remaining lanes.
 */
export type Control = (warp: Warp, split: Split, active: number) => void

/** Executes one instruction for the lanes in `active`. */
export type Step = (warp: Warp, active: number) => void

/** Error that stops the kernel. The code that runs the launch adds the error's location. */
export class Halt extends Error {
  constructor(
    readonly reason: HaltReason,
    readonly instruction: Instruction | null,
    detail: string,
    /** The thread that caused the halt, or null if no single thread did. */
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
