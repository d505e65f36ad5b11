/** What became of the kernels that have no counterpart: fused, split, replaced, added or removed. Pure. */
import type { Pairing } from './pairing'
import type { Unit } from './units'

export interface Change {
  /** `fused`: several kernels gave way to fewer; `split`: to more; `replaced`: to as many, or to others that do other work. */
  kind: 'added' | 'removed' | 'fused' | 'split' | 'replaced'
  a: Unit[]
  b: Unit[]
}

/** Bytes through L2 of all launches; null unless they were counted of each kernel. */
function bytesOf(units: readonly Unit[]): number | null {
  const bytes = units.map(({ work, launches }) => (work.l2Bytes ?? NaN) * (launches ?? 1))
  const total = bytes.reduce((sum, own) => sum + own, 0)
  return Number.isNaN(total) ? null : total
}

const noticeablyMore = 1.25

/** Whether the fewer kernels move more bytes than the many: a fusion saves traffic and never adds any. */
function movesMore(a: readonly Unit[], b: readonly Unit[]): boolean {
  const [many, few] = (a.length > b.length ? [a, b] : [b, a]).map(bytesOf)
  return many != null && few != null && few > noticeablyMore * many
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
  canFuse = true,
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
    if (!canFuse || a.length === b.length || movesMore(a, b)) return 'replaced'
    return a.length > b.length ? 'fused' : 'split'
  }
  return [...groups.values()].map((group) => ({ kind: kindOf(group), ...group }))
}
