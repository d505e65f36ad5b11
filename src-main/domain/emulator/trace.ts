/**
 * Events that the emulator reports during a launch, used to predict the launch time. They contain
 * the instructions and memory accesses of each warp, and the warps that it waited for.
 */
import type { Block, Warp } from './warp'

export type AccessSpace = 'global' | 'shared' | 'local'

/** Kind of a memory access. A copy reads global memory into shared memory, with or without L1. */
export type AccessKind = 'load' | 'store' | 'atomic' | 'copy' | 'copy-past-l1'

/**
 * A meeting point of warps or the copy engine. It is a block barrier by number, an mbarrier by
 * offset, or a cluster barrier.
 */
export type Meeting =
  | { readonly kind: 'barrier'; readonly block: Block; readonly number: number }
  | { readonly kind: 'mbarrier'; readonly block: Block; readonly offset: number }
  | { readonly kind: 'cluster'; readonly block: Block }

export interface Trace {
  /**
   * Whether the trace ended a warp of this cluster early. Other warps may then wait for that warp
   * forever.
   */
  readonly endsWarps: boolean
  /**
   * Called before a warp runs a straight-line segment. Returns false to make the warp exit instead.
   */
  enters(warp: Warp, from: number, end: number): boolean
  /**
   * Reports an access of the lanes in `mask`, with `bytes` per lane. `wavefronts` counts wavefronts
   * of shared memory. An atomic without `returns` returns no value.
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
  /** Reports the start of a bulk copy. `toShared` copies fill the shared memory of blocks. */
  copies(warp: Warp, at: number, toShared: boolean): void
  /** Reports a range of the most recently started bulk copy. */
  copied(address: number, bytes: number): void
  /**
   * Reports an arrival by the most recent bulk copy, by the warp's earlier asynchronous copies, or
   * by the warp itself.
   */
  arrives(warp: Warp, at: number, meeting: Meeting, by: 'warp' | 'copies' | 'bulk-copy'): void
  /** Called when all participants have arrived and the next phase starts. */
  completes(meeting: Meeting): void
  /** Called when the warp may continue only after the current or the previous phase is complete. */
  waits(warp: Warp, at: number, meeting: Meeting, phase: 'current' | 'previous'): void
}
