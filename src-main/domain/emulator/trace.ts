/**
 * Events that the emulator reports while a launch runs, used to predict its time: the instructions each warp executed, its memory accesses,
 * and which warp waited for which.
 */
import type { Block, Warp } from './warp'

export type AccessSpace = 'global' | 'shared' | 'local'

/** The kind of an access. A copy reads global memory into shared memory, with or without L1. */
export type AccessKind = 'load' | 'store' | 'atomic' | 'copy' | 'copy-past-l1'

/** A meeting point of warps or the copy engine: a block barrier by number, an mbarrier by offset, or a cluster barrier. */
export type Meeting =
  | { readonly kind: 'barrier'; readonly block: Block; readonly number: number }
  | { readonly kind: 'mbarrier'; readonly block: Block; readonly offset: number }
  | { readonly kind: 'cluster'; readonly block: Block }

export interface Trace {
  /** Whether the trace ended a warp of this cluster early; others may then wait for it in vain. */
  readonly endsWarps: boolean
  /** A warp is about to run a straight-line segment; returns false to make it exit instead. */
  enters(warp: Warp, from: number, end: number): boolean
  /**
   * An access of the lanes in `mask`, `bytes` each. `wavefronts` are those of shared memory. An atomic without `returns` returns no value.
   */
  access(
    warp: Warp,
    at: number,
    space: AccessSpace,
    kind: AccessKind,
    access: {
      readonly mask: number
      readonly addresses: ArrayLike<number>
      readonly bytes: number
      readonly wavefronts: number
      readonly returns?: boolean
    },
  ): void
  /** A bulk copy starts: ranges of global memory, and the blocks whose shared memory it fills. */
  copies(warp: Warp, at: number, toShared: boolean): void
  /** A range of the most recently started bulk copy. */
  copied(address: number, bytes: number): void
  /** An arrival, by the most recent bulk copy, by the warp's earlier asynchronous copies, or by the warp itself. */
  arrives(warp: Warp, at: number, meeting: Meeting, by: 'warp' | 'copies' | 'bulk-copy'): void
  /** All have arrived; the next phase starts. */
  completes(meeting: Meeting): void
  /** The warp continues only after the current or the previous phase is complete. */
  waits(warp: Warp, at: number, meeting: Meeting, phase: 'current' | 'previous'): void
}
