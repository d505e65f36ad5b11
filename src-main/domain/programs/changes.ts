/** Classifies unpaired kernels as fused, split, replaced, added or removed. Pure. */
import type { Pairing } from './pairing'
import type { Unit } from './units'

export interface Change {
  /**
   * `fused`: fewer kernels than before. `split`: more kernels than before. `replaced`: the same
   * number of kernels, or kernels that do different work.
   */
  kind: 'added' | 'removed' | 'fused' | 'split' | 'replaced'
  a: Unit[]
  b: Unit[]
}

/** Returns the L2 bytes of all launches, or null unless every kernel has the counter. */
function bytesOf(units: readonly Unit[]): number | null {
  const bytes = units.map(({ work, launches }) => (work.l2Bytes ?? NaN) * (launches ?? 1))
  const total = bytes.reduce((sum, own) => sum + own, 0)
  return Number.isNaN(total) ? null : total
}

/**
 * Minimum ratio of L2 bytes at which two kernels count as doing different amounts of work. The
 * byte counts of launches that do the same work differ by a few percent. A fusion of nine kernels that
 * rereads one array adds about 10 % to the bytes. A kernel that also rewrites its input adds more
 * bytes, because it does more work.
 */
const noticeablyMore = 1.25

/**
 * Returns whether the side with fewer kernels moves more bytes. A fusion never moves more bytes,
 * because it saves traffic.
 */
function movesMore(a: readonly Unit[], b: readonly Unit[]): boolean {
  const [many, few] = (a.length > b.length ? [a, b] : [b, a]).map(bytesOf)
  return many != null && few != null && few > noticeablyMore * many
}

/**
 * Returns whether several launches of one kernel were replaced by several launches of another
 * kernel. This replacement is neither a fusion nor a split.
 */
function areOneEach(a: readonly Unit[], b: readonly Unit[]): boolean {
  const [one, other] = [a, b].map((units) => new Set(units.map(({ kernel }) => kernel?.path)))
  return Math.min(a.length, b.length) > 1 && one!.size === 1 && other!.size === 1
}

/**
 * Numbers the NVTX range entries and returns each kernel's entry number. Consecutive kernels in the
 * same range have the same number.
 */
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
 * Returns the changes among unpaired kernels. Kernels between the same paired neighbors, or in the
 * same NVTX range entry, are assumed to do the same work.
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
    /** Returns the position of a paired unit in the first list. */
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
    if (!canFuse || a.length === b.length || areOneEach(a, b) || movesMore(a, b)) return 'replaced'
    return a.length > b.length ? 'fused' : 'split'
  }
  const changes = [...groups.values()].map((group) => ({ kind: kindOf(group), ...group }))
  return canFuse ? withKept(changes, left, right, pairs) : changes
}

/**
 * Returns the amount of work per kernel, measured by the same counter for all kernels. Returns null
 * if no counter or time covers all kernels.
 */
function amountsOf(units: readonly Unit[]): { amounts: number[]; areCounted: boolean } | null {
  const counts = units.map(({ work, launches }) => (work.instructions ?? NaN) * (launches ?? 1))
  if (counts.every((count) => count > 0)) return { amounts: counts, areCounted: true }
  const times = units.map(({ time }) => time?.ms ?? NaN)
  return times.every((ms) => ms > 0) ? { amounts: times, areCounted: false } : null
}

/** Returns whether one kernel name starts with the other, as with `reduce` and `reduce_final`. */
function areKin(a: Unit, b: Unit): boolean {
  const [one = '', other = ''] = [a, b].map(({ kernel }) => kernel?.path.split('::').at(-1))
  return one !== '' && other !== '' && (one.startsWith(other) || other.startsWith(one))
}

/**
 * Returns whether one kernel was split into a kernel of the same name and its neighbors. The
 * remaining kernel must do noticeably less work than before. The other kernels must share the
 * remaining kernel's name, or together do the rest of the work.
 */
function isDivided(whole: Unit, kept: Unit, others: readonly Unit[]): boolean {
  const found = amountsOf([whole, kept, ...others])
  if (!found) return false
  const [all = 0, own = 0, ...rest] = found.amounts
  if (all < noticeablyMore * own) return false
  if (others.every((other) => areKin(other, kept))) return true
  const sum = rest.reduce((total, amount) => total + amount, own)
  // Compare counters only, because the times of parts do not show how the work was divided.
  return found.areCounted && Math.max(sum / all, all / sum) < noticeablyMore
}

/**
 * Merges added and removed kernels with a neighboring pair if the kernels were split off from the
 * pair or fused into the pair.
 */
function withKept(
  changes: readonly Change[],
  left: readonly Unit[],
  right: readonly Unit[],
  pairs: Pairing['pairs'],
): Change[] {
  const pairOf = new Map(pairs.flatMap((pair) => [pair.a, pair.b].map((unit) => [unit, pair])))
  const places = [left, right].map((units) => new Map(units.map((unit, index) => [unit, index])))
  const taken = new Set<Pairing['pairs'][number]>()
  return changes.map((change) => {
    const { kind, a, b } = change
    if (kind !== 'added' && kind !== 'removed') return change
    const [others, all, place] = kind === 'added' ? [b, right, places[1]!] : [a, left, places[0]!]
    const [first, last] = [place.get(others[0]!)!, place.get(others.at(-1)!)!]
    for (const at of [first - 1, last + 1]) {
      const pair = all[at] && pairOf.get(all[at])
      if (!pair || pair.by === 'hand' || taken.has(pair)) continue
      const [whole, kept] = kind === 'added' ? [pair.a, pair.b] : [pair.b, pair.a]
      if (!isDivided(whole, kept, others)) continue
      taken.add(pair)
      const many = at < first ? [kept, ...others] : [...others, kept]
      return kind === 'added'
        ? { kind: 'split', a: [whole], b: many }
        : { kind: 'fused', a: many, b: [whole] }
    }
    return change
  })
}
