/** What a warp is while it runs. */
import type { Instruction } from '../sass/instruction'
import type { Watch } from './site'

/** Places of predicates: P0 to P6, PT at 7, UP0 to UP6 at 8, UPT at 15; what is written to PT goes to the last one. */
export const predicateTrue = 7
export const uniformPredicates = 8
export const predicateTrash = 16

export type Wait =
  | { kind: 'convergence'; barrier: number }
  | { kind: 'warp'; mask: number }
  | {
      kind: 'block'
      barrier: number
      threads: number | null
      reduce: number | null
    }
  /** Asked again each time that the warp has its turn; what times out also ends when nothing else can run. */
  | { kind: 'until'; over: () => boolean; end: () => void; timesOut: boolean }

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
  arrived: number
  /** Arrivals without a wait. */
  signalled: number
  waiting: { warp: Warp; split: Split }[]
  value: number
}

/** Who is told of what orders the warps of a block. */
export interface BlockWatch extends Watch {
  beginBlock(): void
  /** These warps have met. */
  barrier(warps: readonly number[]): void
  /** A warp has arrived and goes on. */
  arrive(barrier: number, warp: number): void
  /** Of a barrier in shared memory: what the warp has done so far is ordered before those who acquire it. */
  release(address: number, warp: number): void
  acquire(address: number, warp: number): void
}

export interface Warp {
  readonly number: number
  readonly block: Block
  /** Word index of its first row of registers. */
  readonly base: number
  /** Masks of lanes. */
  readonly predicates: Int32Array
  /** Masks of the convergence barriers B0 to B15. */
  readonly convergence: Int32Array
  /** Lanes that exist; those that have not exited yet. */
  readonly lanes: number
  live: number
  splits: Split[]
  barrierResult: number
  /** How often its cluster had met when it last arrived at the cluster's barrier. */
  clusterTurn: number
}

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
