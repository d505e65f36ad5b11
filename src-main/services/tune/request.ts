/** Parses a sweep request. Computes the search space from the request and the rung. */
import { mentionsMacro, parseRule, rulesOf } from '../../adapters/catalog/catalog'
import { inputError } from '../../domain/errors'
import {
  exhaustiveLimit,
  usualStrategy,
  type StrategyName,
} from '../../domain/tune/search-strategy'
import type { CacheState } from '../../domain/session/session'
import type { PlannedRung, RunPlan } from '../../domain/run/plan'
import type { At } from '../../domain/task/problem-request'
import {
  combinations,
  countAllowed,
  emptyingRule,
  pointKey,
  type Axis,
  type Point,
  type Space,
} from '../../domain/tune/search-space'

export interface TuneRequest {
  ladder: string
  rung: string
  size?: number
  at?: At
  /**
   * Values by parameter or macro. If empty, the rung's parameters and their allowed values are
   * used.
   */
  axes: readonly Axis[]
  /** Conditions on the parameters as C++ expressions. */
  rules: readonly string[]
  /** Search strategy. If absent, the strategy depends on the size of the search space. */
  strategy?: StrategyName
  seed: number
  budget: { points: number | null; seconds: number | null }
  /** Sampling time per point in seconds. */
  secondsAPoint: number
  /**
   * Indexes of the GPUs to use among the visible GPUs, or `all`. If absent, CUDA's first GPU is
   * used.
   */
  gpus?: readonly number[] | 'all'
  cacheState: CacheState
  /**
   * The subset of points to measure, without a final round. A later sweep over all points includes
   * the final round.
   */
  part?: { number: number; of: number }
  /** Whether to measure every point again instead of resuming. */
  fresh: boolean
  /** Returns the points that the search measures before all others. */
  first: (names: readonly string[]) => readonly Point[]
}

interface TuneSpace {
  space: Space
  combinations: number
  /** Number of allowed points, or null if the space is too large to count. */
  allowed: number | null
  strategy: StrategyName
  budget: TuneRequest['budget']
}

/** Default maximum number of points in a search. */
const usualPoints = 300
/**
 * Maximum number of points in an exhaustive search if no budget is given. Creating a list of more
 * points would take too long.
 */
const mostListed = 100_000

const list = (words: Iterable<string>): string => [...words].join(', ')

function axesOf({ rung, source }: PlannedRung, plan: RunPlan, axes: readonly Axis[]): Axis[] {
  if (axes.length === 0) {
    const axes = rung.header.params
      .filter(({ allowed }) => allowed.length > 1)
      .map(({ name, allowed }) => ({ name, values: allowed }))
    if (axes.length > 0) return axes
    throw inputError(
      `${rung.id} declares no parameter with several values.`,
      'Name its compile-time macros and their values, for example: --param BM=64,128.',
    )
  }
  const declared = rung.header.params.map(({ name }) => name)
  for (const { name } of axes)
    if (!declared.includes(name) && !mentionsMacro([source, ...plan.headers.values()], name))
      throw inputError(
        `${rung.id} has no parameter ${name}, and its source mentions no macro of that name.`,
        declared.length > 0 ? `Its parameters are: ${list(declared)}.` : undefined,
      )
  return [...axes]
}

function requireAllowed(space: Space, allowed: number | null): void {
  if (allowed !== 0) return
  const rule = emptyingRule(space)
  throw inputError(
    rule
      ? `No combination of these values is possible: none meets ${rule.text} (${rule.why}).`
      : `No combination of these values is possible: together, these rule out each: ${list(space.rules.map(({ text }) => text))}.`,
    'Use other values with --param.',
  )
}

/**
 * Assigns points to parts by a hash of their values, so that neighboring points usually belong to
 * different parts.
 */
const partRule = (
  axes: readonly Axis[],
  { number, of }: NonNullable<TuneRequest['part']>,
): Space['rules'][number] => ({
  text: `part ${number} of ${of}`,
  why: '--part',
  names: axes.map(({ name }) => name),
  holds(values) {
    let hash = 0x811c9dc5
    for (const letter of pointKey(values)) {
      hash = Math.imul(hash ^ letter.codePointAt(0)!, 0x01000193) >>> 0
    }
    return hash % of === number - 1
  },
})

/** Returns the search space of a sweep. Throws an error if the space is empty or too large. */
export function spaceOf(planned: PlannedRung, plan: RunPlan, request: TuneRequest): TuneSpace {
  const axes = axesOf(planned, plan, request.axes)
  const varied = new Set(axes.map(({ name }) => name))
  const fixed = Object.fromEntries(
    Object.entries(planned.rung.params).filter(([name]) => !varied.has(name)),
  )
  const names = new Set([...varied, ...Object.keys(fixed)])
  const ofUser = request.rules.map((text) => {
    const rule = parseRule(text, names)
    if (rule) return rule
    throw inputError(
      `--constraint ${JSON.stringify(text)} is not an integer expression over ${list(names)}.`,
      `For example: --constraint ${JSON.stringify(`${[...varied][0]} <= 128`)}.`,
    )
  })
  const space: Space = {
    axes,
    rules: [
      ...[...rulesOf(planned.source, names), ...ofUser].map((rule) => ({
        ...rule,
        holds: (values: Point) => rule.holds({ ...fixed, ...values }),
      })),
      ...(request.part ? [partRule(axes, request.part)] : []),
    ],
  }
  const allowed = countAllowed(space)
  // If a small space is divided, some parts may be empty.
  if (!request.part) requireAllowed(space, allowed)
  const strategy = request.strategy ?? usualStrategy(space, allowed)
  const all = combinations(space)
  const { points, seconds } = request.budget
  const unbounded = points === null && seconds === null
  if (strategy === 'exhaustive' && unbounded && (allowed ?? all) > mostListed)
    throw inputError(
      `There are ${all.toLocaleString('en-US')} combinations, too many to try each.`,
      `Give a --budget, use --strategy local, random or genetic, or fewer values with --param; up to ${exhaustiveLimit} points are tried exhaustively without being asked.`,
    )
  const whole =
    unbounded && strategy !== 'exhaustive' ? { points: usualPoints, seconds: null } : request.budget
  const budget =
    request.part && whole.points !== null
      ? { ...whole, points: Math.ceil(whole.points / request.part.of) }
      : whole
  return { space, combinations: all, allowed, strategy, budget }
}
