/**
 * A lab as the emulator can check it within seconds: the same checks at smaller sizes. Bounds that are relative to a rung
 * hold at any size; one that is a count shrinks with the work. Pure.
 */
import { flops, leastBytes, type Sizes } from '../task/problem'
import { metricDefinition } from '../metrics/metrics'
import type { Task } from '../task/task'
import type { Lab, LabCheck } from './lab'
import { shrunk, workOf } from '../emulation/emulated-problem'
import { problemAt } from '../task/problem-request'

/** A product of 170³: a lab emulates some twenty launches, a part of them with checks. */
const mostFlops = 1e7
/** A sum of 2²¹ floats, where little is computed per byte. */
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
    // Any count at all is as much as one at the lab's size.
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
