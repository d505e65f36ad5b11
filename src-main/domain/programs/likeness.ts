/**
 * Pairs kernels that have the same name and shape, by their work: launches, instructions, bytes and
 * time. Pure.
 */
import type { Unit } from './units'

/**
 * Returns a key that is equal for launches with equal work, or null if the instruction count is
 * unknown.
 */
export const workKey = ({ work, launches }: Unit): string | null =>
  work.instructions === undefined ? null : `${launches} × ${work.instructions}`

const apart = (a: number, b: number): number => Math.abs(Math.log((b + 1) / (a + 1)))

const volume = (extent: readonly number[] | null | undefined): number =>
  extent ? extent.reduce((product, size) => product * size, 1) : 0

/**
 * Weight of the time when two kernels are compared. The weight is low because a code change may
 * change the time while the work stays the same.
 */
const timeWeight = 0.1

/** Returns the difference between two times, from 0 (equal) to 1. */
export function timesApart(a: Unit, b: Unit): number {
  if (!a.time || !b.time || a.time.ms <= 0 || b.time.ms <= 0) return 0
  return Math.min(1, Math.abs(Math.log(b.time.ms / a.time.ms)))
}

function unlikeness(a: Unit, b: Unit): number {
  const ids = Object.keys(a.work) as (keyof Unit['work'])[]
  const work = ids.reduce((sum, id) => sum + apart(a.work[id]!, b.work[id] ?? a.work[id]!), 0)
  const [grid, block] = (['grid', 'block'] as const).map((side) =>
    apart(volume(a.kernel?.[side]), volume(b.kernel?.[side])),
  )
  const launches = apart(a.launches ?? 1, b.launches ?? 1)
  return work + grid! + block! + launches + timeWeight * timesApart(a, b)
}

/**
 * Maximum number of pairs to compare exhaustively. If there are more pairs, the kernels are paired
 * in order of their work, which is fast even for a million launches.
 */
const mostTried = 2_500

const size = ({ work, kernel, launches }: Unit): number =>
  Math.log1p(work.instructions ?? volume(kernel?.grid)) + Math.log1p(launches ?? 1)

/**
 * Pairs kernels from `left` with kernels from `right`. Kernels with equal work are paired in order.
 * The remaining kernels are paired by similarity.
 */
export function mostAlike(left: readonly Unit[], right: readonly Unit[]): [Unit, Unit][] {
  const pairs: [Unit, Unit][] = []
  const byWork = new Map<string | null, Unit[]>()
  for (const b of right) {
    const equal = byWork.get(workKey(b))
    if (equal) equal.push(b)
    else byWork.set(workKey(b), [b])
  }
  const next = new Map<string | null, number>()
  const taken = new Set<Unit>()
  const rest = left.filter((a) => {
    const key = workKey(a)
    const b = key === null ? undefined : byWork.get(key)?.[next.get(key) ?? 0]
    if (!b) return true
    next.set(key, (next.get(key) ?? 0) + 1)
    pairs.push([a, b])
    taken.add(b)
    return false
  })
  const others = right.filter((b) => !taken.has(b))
  if (rest.length * others.length > mostTried) {
    const [sorted, sortedOthers] = [rest, others].map((units) =>
      units.toSorted((one, other) => size(one) - size(other)),
    ) as [Unit[], Unit[]]
    for (const [index, a] of sorted.entries())
      if (sortedOthers[index]) pairs.push([a, sortedOthers[index]])
    return pairs
  }
  const tried = rest.flatMap((a) => others.map((b) => ({ a, b, by: unlikeness(a, b) })))
  for (const { a, b } of tried.sort((one, other) => one.by - other.by)) {
    if (taken.has(a) || taken.has(b)) continue
    taken.add(a).add(b)
    pairs.push([a, b])
  }
  return pairs
}
