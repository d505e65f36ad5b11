/**
 * Models the register file of one sub-core. Even and odd registers are in different banks. Each bank
 * reads one register of a warp per cycle. An instruction must read its operands within three cycles.
 * If a bank is too busy, the sub-core issues no instruction until the bank is ready.
 *
 * The operand cache has one entry per operand position and bank. The compiler's reuse flag keeps an
 * operand in its entry until an instruction reads a register of the same bank in the same position.
 * That instruction may belong to a different warp.
 *
 * The model follows Huerta et al., "Analyzing Modern NVIDIA GPU Cores" (2025).
 */
import type { RegisterRead } from './timed-code'

const [banks, positions] = [2, 3]
/** Number of cycles within which an instruction must read its operands. */
const readCycles = 3
/**
 * Number of stored delays. The delays distinguish cycles in which no warp could issue from cycles
 * in which another warp was selected.
 */
const keptDelays = 64

export class RegisterFile {
  /** Time at which each bank becomes free. */
  private readonly free = new Float64Array(banks)
  /** Warp and register of each entry of the operand cache. */
  private readonly cachedWarp: unknown[] = Array.from({ length: banks * positions }, () => null)
  private readonly cachedRegister = new Int32Array(banks * positions)
  private readonly needed = new Int32Array(banks)
  /** Ring buffers of the start and end times of the most recent delays. */
  private readonly starts = new Float64Array(keptDelays).fill(-Infinity)
  private readonly ends = new Float64Array(keptDelays).fill(-Infinity)
  private nextDelay = 0

  /**
   * Reads the operands of an instruction that issues at `time`. Returns the number of cycles by
   * which the reads delay the sub-core's next instruction.
   */
  read(warp: unknown, reads: readonly RegisterRead[], time: number): number {
    if (reads.length === 0) return 0
    const { free, needed, cachedWarp, cachedRegister } = this
    needed.fill(0)
    for (const { register, position, isWide, isKept } of reads) {
      for (let at = register; at <= register + (isWide ? 1 : 0); at++) {
        const bank = at % banks
        const entry = position * banks + bank
        if (cachedWarp[entry] !== warp || cachedRegister[entry] !== at) needed[bank]!++
        cachedWarp[entry] = isKept ? warp : null
        cachedRegister[entry] = at
      }
    }
    let delay = 0
    for (let bank = 0; bank < banks; bank++) {
      if (needed[bank] === 0) continue
      const done = Math.max(free[bank]!, time) + needed[bank]!
      delay = Math.max(delay, done - (time + readCycles))
    }
    for (let bank = 0; bank < banks; bank++)
      if (needed[bank]! > 0) free[bank] = Math.max(free[bank]!, time + delay) + needed[bank]!
    if (delay === 0) return 0
    this.starts[this.nextDelay] = time + 1
    this.ends[this.nextDelay] = time + 1 + delay
    this.nextDelay = (this.nextDelay + 1) % keptDelays
    return delay
  }

  /**
   * Returns the number of cycles between `since` and `until` in which operand reads delayed the
   * sub-core.
   */
  delayed(since: number, until: number): number {
    let cycles = 0
    let place = this.nextDelay
    for (let kept = 0; kept < keptDelays; kept++) {
      place = (place + keptDelays - 1) % keptDelays
      const end = Math.min(until, this.ends[place]!)
      if (end <= since) break
      cycles += Math.max(0, end - Math.max(since, this.starts[place]!))
    }
    return cycles
  }
}
