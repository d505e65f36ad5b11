/**
 * Shrinks a lab to sizes that the emulator can check within seconds. Bounds relative to another
 * rung stay unchanged. Absolute bounds on counters scale with the work. Pure.
 */
import { flops, leastBytes, type Sizes } from '../task/problem'
import { metricDefinition } from '../metrics/metrics'
import type { Task } from '../task/task'
import type { Lab, LabCheck } from './lab'
import { shrunk, workOf } from '../emulation/emulated-problem'
import { problemAt } from '../task/problem-request'

/**
 * Maximum number of operations per launch: as many as a 170³ matrix product needs. A lab emulates
 * about twenty launches, some of them with memory checks.
 */
const mostFlops = 1e7
/**
 * Maximum number of bytes per launch: about the traffic of a sum over 2²¹ floats. The byte limit
 * applies to tasks with little arithmetic per byte.
 */
const mostBytes = 1e7

export function emulatedLab(lab: Lab, task: Task): Lab {
  const at = (sizes: Sizes) => problemAt(task, { at: sizes }, { options: lab.options })
  const smaller = (sizes: Sizes): Sizes =>
    shrunk(
      task,
      at(sizes),
      (problem) =>
        (flops(task, problem) ?? 0) <= mostFlops && (leastBytes(task, problem) ?? 0) <= mostBytes,
    ).sizes
  const size = smaller(lab.size)
  const share = workOf(task, at(size)) / workOf(task, at(lab.size))
  const bound = (metric: string, limit: number | undefined): number | undefined =>
    limit !== undefined && metricDefinition(metric)?.aggregate === 'sum' ? limit * share : limit
  const smallerCheck = (check: LabCheck): LabCheck => {
    if (check.kind === 'correctness') return { ...check, sizes: check.sizes.map(smaller) }
    if (check.kind !== 'metric') return check
    // A minimum of 1 means "any nonzero count", so this minimum is not scaled.
    const min = check.min === 1 ? 1 : bound(check.metric, check.min)
    const max = bound(check.metric, check.max)
    return {
      ...check,
      ...(min === undefined ? {} : { min }),
      ...(max === undefined ? {} : { max }),
    }
  }
  return { ...lab, size, checks: lab.checks.map(smallerCheck) }
}
