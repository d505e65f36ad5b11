/**
 * A unit that serves one request at a time. Tracks when the unit becomes free, and its total busy
 * time.
 */
export class Server {
  free = 0
  busy = 0

  /** Serves a request that arrives at `time` and takes `cycles`. Returns the completion time. */
  serve(time: number, cycles: number): number {
    this.free = Math.max(this.free, time) + cycles
    this.busy += cycles
    return this.free
  }
}
