/**
 * Tests the scheduler with workers in virtual time: their utilization, and the work that is lost
 * when a worker ends.
 */
import { describe, expect, it } from 'vitest'
import { makeStrategy } from '../../../src-main/domain/tune/search-strategy'
import { sweep, type SweepRequest } from '../../../src-main/services/tune/scheduler'
import { pointKey, type Point } from '../../../src-main/domain/tune/search-space'

/** A clock that advances when all tasks are waiting. */
class VirtualClock {
  now = 0
  readonly #waiting: { at: number; done: () => void }[] = []

  sleep(ms: number): Promise<void> {
    return new Promise((done) => {
      const at = this.now + ms
      let place = this.#waiting.findIndex((other) => other.at > at)
      if (place < 0) place = this.#waiting.length
      this.#waiting.splice(place, 0, { at, done })
    })
  }

  async run<T>(work: Promise<T>): Promise<T> {
    let over = false
    const end = work.finally(() => {
      over = true
    })
    end.catch(() => undefined)
    while (!over) {
      await new Promise(setImmediate)
      const next = this.#waiting.shift()
      if (!next) continue
      this.now = next.at
      next.done()
      while (this.#waiting[0]?.at === this.now) this.#waiting.shift()!.done()
    }
    return end
  }
}

interface Outcome {
  ms: number | null
  why?: string
}

const axis = (name: string, count: number) => ({
  name,
  values: Array.from({ length: count }, (_, value) => value),
})
const lines = (count: number, ...others: number[]) => ({
  axes: [axis('A', count), ...others.map((size, index) => axis(`B${index}`, size))],
  rules: [],
})

function fake(
  clock: VirtualClock,
  space: ReturnType<typeof lines>,
  over: Partial<SweepRequest<number, Outcome>> = {},
) {
  const outcomes = new Map<string, Outcome>()
  const seen = { ahead: 0, mostAhead: 0, busyMs: 0, batches: [] as number[] }
  const request: SweepRequest<number, Outcome> = {
    strategy: makeStrategy(space, { name: 'exhaustive', seed: 1, start: null, first: [] }),
    known: () => undefined,
    async build() {
      seen.ahead += 1
      seen.mostAhead = Math.max(seen.mostAhead, seen.ahead)
      await clock.sleep(200)
      return { built: 1 }
    },
    async measure(_worker, batch, report) {
      seen.batches.push(batch.length)
      for (const { point } of batch) {
        await clock.sleep(1000)
        seen.busyMs += 1000
        seen.ahead -= 1
        report(point, { ms: point.A! })
      }
    },
    timeOf: ({ ms }) => ms,
    onOutcome: (point, outcome) => outcomes.set(pointKey(point), outcome),
    workers: 8,
    builders: 4,
    batch: 8,
    isOver: () => false,
    signal: new AbortController().signal,
    ...over,
  }
  const run = () => clock.run(sweep(request, (_point, why) => ({ ms: null, why })))
  return { request, outcomes, seen, run }
}

describe('10,000 points of one second each', () => {
  it('keep eight workers busy while few points are queued', async () => {
    const clock = new VirtualClock()
    const { outcomes, seen, run } = fake(clock, lines(100, 100))
    await run()
    expect(outcomes.size).toBe(10_000)
    expect(seen.busyMs / (8 * clock.now)).toBeGreaterThan(0.95)
    // The workers' batches limit the number of queued points, however many points there are.
    expect(seen.mostAhead).toBeLessThan(3 * 8 * 8)
  })
})

describe('a sweep', () => {
  it('measures each point only once, on any worker', async () => {
    const clock = new VirtualClock()
    const measured: string[] = []
    const { outcomes, run } = fake(clock, lines(30), {
      async measure(worker, batch, report) {
        for (const { point } of batch) {
          await clock.sleep(100 * (worker + 1))
          measured.push(pointKey(point))
          report(point, { ms: 1 })
        }
      },
    })
    await run()
    expect(outcomes.size).toBe(30)
    expect(new Set(measured).size).toBe(measured.length)
  })

  it('reassigns the points of a lost worker, and fails when the last worker is lost', async () => {
    const clock = new VirtualClock()
    const used: number[] = []
    const { request, outcomes, run } = fake(clock, lines(40))
    const own = request.measure
    request.measure = (worker, batch, report) => {
      used.push(worker)
      return worker < 7 ? Promise.reject(new Error('GPU is lost')) : own(worker, batch, report)
    }
    await run()
    expect([...outcomes.values()].filter(({ ms }) => ms !== null)).toHaveLength(40)
    expect(used.filter((worker) => worker === 0)).toHaveLength(1)
    const none = fake(new VirtualClock(), lines(40), {
      measure: () => Promise.reject(new Error('GPU is lost')),
    })
    await expect(none.run()).rejects.toThrow('GPU is lost')
  })

  it('abandons a point that crashes every worker', async () => {
    const { outcomes, run } = fake(new VirtualClock(), lines(3), {
      workers: 1,
      measure: (_worker, batch, report) => {
        for (const { point } of batch) if (point.A !== 1) report(point, { ms: 1 })
        return Promise.resolve()
      },
    })
    await run()
    expect(outcomes.get('A=1')).toEqual({
      ms: null,
      why: expect.stringContaining('worker') as string,
    })
    expect(outcomes.get('A=2')).toEqual({ ms: 1 })
  })

  it('uses known results, and builds only the other points', async () => {
    const built: Point[] = []
    const { outcomes, run } = fake(new VirtualClock(), lines(10), {
      known: (point) => (point.A! < 6 ? { ms: 5 } : undefined),
      build: (point) => {
        built.push(point)
        return Promise.resolve(point.A === 7 ? { outcome: { ms: null, why: 'no' } } : { built: 1 })
      },
    })
    await run()
    expect(built.map(({ A }) => A)).toEqual([6, 7, 8, 9])
    expect(outcomes.get('A=7')).toEqual({ ms: null, why: 'no' })
    expect(outcomes.size).toBe(10)
  })

  it('stops when its budget is spent, and when it is canceled', async () => {
    const spent = fake(new VirtualClock(), lines(100), { isOver: (proposed) => proposed >= 12 })
    await spent.run()
    expect(spent.outcomes.size).toBe(12)
    const abort = new AbortController()
    const stopped = fake(new VirtualClock(), lines(100), {
      workers: 1,
      signal: abort.signal,
      onOutcome: () => abort.abort(),
    })
    await stopped.run()
  })

  it('ends with an error if a builder fails', async () => {
    const { run } = fake(new VirtualClock(), lines(5), {
      build: () => Promise.reject(new Error('disk is full')),
    })
    await expect(run()).rejects.toThrow('disk is full')
  })
})
