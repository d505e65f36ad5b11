/**
 * What the emulator reports of a launch as it runs, for whoever wants to know how long it would take: which
 * instructions each warp executed, what its memory accesses were, and who waited for whom.
 */
import type { Block, Warp } from './warp'

export type AccessSpace = 'global' | 'shared' | 'local'

/** What an access does; a copy reads global memory into shared memory, past L1 where it bypasses it. */
export type AccessKind = 'load' | 'store' | 'atomic' | 'copy' | 'copy-past-l1'

/** What warps or the copy engine meet at: a block's barrier by number, an mbarrier by offset, a cluster's barrier. */
export type Meeting =
  | { readonly kind: 'barrier'; readonly block: Block; readonly number: number }
  | { readonly kind: 'mbarrier'; readonly block: Block; readonly offset: number }
  | { readonly kind: 'cluster'; readonly block: Block }

export interface Trace {
  /** Whether it has ended a warp of this cluster early; then others may wait for it in vain. */
  readonly endsWarps: boolean
  /** A warp is about to run a straight piece of code; false to have it exit instead. */
  enters(warp: Warp, from: number, end: number): boolean
  /**
   * An access of the lanes in `mask`, `bytes` each. `wavefronts` are those of shared memory. An atomic without
   * `returns` gives nothing back.
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
  /** A bulk copy begins: runs of global memory, and the blocks whose shared memory it fills. */
  copies(warp: Warp, at: number, toShared: boolean): void
  /** A run of bytes of the bulk copy that began last. */
  copied(address: number, bytes: number): void
  /** Somebody arrives; `by` the bulk copy that began last, earlier asynchronous copies of the warp, or the warp itself. */
  arrives(warp: Warp, at: number, meeting: Meeting, by: 'warp' | 'copies' | 'bulk-copy'): void
  /** All have arrived, and the next phase begins. */
  completes(meeting: Meeting): void
  /** The warp goes on only once the phase under way, or the one before it, is complete. */
  waits(warp: Warp, at: number, meeting: Meeting, phase: 'current' | 'previous'): void
}
