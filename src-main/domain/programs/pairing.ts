/**
 * Pairs the kernels of two sessions by what they are. First the two sequences are aligned: kernels that agree in
 * function, template arguments, grid, block and NVTX range keep their order, so that of twelve equal launches the one
 * that is missing is told by its neighbors. What is left is paired by fewer and fewer of these marks. Pure.
 */
import type { Unit, UnitKernel } from './units'

const marks = ['function', 'template', 'grid', 'block', 'range'] as const
type Mark = (typeof marks)[number]

/** Why two units are a pair: `rung` by the id in a ladder, `hand` by the reader, else the marks in which they agree. */
export type PairReason = 'rung' | 'hand' | readonly (Mark | 'order')[]

interface UnitPair {
  a: Unit
  b: Unit
  by: PairReason
}

interface Pairing {
  pairs: UnitPair[]
  onlyA: Unit[]
  onlyB: Unit[]
}

/** From the most telling agreement to the least; the function must always agree. */
const levels: readonly (readonly Mark[])[] = [
  ['function', 'template', 'grid', 'block', 'range'],
  ['function', 'template', 'grid', 'block'],
  ['function', 'template', 'range'],
  ['function', 'template'],
  ['function', 'grid', 'block'],
  ['function', 'range'],
  ['function'],
]

function markOf(kernel: UnitKernel, mark: Mark): string {
  switch (mark) {
    case 'function':
      return kernel.path
    case 'template':
      return kernel.template ?? ''
    case 'grid':
    case 'block':
      return String(kernel[mark])
    case 'range':
      return kernel.range ?? ''
  }
}

const keyOf = (kernel: UnitKernel, level: readonly Mark[]): string =>
  JSON.stringify(level.map((mark) => markOf(kernel, mark)))

/** How unlike two times are, from 0; of equal kernels, the more alike ones belong together. */
function unlikeness(a: Unit, b: Unit): number {
  if (!a.time || !b.time || a.time.ms <= 0 || b.time.ms <= 0) return 0
  return Math.min(1, Math.abs(Math.log(b.time.ms / a.time.ms)))
}

/** The longest common sequence of equal units; among several, the one whose times are most alike. */
function align(left: readonly Unit[], right: readonly Unit[]): [number, number][] {
  const keys = [left, right].map((units) =>
    units.map(({ kernel }) => kernel && keyOf(kernel, levels[0]!)),
  )
  const width = right.length + 1
  const best = new Float64Array((left.length + 1) * width)
  // One match more outweighs any likeness.
  const weight = left.length + right.length + 1
  const gain = (i: number, j: number): number =>
    keys[0]![i] !== null && keys[0]![i] === keys[1]![j]
      ? weight - unlikeness(left[i]!, right[j]!)
      : -Infinity
  for (let i = left.length - 1; i >= 0; i -= 1)
    for (let j = right.length - 1; j >= 0; j -= 1)
      best[i * width + j] = Math.max(
        best[(i + 1) * width + j]!,
        best[i * width + j + 1]!,
        gain(i, j) + best[(i + 1) * width + j + 1]!,
      )
  const matches: [number, number][] = []
  let [i, j] = [0, 0]
  while (i < left.length && j < right.length) {
    const here = best[i * width + j]!
    if (gain(i, j) + best[(i + 1) * width + j + 1]! === here) matches.push([i++, j++])
    else if (best[(i + 1) * width + j] === here) i += 1
    else j += 1
  }
  return matches
}

/** Two sequences of a few hundred kernels are aligned in milliseconds; of many more, only equal ones are paired. */
const mostCells = 4_000_000

function reasonOf(
  level: readonly Mark[],
  { kernel }: Unit,
  equals: number,
): readonly (Mark | 'order')[] {
  const own = level.filter(
    (mark) =>
      !(mark === 'range' && !kernel!.range) &&
      !(mark === 'template' && kernel!.template === null) &&
      !((mark === 'grid' || mark === 'block') && !kernel![mark]),
  )
  return equals > 1 ? [...own, 'order'] : own
}

/** `byRung`: ids mean the same in both, as those of one ladder do. `byHand`: ids of pairs that the reader named. */
export function pairUnits(
  left: readonly Unit[],
  right: readonly Unit[],
  { byRung, byHand = [] }: { byRung: boolean; byHand?: readonly (readonly [string, string])[] },
): Pairing {
  const pairs: UnitPair[] = []
  const taken = new Set<Unit>()
  const pair = (a: Unit, b: Unit, by: PairReason): void => {
    pairs.push({ a, b, by })
    taken.add(a).add(b)
  }
  const free = (units: readonly Unit[]): Unit[] => units.filter((unit) => !taken.has(unit))

  for (const [idA, idB] of byHand) {
    const [a, b] = [left.find(({ id }) => id === idA), right.find(({ id }) => id === idB)]
    if (a && b && !taken.has(a) && !taken.has(b)) pair(a, b, 'hand')
  }
  if (byRung) {
    const byId = new Map(free(right).map((unit) => [unit.id, unit]))
    for (const a of free(left)) {
      const b = byId.get(a.id)
      if (b) pair(a, b, 'rung')
    }
  }
  const count = (units: readonly Unit[], level: readonly Mark[]): Map<string, Unit[]> => {
    const groups = new Map<string, Unit[]>()
    for (const unit of units) {
      if (!unit.kernel) continue
      const key = keyOf(unit.kernel, level)
      groups.set(key, [...(groups.get(key) ?? []), unit])
    }
    return groups
  }
  const [freeA, freeB] = [free(left), free(right)]
  if (freeA.length * freeB.length <= mostCells) {
    const groups = [count(freeA, levels[0]!), count(freeB, levels[0]!)]
    for (const [i, j] of align(freeA, freeB)) {
      const a = freeA[i]!
      const key = keyOf(a.kernel!, levels[0]!)
      const equals = Math.max(...groups.map((group) => group.get(key)?.length ?? 0))
      pair(a, freeB[j]!, reasonOf(levels[0]!, a, equals))
    }
  }
  for (const level of levels) {
    const groups = count(free(right), level)
    for (const [key, own] of count(free(left), level)) {
      const others = groups.get(key) ?? []
      const equals = Math.max(own.length, others.length)
      for (const [index, a] of own.entries()) {
        const b = others[index]
        if (b) pair(a, b, reasonOf(level, a, equals))
      }
    }
  }
  const place = new Map(left.map((unit, index) => [unit, index]))
  return {
    pairs: pairs.sort((one, other) => place.get(one.a)! - place.get(other.a)!),
    onlyA: free(left),
    onlyB: free(right),
  }
}

interface Change {
  /** `fused`: several kernels gave way to one; `split`: one to several; `replaced`: some to as many or others. */
  kind: 'added' | 'removed' | 'fused' | 'split' | 'replaced'
  a: Unit[]
  b: Unit[]
}

/** How many times a range was entered before, and with this kernel; kernels in a row share one entry. */
function entriesOf(units: readonly Unit[]): Map<Unit, number> {
  const entries = new Map<string, number>()
  const found = new Map<Unit, number>()
  let last: string | null = null
  for (const unit of units) {
    const range = unit.kernel?.range ?? null
    if (range !== null) {
      if (range !== last) entries.set(range, (entries.get(range) ?? 0) + 1)
      found.set(unit, entries.get(range)!)
    }
    last = range
  }
  return found
}

/**
 * What came of the unpaired kernels: those between the same paired neighbors, or in the same entry of an NVTX range, are
 * taken to do the same work in another way.
 */
export function changesOf(
  left: readonly Unit[],
  right: readonly Unit[],
  { pairs }: Pairing,
): Change[] {
  const placeA = new Map(left.map((unit, index) => [unit, index]))
  const groups = new Map<string, { a: Unit[]; b: Unit[] }>()
  const collect = (
    units: readonly Unit[],
    side: 'a' | 'b',
    /** The place of a paired unit in the first list. */
    placeOf: (unit: Unit) => number | undefined,
  ): void => {
    const entries = entriesOf(units)
    let before = -1
    for (const unit of units) {
      const place = placeOf(unit)
      if (place !== undefined) {
        before = place
        continue
      }
      const range = unit.kernel?.range
      const key = range ? `in ${range}, ${entries.get(unit)}` : `after ${before}`
      const group = groups.get(key) ?? { a: [], b: [] }
      groups.set(key, group)
      group[side].push(unit)
    }
  }
  const placesA = new Map(pairs.map(({ a }) => [a, placeA.get(a)!]))
  const placesB = new Map(pairs.map(({ a, b }) => [b, placeA.get(a)!]))
  collect(left, 'a', (unit) => placesA.get(unit))
  collect(right, 'b', (unit) => placesB.get(unit))
  const kindOf = ({ a, b }: { a: Unit[]; b: Unit[] }): Change['kind'] => {
    if (a.length === 0) return 'added'
    if (b.length === 0) return 'removed'
    if (b.length === 1 && a.length > 1) return 'fused'
    return a.length === 1 && b.length > 1 ? 'split' : 'replaced'
  }
  return [...groups.values()].map((group) => ({ kind: kindOf(group), ...group }))
}
