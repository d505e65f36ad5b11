/** Problem sizes that a CPU emulates in seconds. */
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

/** A product of 512³: a fifth of a second to two seconds for a kernel that is not naive. */
const mostFlops = 3e8

const mostBytes = 4e7

/** Values that are tried for a size before it is given up to make it smaller: a constraint with a larger step keeps it. */
const mostTried = 4096

/** The names in a constraint. */
const constrained = (text: string): string[] => {
  const { left, right } = parseConstraint(text)
  return [...namesIn(left), ...namesIn(right)]
}

/**
 * The sizes halved as far as the task allows: fixed ones stay, and where a half breaks a constraint, the next larger value
 * that fulfills it is taken, or all sizes of the constraint stay.
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

/** The problem with its sizes halved until `fits` holds, or until nothing is left to halve. */
export function shrunk(task: Task, problem: Problem, fits: (problem: Problem) => boolean): Problem {
  let found = problem
  while (!fits(found)) {
    const sizes = halved(task, found)
    if (sameSizes(sizes, found.sizes)) break
    found = { ...found, sizes }
  }
  return found
}

/** How much work a problem is, to compare sizes by: operations, or bytes where they are not counted. */
export const workOf = (task: Task, problem: Problem): number =>
  Math.max(1, flops(task, problem) ?? 0, leastBytes(task, problem) ?? 0)

/** Bytes of all buffers of a case. */
export const bufferBytes = (task: Task, own: Case): number =>
  buffersOf(task, own).reduce(
    (sum, { dtype, shape }) =>
      sum + shape.reduce((count, extent) => count * extent, dtypeOf(dtype).bytes),
    0,
  )

/** A kernel may touch little of large buffers, which take long to fill all the same. */
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

/** The problem at the size that is emulated unless another is asked for. */
export const emulatedProblem = (task: Task, problem: Problem): Problem =>
  within(task, problem, mostFlops, mostBytes)

/** The problem at a size that is emulated between two keystrokes: a product of 290³ takes half a second. */
export const lookedAtProblem = (task: Task, problem: Problem): Problem =>
  within(task, problem, 5e7, 5e6)
