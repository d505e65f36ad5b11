/** Chooses problem sizes that a CPU can emulate in seconds. */
import { dtypeOf } from '../task/dtype'
import { buffersOf } from '../task/layout'
import { namesIn, parseConstraint } from '../task/expression'
import {
  brokenConstraints,
  flops,
  leastBytes,
  sameSizes,
  type Case,
  type Problem,
  type Sizes,
} from '../task/problem'
import type { Task } from '../task/task'

/**
 * Maximum number of floating-point operations. The limit corresponds to a 512³ matrix product,
 * which takes 0.2 to 2 seconds unless the kernel is naive.
 */
const mostFlops = 3e8

const mostBytes = 4e7

/**
 * Maximum number of values to try when reducing a size. If none of these values satisfies the
 * constraints, the size is not reduced.
 */
const mostTried = 4096

/** Returns the size names in a constraint. */
const constrained = (text: string): string[] => {
  const { left, right } = parseConstraint(text)
  return [...namesIn(left), ...namesIn(right)]
}

/**
 * Returns the problem's sizes, each halved. Fixed sizes do not change. If a halved size violates a
 * constraint, the next larger valid value is used. If there is no valid value, all sizes in the
 * constraint remain unchanged.
 */
function halved(task: Task, problem: Problem): Sizes {
  const { sizes } = problem
  const broken = (own: Sizes): string[] => brokenConstraints(task, { ...problem, sizes: own })
  let found: Sizes = Object.fromEntries(
    Object.entries(sizes).map(([name, size]) => [
      name,
      task.sizes[name]?.fixed ? size : Math.max(1, Math.floor(size / 2)),
    ]),
  )
  const names = (texts: readonly string[]): string[] =>
    [...new Set(texts.flatMap(constrained))].filter((name) => sizes[name] !== undefined)
  for (const name of names(broken(found))) {
    const before = broken(found).length
    const from = found[name]!
    const most = Math.min(sizes[name]!, from + mostTried)
    for (let size = from; size < most; size++)
      if (broken({ ...found, [name]: size }).length < before) {
        found = { ...found, [name]: size }
        break
      }
  }
  for (let kept = names(broken(found)); kept.length > 0; kept = names(broken(found))) {
    const restored = { ...found, ...Object.fromEntries(kept.map((name) => [name, sizes[name]!])) }
    if (sameSizes(restored, found)) break
    found = restored
  }
  return found
}

/**
 * Returns the problem with its sizes halved repeatedly, until `fits` returns true or no size can be
 * halved further.
 */
export function shrunk(task: Task, problem: Problem, fits: (problem: Problem) => boolean): Problem {
  let found = problem
  while (!fits(found)) {
    const sizes = halved(task, found)
    if (sameSizes(sizes, found.sizes)) break
    found = { ...found, sizes }
  }
  return found
}

/**
 * Returns a measure of a problem's work, for comparing sizes. The measure is the number of
 * operations or the minimum number of bytes, whichever is larger.
 */
export const workOf = (task: Task, problem: Problem): number =>
  Math.max(1, flops(task, problem) ?? 0, leastBytes(task, problem) ?? 0)

/** Returns the total size of a case's buffers in bytes. */
export const bufferBytes = (task: Task, own: Case): number =>
  buffersOf(task, own).reduce(
    (sum, { dtype, shape }) =>
      sum + shape.reduce((count, extent) => count * extent, dtypeOf(dtype).bytes),
    0,
  )

/**
 * Maximum ratio of buffer bytes to memory traffic. Filling larger buffers takes too long, even if a
 * kernel reads little of their contents.
 */
const buffersPerTraffic = 4

const within = (task: Task, problem: Problem, mostOperations: number, most: number): Problem =>
  shrunk(
    task,
    problem,
    (found) =>
      (flops(task, found) ?? 0) <= mostOperations &&
      (leastBytes(task, found) ?? 0) <= most &&
      bufferBytes(task, { flags: [], ...found }) <= buffersPerTraffic * most,
  )

/** Returns the problem with the sizes that emulation uses by default. */
export const emulatedProblem = (task: Task, problem: Problem): Problem =>
  within(task, problem, mostFlops, mostBytes)

/**
 * Returns the problem with sizes small enough to emulate while the user types. A 290³ matrix
 * product takes half a second.
 */
export const lookedAtProblem = (task: Task, problem: Problem): Problem =>
  within(task, problem, 5e7, 5e6)
