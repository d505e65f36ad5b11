/** What a warp is while it runs. */
import type { Instruction } from '../sass/instruction'

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

/** Lanes of a warp that are at one instruction. */
export interface Split {
  /** Index of the next instruction. */
  at: number
  mask: number
  waits: Wait | null
}

export interface Warp {
  readonly number: number
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
  /** Global copies of LDGSTS land at once, so that nothing is left to wait for. */
  barrierResult: number
}

/** What one instruction does for the lanes in `active`. */
export type Step = (warp: Warp, active: number) => void

/** Stops the kernel; the launch adds where. */
export class Halt extends Error {
  constructor(
    readonly reason: HaltReason,
    readonly instruction: Instruction | null,
    detail: string,
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
