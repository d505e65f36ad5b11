/** Types for a kernel launch to emulate: its input, options and result. */
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
  /** Static plus dynamic shared memory per block, in bytes. */
  readonly sharedBytes: number
  /**
   * Number of blocks per cluster along x; 1 by default. A cluster's blocks run concurrently and can
   * access one another's shared memory.
   */
  readonly clusterBlocks?: number
  /** Stack size per thread, in bytes. */
  readonly localBytes: number
  /**
   * Constant banks, keyed by number. Bank 0 contains the launch dimensions and parameters (see
   * `launchBank`).
   */
  readonly banks: ReadonlyMap<number, Uint8Array>
  /**
   * Linear indices of the blocks to run. By default, all blocks run. The other blocks in the
   * selected blocks' clusters also run.
   */
  readonly blocks?: BlockSelection
}

/** A contiguous range of blocks, or a list of block indices in ascending order. */
export type BlockSelection = { readonly first: number; readonly count: number } | readonly number[]

export interface Printed {
  readonly block: number
  readonly thread: number
  readonly text: string
}

export interface LaunchOptions {
  /** Maximum number of warp instructions, after which the launch stops. */
  readonly limit: number
  /** Whether to run the slow checks for reads of uninitialized memory and for races. */
  readonly checks: boolean
  /**
   * Number of times that a segment is interpreted before it is compiled. `Infinity` disables
   * compilation.
   */
  readonly compileAfter?: number
  /**
   * Whether to avoid WebAssembly features that some hosts lack, such as a native multiply-add.
   * Results do not depend on these features.
   */
  readonly portable?: boolean
  /** Buffers that the kernel may read before it writes them. */
  readonly written?: readonly Allocation[]
  /**
   * One flag per byte of buffer memory: whether the kernel may read the byte before it writes it.
   * The launch also sets the flag of every byte that it writes, for use by the next launch.
   */
  readonly writtenBytes?: Uint8Array
  /** Receives the number of executed warp instructions, at most about once per second. */
  readonly onProgress?: (instructions: number) => void
  /** Receives the launch's events. Tracing is slow, because all accesses are interpreted. */
  readonly trace?: Trace
  /** Receives the text that threads print, with linear block and thread indices. */
  readonly onPrint?: (printed: Printed) => void
}

export interface LaunchResult {
  /** Number of executed warp instructions. */
  readonly instructions: number
  readonly counts: Counts
  readonly findings: readonly Finding[]
  readonly barriers: number
  /** Number of blocks that ran. */
  readonly blocks: number
}
