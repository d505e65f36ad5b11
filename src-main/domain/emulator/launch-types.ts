/** A kernel launch to emulate, how to run it, and its result. */
import type { Instruction } from '../sass/instruction'
import type { Allocation } from './device'
import type { Finding } from './site'
import type { Extent } from './special-registers'
import type { Trace } from './trace'
import type { Counts } from './warp'

export interface Launch {
  readonly kernel: string
  readonly code: readonly Instruction[]
  readonly grid: Extent
  readonly block: Extent
  /** Static plus dynamic shared memory per block. */
  readonly sharedBytes: number
  /**
   * Number of blocks per cluster along x, 1 by default. These blocks run together and access one
   * another's shared memory.
   */
  readonly clusterBlocks?: number
  /** Stack size per thread. */
  readonly localBytes: number
  /**
   * Constant banks by number. Bank 0 includes the launch dimensions and parameters (see
   * `launchBank`).
   */
  readonly banks: ReadonlyMap<number, Uint8Array>
  /**
   * Linear indices of the blocks to run, all by default. The other blocks of their clusters run
   * too.
   */
  readonly blocks?: BlockSelection
}

/** A range of blocks, or block indices in ascending order. */
export type BlockSelection = { readonly first: number; readonly count: number } | readonly number[]

export interface Printed {
  readonly block: number
  readonly thread: number
  readonly text: string
}

export interface LaunchOptions {
  /** Number of warp instructions after which the launch is stopped. */
  readonly limit: number
  /** Whether to check for reads of uninitialized memory and for races. The checks are slow. */
  readonly checks: boolean
  /**
   * Number of times that a segment's steps run before the segment is compiled. `Infinity` never
   * compiles.
   */
  readonly compileAfter?: number
  /**
   * Whether to avoid WebAssembly features that some hosts lack, such as the CPU's multiply-add.
   * Results do not change.
   */
  readonly portable?: boolean
  /** Buffers that the kernel may read before it writes them. */
  readonly written?: readonly Allocation[]
  /**
   * Bytes of the buffers' memory that the kernel may read before it writes them. The launch adds
   * its writes for the next launch.
   */
  readonly writtenBytes?: Uint8Array
  /** Receives the number of executed warp instructions, about once per second at most. */
  readonly onProgress?: (instructions: number) => void
  /** Receives events of the launch. Tracing is slow, because steps then do all accesses. */
  readonly trace?: Trace
  /** Receives text that threads print. Both indices are linear. */
  readonly onPrint?: (printed: Printed) => void
}

export interface LaunchResult {
  /** Number of executed warp instructions. */
  readonly instructions: number
  readonly counts: Counts
  readonly findings: readonly Finding[]
  readonly barriers: number
  /** The number of blocks that ran. */
  readonly blocks: number
}
