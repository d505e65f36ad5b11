/** What a launch is run with, and what it gives. */
import type { Instruction } from '../sass/instruction'
import type { Allocation } from './device'
import type { Finding } from './site'
import type { Counts } from './warp'
import type { Extent } from './special-registers'

export interface Launch {
  readonly kernel: string
  readonly code: readonly Instruction[]
  readonly grid: Extent
  readonly block: Extent
  /** Static and dynamic together. */
  readonly sharedBytes: number
  /** Blocks of a cluster, along x; they run together and see one another's shared memory. 1 by default. */
  readonly clusterBlocks?: number
  /** Stack of a thread. */
  readonly localBytes: number
  /** Constant banks by number; bank 0 with launch and parameters filled in, see `launchBank`. */
  readonly banks: ReadonlyMap<number, Uint8Array>
  /** Linear numbers of the blocks to run, with the rest of their clusters; all of them by default. */
  readonly blocks?: { readonly first: number; readonly count: number }
}

export interface Printed {
  readonly block: number
  readonly thread: number
  readonly text: string
}

export interface LaunchOptions {
  /** Warp instructions before it is stopped. */
  readonly limit: number
  /** Looks for reads of what was never written and for races; slower. */
  readonly checks: boolean
  /** How often a piece of the code is run by its steps before it is compiled; `Infinity` leaves everything to them. */
  readonly compileAfter?: number
  /** Leaves out what WebAssembly has not everywhere, the multiply-add of the CPU; results are the same. */
  readonly portable?: boolean
  /** Buffers that hold what a kernel may read; others have to be written first. */
  readonly written?: readonly Allocation[]
  /** The same byte by byte for all of the buffers' memory; what this launch writes is added, for the next one. */
  readonly writtenBytes?: Uint8Array
  /** Told how many warp instructions were executed, at most about once a second. */
  readonly onProgress?: (instructions: number) => void
  /** Told of what threads print, both numbers linear. */
  readonly onPrint?: (printed: Printed) => void
}

export interface LaunchResult {
  /** Warp instructions. */
  readonly instructions: number
  readonly counts: Counts
  readonly findings: readonly Finding[]
  readonly barriers: number
}
