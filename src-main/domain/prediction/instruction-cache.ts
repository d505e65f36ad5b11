/** The instruction cache of an SM. The cache fetches missing lines from L2, one line at a time. */
import { lineBytes } from './memory-units'
import type { ParameterValues } from './parameter-table'
import { SectorCache } from './sector-cache'
import { Server } from './servers'

export class InstructionCache {
  private readonly cache: SectorCache
  private readonly fetches = new Server()
  private readonly arrives = new Map<number, number>()

  constructor(private readonly values: ParameterValues) {
    this.cache = new SectorCache(Math.floor(values.instructionCacheBytes / lineBytes))
  }

  get misses(): number {
    return this.cache.misses
  }

  /** Returns the time at which a line is available if it is requested at `time`. */
  fetch(time: number, line: number): number {
    if (this.cache.access(line, 1) === 0) return this.arrives.get(line) ?? time
    const done = this.fetches.serve(time, this.values.instructionMissCycles)
    this.arrives.set(line, done)
    return done
  }
}
