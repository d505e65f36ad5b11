/**
 * Keeps a sweep's workers busy. Several builders build proposed points in advance. One worker per
 * GPU measures the built points in batches but leaves some points for the other workers. The queue
 * is bounded, so memory use does not grow with the number of points. The scheduler does not use a
 * clock or the disk.
 */
import type { Strategy } from '../../domain/tune/search-strategy'
import type { Point } from '../../domain/tune/search-space'

interface Ready<Built> {
  point: Point
  built: Built
}

export interface SweepRequest<Built, Outcome> {
  strategy: Strategy
  /** Returns the outcome from an earlier sweep, or undefined if the point must be measured. */
  known: (point: Point) => Outcome | undefined
  /**
   * Builds a point. Returns a build for a worker, or the outcome if there is nothing to measure.
   */
  build: (point: Point) => Promise<{ built: Built } | { outcome: Outcome }>
  /**
   * Measures the points and reports each point. Points that were not reported go to another worker.
   * A worker that throws an error is not used again.
   */
  measure: (
    worker: number,
    batch: readonly Ready<Built>[],
    report: (point: Point, outcome: Outcome) => void,
  ) => Promise<void>
  /** Returns an outcome's time in milliseconds, or null if the outcome has no time. */
  timeOf: (outcome: Outcome) => number | null
  /** Called once for each point, when the point has a result. */
  onOutcome: (point: Point, outcome: Outcome, known: boolean) => void
  workers: number
  builders: number
  /** Maximum number of points in a worker's batch. */
  batch: number
  /** Whether to stop proposing points, given the number of points proposed so far. */
  isOver: (proposed: number) => boolean
  signal: AbortSignal
}

/** Maximum number of attempts per point. If two workers fail to report a point, the point fails. */
const maxAttempts = 2

const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error('A worker or a builder failed.', { cause: error })

export async function sweep<Built, Outcome>(
  request: SweepRequest<Built, Outcome>,
  lost: (point: Point, why: string) => Outcome,
): Promise<void> {
  const { strategy, signal, batch } = request
  const ready: Ready<Built>[] = []
  const attempts = new Map<Point, number>()
  const idle = Array.from({ length: request.workers }, (_, worker) => worker)
  const most = 2 * batch * request.workers + request.builders
  let [building, measuring, proposed, workers] = [0, 0, 0, request.workers]

  return new Promise((resolve, reject) => {
    let failure: Error | null = null

    const finish = (point: Point, outcome: Outcome, known = false): void => {
      attempts.delete(point)
      request.onOutcome(point, outcome, known)
      strategy.tell(point, request.timeOf(outcome))
    }

    /** Proposes points until the queue is full. */
    const propose = (): void => {
      while (
        building < request.builders &&
        building + ready.length < most &&
        !signal.aborted &&
        failure === null &&
        !request.isOver(proposed)
      ) {
        const point = strategy.next()
        if (!point) return
        proposed += 1
        const known = request.known(point)
        if (known !== undefined) finish(point, known, true)
        else void build(point)
      }
    }

    const build = async (point: Point): Promise<void> => {
      building += 1
      try {
        const result = await request.build(point)
        if ('outcome' in result) {
          if (!signal.aborted) finish(point, result.outcome)
        } else ready.push({ point, built: result.built })
      } catch (error) {
        failure ??= asError(error)
      }
      building -= 1
      advance()
    }

    const work = async (worker: number, taken: readonly Ready<Built>[]): Promise<void> => {
      measuring += 1
      const open = new Map(taken.map((one) => [one.point, one]))
      let gone: unknown = null
      try {
        await request.measure(worker, taken, (point, outcome) => {
          if (open.delete(point)) finish(point, outcome)
        })
      } catch (error) {
        gone = error
      }
      measuring -= 1
      if (gone === null) idle.push(worker)
      else {
        workers -= 1
        if (workers === 0) failure ??= asError(gone)
      }
      if (!signal.aborted)
        for (const one of open.values()) {
          const tried = (attempts.get(one.point) ?? 0) + (gone === null ? 1 : 0)
          attempts.set(one.point, tried)
          // Put the point at the end of the queue. A point that crashes the GPU must not block
          // other points.
          if (tried < maxAttempts) ready.push(one)
          else finish(one.point, lost(one.point, 'its worker ended without measuring it'))
        }
      advance()
    }

    const advance = (): void => {
      propose()
      while (idle.length > 0 && ready.length > 0 && !signal.aborted && failure === null) {
        const share = Math.ceil(ready.length / workers)
        void work(idle.shift()!, ready.splice(0, Math.max(1, Math.min(batch, share))))
        propose()
      }
      if (building > 0 || measuring > 0) return
      if (failure) reject(failure)
      else if (ready.length === 0 || signal.aborted) resolve()
    }
    advance()
  })
}
