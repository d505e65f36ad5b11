/** The search space of a sweep: all combinations of values that satisfy every rule. */

export interface Axis {
  name: string
  /** Distinct values in the given order. */
  values: readonly number[]
}

/** A configuration: one value per parameter. */
export type Point = Readonly<Record<string, number>>

/** A condition on one or more parameters. */
interface SpaceRule {
  text: string
  why: string
  names: readonly string[]
  holds: (values: Point) => boolean
}

export interface Space {
  axes: readonly Axis[]
  rules: readonly SpaceRule[]
}

/** Returns a key that is equal for equal values, regardless of their order. */
export const pointKey = (point: Point): string =>
  Object.keys(point)
    .sort()
    .map((name) => `${name}=${point[name]}`)
    .join(',')

/** Returns the number of all combinations, ignoring the rules. */
export const combinations = ({ axes }: Space): number =>
  axes.reduce((product, { values }) => product * values.length, 1)

export const isAllowed = ({ rules }: Space, point: Point): boolean =>
  rules.every(({ holds }) => holds(point))

/**
 * Returns the rules by axis. A rule is assigned to the last axis among its parameters, because the
 * rule can be checked once that axis has a value.
 */
function rulesByAxis({ axes, rules }: Space): SpaceRule[][] {
  const places = new Map(axes.map(({ name }, index) => [name, index]))
  const byAxis: SpaceRule[][] = axes.map(() => [])
  for (const rule of rules) {
    const last = Math.max(0, ...rule.names.map((name) => places.get(name) ?? 0))
    byAxis[last]?.push(rule)
  }
  return byAxis
}

/**
 * Yields the allowed points in order, with the last axis changing fastest. If a partial point
 * violates a rule, all points that extend it are skipped.
 */
export function* pointsOf(space: Space): Generator<Point, void> {
  const { axes } = space
  const byAxis = rulesByAxis(space)
  const values: Record<string, number> = {}
  const visit = function* (depth: number): Generator<Point, void> {
    const axis = axes[depth]
    if (!axis) {
      yield { ...values }
      return
    }
    for (const value of axis.values) {
      values[axis.name] = value
      if (byAxis[depth]!.every(({ holds }) => holds(values))) yield* visit(depth + 1)
    }
  }
  yield* visit(0)
}

/** Returns the number of allowed points, or null if there are more than `most` combinations. */
export function countAllowed(space: Space, most = 2_000_000): number | null {
  if (space.rules.length === 0) return combinations(space)
  if (combinations(space) > most) return null
  let count = 0
  for (const _point of pointsOf(space)) count += 1
  return count
}

/** Returns a rule that forbids every point on its own, or null if there is no such rule. */
export function emptyingRule(space: Space, most = 200_000): SpaceRule | null {
  for (const rule of space.rules) {
    let looked = 0
    const alone = pointsOf({ axes: space.axes, rules: [] })
    let holds = false
    for (const point of alone) {
      looked += 1
      holds = rule.holds(point)
      if (holds || looked > most) break
    }
    if (!holds && looked <= most) return rule
  }
  return null
}

/**
 * Returns the allowed points that differ from this point in a single value. The points closest to
 * this point come first.
 */
export function neighbors(space: Space, point: Point): Point[] {
  const found: { point: Point; distance: number }[] = []
  for (const { name, values } of space.axes) {
    const own = values.indexOf(point[name]!)
    for (const [index, value] of values.entries()) {
      if (index === own) continue
      const other = { ...point, [name]: value }
      if (isAllowed(space, other)) found.push({ point: other, distance: Math.abs(index - own) })
    }
  }
  return found.sort((a, b) => a.distance - b.distance).map(({ point: other }) => other)
}
