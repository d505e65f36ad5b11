/**
 * Events that the emulator reports during a launch. The events are used to predict the launch time,
 * and describe each warp's instructions, memory accesses, and waits.
 */
import type { Block, Warp } from './warp'

export type AccessSpace = 'global' | 'shared' | 'local'

/**
 * Kind of a memory access. `copy` is a copy from global to shared memory through L1. `copy-past-l1`
 * is a copy that bypasses L1.
 */
export type AccessKind = 'load' | 'store' | 'atomic' | 'copy' | 'copy-past-l1'

/**
 * A synchronization point for warps or TMA. The point is a block barrier (identified by number), an
 * mbarrier (identified by offset), or the cluster barrier.
 */
export type Meeting =
  | { readonly kind: 'barrier'; readonly block: Block; readonly number: number }
  | { readonly kind: 'mbarrier'; readonly block: Block; readonly offset: number }
  | { readonly kind: 'cluster'; readonly block: Block }

export interface Trace {
  /**
   * Whether the trace ended a warp of this cluster early. Other warps may then wait forever for the
   * ended warp.
   */
  readonly endsWarps: boolean
  /**
   * Called before a warp runs a straight-line segment. Returns false if the warp must exit instead
   * of running the segment.
   */
  enters(warp: Warp, from: number, end: number): boolean
  /**
   * Reports an access by the lanes in `mask`, with `bytes` per lane. `wavefronts` is the number of
   * shared-memory wavefronts. `returns` is true if an atomic returns a value.
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
  /**
   * Reports the start of a bulk copy. With `toShared`, the copy writes to the shared memory of one
   * or more blocks.
   */
  copies(warp: Warp, at: number, toShared: boolean): void
  /** Reports an address range of the most recently started bulk copy. */
  copied(address: number, bytes: number): void
  /**
   * Reports an arrival by the most recent bulk copy, by the warp's earlier asynchronous copies, or
   * by the warp itself.
   */
  arrives(warp: Warp, at: number, meeting: Meeting, by: 'warp' | 'copies' | 'bulk-copy'): void
  /** Called when all participants have arrived and the next phase starts. */
  completes(meeting: Meeting): void
  /** Called when the warp must wait until the current or the previous phase is complete. */
  waits(warp: Warp, at: number, meeting: Meeting, phase: 'current' | 'previous'): void
}
