/** A unit that serves one request after another: when it is free again, and how long it has been busy. */
export class Server {
  free = 0
  busy = 0

  /** Serves a request of `cycles` that comes at `time`; returns when it is done. */
  serve(time: number, cycles: number): number {
    this.free = Math.max(this.free, time) + cycles
    this.busy += cycles
    return this.free
  }
}
