/** Problem sizes that a CPU emulates in seconds. */
import { dtypeOf } from '../task/dtype'
import { buffersOf } from '../task/layout'
import { flops, leastBytes, type Case, type Problem, type Sizes } from '../task/problem'
import type { Task } from '../task/task'

/** A product of 512³: a fifth of a second to two seconds for a kernel that is not naive. */
const mostFlops = 3e8

const mostBytes = 4e7

/** Sizes that kernels are built for stay as they are: halved, they would be refused. */
const halved = (task: Task, sizes: Sizes): Sizes =>
  Object.fromEntries(
    Object.entries(sizes).map(([name, size]) => [
      name,
      task.sizes[name]?.fixed ? size : Math.max(1, Math.floor(size / 2)),
    ]),
  )

const canShrink = (task: Task, sizes: Sizes): boolean =>
  Object.entries(sizes).some(([name, size]) => size > 1 && !task.sizes[name]?.fixed)

/** The problem with its sizes halved until `fits` holds, or until nothing is left to halve. */
export function shrunk(task: Task, problem: Problem, fits: (problem: Problem) => boolean): Problem {
  let found = problem
  while (!fits(found) && canShrink(task, found.sizes))
    found = { ...found, sizes: halved(task, found.sizes) }
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
