/**
 * Models the pipes of one sub-core and its queue to the load/store unit. The model determines when
 * each pipe and the queue accept an instruction.
 */
import { reasonAt } from './stall-index'
import { pipes, type Pipe, type TimedInstruction } from './timed-code'

const pipeIndex = Object.fromEntries(pipes.map((name, index) => [name, index])) as Record<
  Pipe,
  number
>
/**
 * Number of start times stored per pipe. The start times distinguish cycles in which the pipe was
 * blocked from cycles in which another warp was selected.
 */
const keptStarts = 64
/**
 * Minimum time between the issues of two warpgroup products, as a fraction of the time that the
 * product takes. In profiles of cuBLAS on the H200, products that take 64 cycles issue 24 to 42
 * cycles apart. A warpgroup product waits for the tensor core after its issue, so the warp
 * continues.
 */
const productIssue = 0.5

/** Returns the stall reason of a warp whose instruction waits for its pipe. */
export function throttleOf({ pipe, long, action }: TimedInstruction): number {
  if (pipe === 'lsu') return long ? reasonAt.lg_throttle : reasonAt.mio_throttle
  return action.kind === 'warpgroup' ? reasonAt.mio_throttle : reasonAt.math_pipe_throttle
}

/** State of a sub-core's pipes. All times are in cycles. */
export class SubCorePipes {
  /** Busy cycles of each pipe, in the order of `pipes`. */
  readonly busy = new Float64Array(pipes.length)
  /** Time at which each pipe becomes free. */
  private readonly free = new Float64Array(pipes.length)
  /** Ring buffers of the most recent start times of each pipe, and the next index in each ring. */
  private readonly starts = new Float64Array(pipes.length * keptStarts).fill(-Infinity)
  private readonly nextStart = new Uint8Array(pipes.length)
  /** Ring buffer of the times at which the most recent memory instructions left the queue. */
  private readonly queue: Float64Array
  private queued = 0
  /** Time at which the sub-core accepts the next warpgroup product. */
  private productFree = 0

  /** @param queueLength Capacity of the queue to the load/store unit, in memory instructions. */
  constructor(private readonly queueLength: number) {
    this.queue = new Float64Array(queueLength)
  }

  private get queueFree(): number {
    return this.queue[this.queued % this.queueLength]!
  }

  /** Returns the earliest time at which the instruction can issue. */
  freeFor({ pipe, action }: TimedInstruction): number {
    const { free } = this
    switch (pipe) {
      case 'none':
        return 0
      case 'fma':
        return Math.min(free[pipeIndex.fma]!, free[pipeIndex.imad]!)
      case 'lsu':
        return Math.max(free[pipeIndex.lsu]!, this.queueFree)
      case 'tensor':
        return action.kind === 'warpgroup' ? this.productFree : free[pipeIndex.tensor]!
      case 'imad':
      case 'alu':
      case 'fp16':
      case 'fp64':
      case 'xu':
      case 'uniform':
      case 'branch':
        return free[pipeIndex[pipe]]!
    }
  }

  /** Returns the number of cycles since `ready` in which the pipe was blocked for all warps. */
  throttled(instruction: TimedInstruction, ready: number): number {
    const { pipe, interval, action } = instruction
    if (pipe === 'none') return 0
    if (pipe === 'lsu') return Math.max(0, this.queueFree - ready)
    if (action.kind === 'warpgroup') return Math.max(0, this.freeFor(instruction) - ready)
    // Both halves of the FMA pipe together accept one instruction per cycle.
    const blocked = (pipe === 'fma' ? interval / 2 : interval) - 1
    if (blocked <= 0) return 0
    const own = pipeIndex[pipe]
    let cycles = 0
    let place = this.nextStart[own]!
    for (let kept = 0; kept < keptStarts; kept++) {
      place = (place + keptStarts - 1) % keptStarts
      const start = this.starts[own * keptStarts + place]!
      const overlap = Math.min(blocked, start + 1 + blocked - ready)
      if (overlap <= 0) break
      cycles += overlap
    }
    return cycles
  }

  /** Issues an instruction to its pipe. */
  take({ pipe, interval }: TimedInstruction, time: number): void {
    if (pipe === 'none') return
    const { free } = this
    const own = pipeIndex[pipe]
    const place =
      pipe === 'fma' && free[pipeIndex.imad]! < free[pipeIndex.fma]! ? pipeIndex.imad : own
    free[place] = Math.max(free[place]!, time) + interval
    this.busy[own]! += interval
    const next = this.nextStart[own]!
    this.starts[own * keptStarts + next] = time
    this.nextStart[own] = (next + 1) % keptStarts
  }

  /**
   * Reserves a slot in the queue to the load/store unit. The instruction leaves the queue at
   * `time`.
   */
  enqueue(time: number): void {
    this.queue[this.queued++ % this.queueLength] = time
  }

  /** Runs a warpgroup product on the tensor core. Returns the end time of the product. */
  multiply(time: number, cycles: number): number {
    this.productFree = time + productIssue * cycles
    const ends = Math.max(this.free[pipeIndex.tensor]!, time) + cycles
    this.free[pipeIndex.tensor] = ends
    this.busy[pipeIndex.tensor]! += cycles
    return ends
  }
}
