/**
 * Pairs the kernels of two sessions by their properties. The first step aligns the two sequences of
 * kernels. This step pairs kernels that have equal functions, template arguments, grids, blocks,
 * NVTX ranges and work, in launch order. If one of twelve identical launches is missing, the
 * launches before and after the gap show which launch is missing. Each later step pairs the
 * remaining kernels by fewer properties. If several kernels have equal properties, kernels with
 * similar work are paired. Pure.
 */
import { currentId } from '../ladder/former-ids'
import { mostAlike, timesApart, workKey } from './likeness'
import type { Unit, UnitKernel } from './units'

export const marks = ['function', 'template', 'functor', 'grid', 'block', 'range'] as const
export type Mark = (typeof marks)[number]

/**
 * The reason that two kernels were paired: `rung` for equal rung ids, `hand` for a pair that the
 * user chose, otherwise the equal properties.
 */
export type PairReason = 'rung' | 'hand' | readonly (Mark | 'work' | 'order')[]

interface UnitPair {
  a: Unit
  b: Unit
  by: PairReason
}

export interface Pairing {
  pairs: UnitPair[]
  onlyA: Unit[]
  onlyB: Unit[]
}

/**
 * Sets of properties by which kernels are paired, from the most to the least specific. The function
 * and its functors must always be equal. For example, an addition and a product from the same
 * template are different kernels.
 */
const levels: readonly (readonly Mark[])[] = [
  ['function', 'template', 'grid', 'block', 'range'],
  ['function', 'template', 'grid', 'block'],
  ['function', 'template', 'range'],
  ['function', 'template'],
  ['function', 'functor', 'grid', 'block'],
  ['function', 'functor', 'range'],
  ['function', 'functor'],
]

function markOf(kernel: UnitKernel, mark: Mark): string {
  switch (mark) {
    case 'function':
      return kernel.path
    case 'template':
    case 'functor':
      return kernel[mark] ?? ''
    case 'grid':
    case 'block':
      return String(kernel[mark])
    case 'range':
      return kernel.range ?? ''
  }
}

const keys = new WeakMap<UnitKernel, Map<readonly Mark[], string>>()

/**
 * Returns a kernel's key for the properties in `level`. Keys are cached per kernel object, because
 * many launches share a kernel and need its key several times.
 */
function keyOf(kernel: UnitKernel, level: readonly Mark[]): string {
  const known = keys.get(kernel) ?? new Map<readonly Mark[], string>()
  keys.set(kernel, known)
  const key = known.get(level) ?? JSON.stringify(level.map((mark) => markOf(kernel, mark)))
  known.set(level, key)
  return key
}

/**
 * Returns the longest common sequence of units with equal keys. Among equally long sequences,
 * prefers the most similar times.
 */
function longestCommon(
  left: readonly Unit[],
  right: readonly Unit[],
  keys: readonly [readonly (string | null)[], readonly (string | null)[]],
): [number, number][] {
  const width = right.length + 1
  const best = new Float64Array((left.length + 1) * width)
  // One additional match outweighs any similarity in times.
  const weight = left.length + right.length + 1
  const gain = (i: number, j: number): number =>
    keys[0][i] !== null && keys[0][i] === keys[1][j]
      ? weight - timesApart(left[i]!, right[j]!)
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

/**
 * Maximum number of cells in an alignment's table. Sequences of a few hundred kernels take
 * milliseconds. If the table would be larger, only the equal ends of the sequences are aligned.
 */
const mostCells = 4_000_000

/** Returns the alignment of two sequences. */
function align(left: readonly Unit[], right: readonly Unit[]): [Unit, Unit][] {
  const keysOf = (units: readonly Unit[]): (string | null)[] =>
    units.map((unit) => unit.kernel && keyWithWork(unit))
  const [keysA, keysB] = [keysOf(left), keysOf(right)]
  const areEqual = (i: number, j: number): boolean => keysA[i] !== null && keysA[i] === keysB[j]
  const isEqualFor = Math.min(left.length, right.length)
  const gone = left.length - right.length
  const aligned: [Unit, Unit][] = []
  // Match equal ends in advance only for long sequences. In short sequences, the times show which
  // launch near an end is missing.
  let start = 0
  let end = 0
  if (left.length * right.length > mostCells) {
    while (start < isEqualFor && areEqual(start, start)) start += 1
    while (
      end < isEqualFor - start &&
      areEqual(left.length - 1 - end, left.length - 1 - end - gone)
    )
      end += 1
    for (let i = 0; i < start; i += 1) aligned.push([left[i]!, right[i]!])
    for (let i = left.length - end; i < left.length; i += 1)
      aligned.push([left[i]!, right[i - gone]!])
  }
  const middle = <T>(list: readonly T[]): T[] => list.slice(start, list.length - end)
  const [middleA, middleB] = [middle(left), middle(right)]
  if (middleA.length * middleB.length > mostCells) return aligned
  const found = longestCommon(middleA, middleB, [middle(keysA), middle(keysB)])
  return [...aligned, ...found.map(([i, j]): [Unit, Unit] => [middleA[i]!, middleB[j]!])]
}

const keyWithWork = (unit: Unit): string => `${keyOf(unit.kernel!, levels[0]!)} ${workKey(unit)}`

/**
 * Returns the reason that two kernels were paired. `equals` is the number of kernels with the same
 * properties. `alike` is the number of kernels that also do the same work.
 */
function reasonOf(
  level: readonly Mark[],
  { kernel }: Unit,
  { equals, alike }: { equals: number; alike: number },
): readonly (Mark | 'work' | 'order')[] {
  const own = level.filter((mark) => mark === 'function' || markOf(kernel!, mark) !== '')
  return [
    ...own.filter((mark) => !((mark === 'grid' || mark === 'block') && !kernel![mark])),
    ...(equals > alike ? (['work'] as const) : []),
    ...(alike > 1 ? (['order'] as const) : []),
  ]
}

function groupsOf(units: readonly Unit[], level: readonly Mark[]): Map<string, Unit[]> {
  const groups = new Map<string, Unit[]>()
  for (const unit of units) {
    if (!unit.kernel) continue
    const key = keyOf(unit.kernel, level)
    const group = groups.get(key)
    if (group) group.push(unit)
    else groups.set(key, [unit])
  }
  return groups
}

type Tally = ReadonlyMap<string, number>

const tallied = (unit: Unit, level: readonly Mark[]): [string, string] => {
  const key = keyOf(unit.kernel!, level)
  return [key, `${key} ${workKey(unit)}`]
}

/** Counts the units per combination of properties, with and without their work. */
function tally(units: readonly Unit[], level: readonly Mark[]): Tally {
  const counts = new Map<string, number>()
  for (const unit of units)
    if (unit.kernel)
      for (const key of tallied(unit, level)) counts.set(key, (counts.get(key) ?? 0) + 1)
  return counts
}

function most(
  tallies: readonly [Tally, Tally],
  unit: Unit,
  level: readonly Mark[],
): { equals: number; alike: number } {
  const [equals, alike] = tallied(unit, level).map((key) =>
    Math.max(...tallies.map((counts) => counts.get(key) ?? 0)),
  ) as [number, number]
  return { equals, alike }
}

/**
 * Pairs the units of two lists. `byRung` pairs units with equal ids, for sessions of one ladder.
 * `byHand` lists the pairs that the user chose.
 */
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
    const byId = new Map(free(right).map((unit) => [currentId(unit.id), unit]))
    for (const a of free(left)) {
      const b = byId.get(currentId(a.id))
      if (b) pair(a, b, 'rung')
    }
  }
  const [freeA, freeB] = [free(left), free(right)]
  const equals = [tally(freeA, levels[0]!), tally(freeB, levels[0]!)] as const
  for (const [a, b] of align(freeA, freeB))
    pair(a, b, reasonOf(levels[0]!, a, most(equals, a, levels[0]!)))
  for (const level of levels) {
    const [ownA, ownB] = [free(left), free(right)]
    if (ownA.length === 0 || ownB.length === 0) break
    const groups = groupsOf(ownB, level)
    const tallies = [tally(ownA, level), tally(ownB, level)] as const
    for (const [key, own] of groupsOf(ownA, level))
      for (const [a, b] of mostAlike(own, groups.get(key) ?? []))
        pair(a, b, reasonOf(level, a, most(tallies, a, level)))
  }
  const place = new Map(left.map((unit, index) => [unit, index]))
  return {
    pairs: pairs.sort((one, other) => place.get(one.a)! - place.get(other.a)!),
    onlyA: free(left),
    onlyB: free(right),
  }
}
