/**
 * A unit that serves one request at a time. It tracks when it becomes free and how long it has been
 * busy.
 */
export class Server {
  free = 0
  busy = 0

  /**
   * Serves a request of `cycles` that arrives at `time`. Returns the time at which the request is
   * done.
   */
  serve(time: number, cycles: number): number {
    this.free = Math.max(this.free, time) + cycles
    this.busy += cycles
    return this.free
  }
}
