/** The simulated state of a warp. Times are in cycles. */
import type { WarpTrace } from './warp-trace'

export const scoreboards = 6

export interface WarpState {
  sm: number
  core: number
  block: number
  readonly trace: WarpTrace
  /** Indices of the current code segment, the current instruction, and the next event. */
  piece: number
  at: number
  event: number
  /**
   * Earliest cycle in which the next instruction can issue, ignoring pipes. Infinity while the warp
   * waits for other warps.
   */
  ready: number
  /**
   * Cycle in which the last instruction issued. The delay since that cycle is attributed to stall
   * reasons.
   */
  lastIssue: number
  readonly scoreboard: Float64Array
  /** Whether the last operation of a scoreboard accessed memory other than shared memory. */
  readonly long: Uint8Array
  /**
   * Completion time of the asynchronous copies in the current group, and of each committed group.
   */
  copies: number
  groups: number[]
  products: number[]
  bulk: number
  /** Recently written sectors, keyed by line, with the time of the write. */
  written: Map<number, { sectors: number; time: number }>
  /** Earliest cycle at which the warp resumes after a barrier. */
  waitUntil: number
  started: number
  fetchedLine: number
  done: boolean
}

/** Returns a warp whose first instruction can issue at `ready`. */
export const newWarp = (
  own: Pick<WarpState, 'sm' | 'core' | 'block' | 'trace' | 'started' | 'ready'>,
): WarpState => ({
  ...own,
  ...{ piece: 0, at: own.trace.pieces[0] ?? -1, event: 0 },
  lastIssue: own.ready,
  scoreboard: new Float64Array(scoreboards),
  long: new Uint8Array(scoreboards),
  ...{ copies: 0, groups: [], products: [], bulk: 0 },
  written: new Map(),
  ...{ waitUntil: 0, fetchedLine: -1 },
  done: own.trace.pieces.length === 0,
})
