/** A unit that serves one request at a time: when it becomes free, and how long it has been busy. */
export class Server {
  free = 0
  busy = 0

  /** Serves a request of `cycles` that arrives at `time`; returns when it is done. */
  serve(time: number, cycles: number): number {
    this.free = Math.max(this.free, time) + cycles
    this.busy += cycles
    return this.free
  }
}
