/**
 * Search strategies, which decide which points a sweep tries and in which order.
 *
 * A strategy proposes points and receives their times. Several proposed points may be waiting for
 * their times. No point is proposed twice. The same seed and the same times lead to the same
 * proposals.
 */
import {
  pointKey,
  combinations,
  isAllowed,
  pointsOf,
  neighbors,
  type Point,
  type Space,
} from './search-space'

export const strategyNames = ['exhaustive', 'random', 'local', 'genetic'] as const
export type StrategyName = (typeof strategyNames)[number]

export interface Strategy {
  /**
   * Returns the next point. Returns null if no point is available. While results are pending, more
   * points may become available.
   */
  next(): Point | null
  /** Receives the time of a proposed point in milliseconds, or null if the point has no time. */
  tell(point: Point, ms: number | null): void
}

/** Maximum number of points for an exhaustive search. Larger spaces use local search by default. */
export const exhaustiveLimit = 2000

/** Returns a generator of random numbers in [0, 1) (mulberry32). */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/**
 * Maximum number of consecutive draws without a new allowed point. When this limit is reached, the
 * remaining points are proposed in order.
 */
const maxDraws = 2000

/** Draws random points and records which points were proposed. */
class Draws {
  readonly #space: Space
  readonly #random: () => number
  readonly #proposed = new Set<string>()
  #rest: Generator<Point, void> | null = null

  constructor(space: Space, seed: number) {
    this.#space = space
    this.#random = seededRandom(seed)
  }

  below(count: number): number {
    return Math.floor(this.#random() * count)
  }

  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!
  }

  /** Returns the point, or null if it was proposed before. */
  fresh(point: Point): Point | null {
    const key = pointKey(point)
    if (this.#proposed.has(key)) return null
    this.#proposed.add(key)
    return point
  }

  /** Returns an allowed point that was not proposed before, or null if no such point is left. */
  any(): Point | null {
    for (let draw = 0; !this.#rest && draw < maxDraws; draw += 1) {
      const point = Object.fromEntries(
        this.#space.axes.map(({ name, values }) => [name, this.pick(values)]),
      )
      const found = isAllowed(this.#space, point) ? this.fresh(point) : null
      if (found) return found
    }
    this.#rest ??= pointsOf(this.#space)
    for (let step = this.#rest.next(); !step.done; step = this.#rest.next()) {
      const found = this.fresh(step.value)
      if (found) return found
    }
    return null
  }

  /**
   * Returns the point with some values redrawn, or null if the result is forbidden or was proposed
   * before.
   */
  mutated(point: Point, changes: number): Point | null {
    const other: Record<string, number> = { ...point }
    for (let change = 0; change < changes; change += 1) {
      const { name, values } = this.pick(this.#space.axes)
      other[name] = this.pick(values)
    }
    return isAllowed(this.#space, other) ? this.fresh(other) : null
  }
}

function exhaustive(space: Space): Strategy {
  const points = pointsOf(space)
  return {
    next: () => points.next().value ?? null,
    tell: () => undefined,
  }
}

function random(space: Space, seed: number): Strategy {
  const draws = new Draws(space, seed)
  return { next: () => draws.any(), tell: () => undefined }
}

interface Timed {
  point: Point
  ms: number
}

/**
 * Greedy iterated local search. The search tries all neighbors of a point and continues from the
 * best neighbor. If no neighbor is better, the search restarts from the best point with two values
 * changed. If the changed point is not available, the search restarts from a random point.
 */
function local(space: Space, seed: number, start: Point | null): Strategy {
  const draws = new Draws(space, seed)
  let center: Timed | null = null
  let best: Timed | null = null
  let around: Point[] = []
  let waiting = 0
  let better: Timed | null = null

  const begin = (): Point | null => {
    const changed = best && draws.mutated(best.point, 2)
    return changed ?? draws.any()
  }
  const next = (): Point | null => {
    while (around.length > 0) {
      const fresh = draws.fresh(around.shift()!)
      if (fresh) return fresh
    }
    if (waiting > 0) return null
    if (better) {
      center = better
      better = null
      around = neighbors(space, center.point)
      return next()
    }
    center = null
    return begin()
  }
  let first = start && isAllowed(space, start) ? start : null
  return {
    next() {
      const point = first ? draws.fresh(first) : next()
      first = null
      if (point) waiting += 1
      return point
    },
    tell(point, ms) {
      waiting -= 1
      if (ms === null) return
      const timed = { point, ms }
      if (!best || ms < best.ms) best = timed
      if ((!center || ms < center.ms) && (!better || ms < better.ms)) better = timed
    },
  }
}

const populationSize = 20

/**
 * Steady-state genetic algorithm. The parents of each new point are two of the best points so far,
 * so the search never waits for a generation.
 */
function genetic(space: Space, seed: number, start: Point | null): Strategy {
  const draws = new Draws(space, seed)
  const population: Timed[] = []
  let proposed = 0
  const parent = (): Point => {
    const [a, b] = [draws.pick(population), draws.pick(population)]
    return (a.ms <= b.ms ? a : b).point
  }
  const child = (): Point | null => {
    const [mother, father] = [parent(), parent()]
    const mixed = Object.fromEntries(
      space.axes.map(({ name }) => [name, (draws.below(2) === 0 ? mother : father)[name]!]),
    )
    return draws.mutated(mixed, 1)
  }
  return {
    next() {
      proposed += 1
      if (proposed === 1 && start && isAllowed(space, start)) {
        const first = draws.fresh(start)
        if (first) return first
      }
      if (proposed > populationSize && population.length >= 2)
        for (let attempt = 0; attempt < 50; attempt += 1) {
          const found = child()
          if (found) return found
        }
      return draws.any()
    },
    tell(point, ms) {
      if (ms === null) return
      population.push({ point, ms })
      population.sort((a, b) => a.ms - b.ms)
      population.splice(populationSize)
    },
  }
}

interface StrategyRequest {
  name: StrategyName
  seed: number
  /** Starting point of the search: the rung's own parameter values. */
  start: Point | null
  /** Points to try before the search, such as the best points of an earlier sweep. */
  first: readonly Point[]
}

export function makeStrategy(
  space: Space,
  { name, seed, start, first }: StrategyRequest,
): Strategy {
  const own = {
    exhaustive: () => exhaustive(space),
    random: () => random(space, seed),
    local: () => local(space, seed, start),
    genetic: () => genetic(space, seed, start),
  }[name]()
  return first.length === 0
    ? own
    : withFirst(
        own,
        first.filter((point) => isAllowed(space, point)),
      )
}

/**
 * Returns a strategy that proposes these points first. If the original strategy later proposes one
 * of these points, it receives the known time.
 */
function withFirst(own: Strategy, first: readonly Point[]): Strategy {
  const queue = [...new Map(first.map((point) => [pointKey(point), point])).values()]
  const ahead = new Map<string, { ms: number | null } | null>(
    queue.map((point) => [pointKey(point), null]),
  )
  /** Points that the original strategy proposed before their times were known. */
  const awaited = new Set<string>()
  const queued = new Set(ahead.keys())
  const next = (): Point | null => {
    for (let point = queue.shift() ?? own.next(); point; point = queue.shift() ?? own.next()) {
      const key = pointKey(point)
      if (!ahead.has(key) || queued.delete(key)) return point
      const known = ahead.get(key)
      if (known) own.tell(point, known.ms)
      else awaited.add(key)
    }
    return null
  }
  return {
    next,
    tell(point, ms) {
      const key = pointKey(point)
      if (!ahead.has(key)) own.tell(point, ms)
      else {
        ahead.set(key, { ms })
        if (awaited.delete(key)) own.tell(point, ms)
      }
    },
  }
}

/** Returns the default strategy: exhaustive for small spaces, otherwise local search. */
export const usualStrategy = (space: Space, allowed: number | null): StrategyName =>
  (allowed ?? combinations(space)) <= exhaustiveLimit ? 'exhaustive' : 'local'
