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
  /** Static plus dynamic. */
  readonly sharedBytes: number
  /** Blocks per cluster along x; they run together and access one another's shared memory. 1 by default. */
  readonly clusterBlocks?: number
  /** Stack size of a thread. */
  readonly localBytes: number
  /** Constant banks by number. Bank 0 includes the launch dimensions and parameters; see `launchBank`. */
  readonly banks: ReadonlyMap<number, Uint8Array>
  /** Linear indices of the blocks to run, with the rest of their clusters; all blocks by default. */
  readonly blocks?: BlockSelection
}

/** A range of blocks, or their indices in ascending order. */
export type BlockSelection = { readonly first: number; readonly count: number } | readonly number[]

export interface Printed {
  readonly block: number
  readonly thread: number
  readonly text: string
}

export interface LaunchOptions {
  /** Maximum number of warp instructions before the launch is stopped. */
  readonly limit: number
  /** Whether to check for reads of uninitialized memory and for races; slower. */
  readonly checks: boolean
  /** How often a segment runs by its steps before it is compiled; `Infinity` never compiles. */
  readonly compileAfter?: number
  /** Avoids WebAssembly features that are not available everywhere, such as the CPU's multiply-add. Results are the same. */
  readonly portable?: boolean
  /** Buffers that the kernel may read before it writes them. */
  readonly written?: readonly Allocation[]
  /** The same per byte of the buffers' memory. The launch adds its own writes, for the next launch. */
  readonly writtenBytes?: Uint8Array
  /** Receives the number of executed warp instructions, at most about once a second. */
  readonly onProgress?: (instructions: number) => void
  /** Receives events of the launch. Slower, because steps then do all accesses. */
  readonly trace?: Trace
  /** Receives what threads print; both indices are linear. */
  readonly onPrint?: (printed: Printed) => void
}

export interface LaunchResult {
  /** Warp instructions. */
  readonly instructions: number
  readonly counts: Counts
  readonly findings: readonly Finding[]
  readonly barriers: number
  /** The number of blocks that ran. */
  readonly blocks: number
}
