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

/**
 * Two launches that do the same differ by less: counters of L2 vary by a few percent, and a fusion that reads one array
 * again adds a tenth to a chain of nine. One that writes what it reads a second time adds more, and does more.
 */
const noticeablyMore = 1.25

/** Whether the fewer kernels move more bytes than the many: a fusion saves traffic and never adds any. */
function movesMore(a: readonly Unit[], b: readonly Unit[]): boolean {
  const [many, few] = (a.length > b.length ? [a, b] : [b, a]).map(bytesOf)
  return many != null && few != null && few > noticeablyMore * many
}

/** Whether several launches of one kernel gave way to several of another, which was only launched more or less often. */
function areOneEach(a: readonly Unit[], b: readonly Unit[]): boolean {
  const [one, other] = [a, b].map((units) => new Set(units.map(({ kernel }) => kernel?.path)))
  return Math.min(a.length, b.length) > 1 && one!.size === 1 && other!.size === 1
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
    if (!canFuse || a.length === b.length || areOneEach(a, b) || movesMore(a, b)) return 'replaced'
    return a.length > b.length ? 'fused' : 'split'
  }
  const changes = [...groups.values()].map((group) => ({ kind: kindOf(group), ...group }))
  return canFuse ? withKept(changes, left, right, pairs) : changes
}

/** What a kernel did in all, by the same counter for all of them; null where nothing counted or timed one. */
function amountsOf(units: readonly Unit[]): { amounts: number[]; areCounted: boolean } | null {
  const counts = units.map(({ work, launches }) => (work.instructions ?? NaN) * (launches ?? 1))
  if (counts.every((count) => count > 0)) return { amounts: counts, areCounted: true }
  const times = units.map(({ time }) => time?.ms ?? NaN)
  return times.every((ms) => ms > 0) ? { amounts: times, areCounted: false } : null
}

/** `reduce` and `reduce_final`, or the same function a second time. */
function areKin(a: Unit, b: Unit): boolean {
  const [one = '', other = ''] = [a, b].map(({ kernel }) => kernel?.path.split('::').at(-1))
  return one !== '' && other !== '' && (one.startsWith(other) || other.startsWith(one))
}

/**
 * Whether a kernel became one that kept its name and those beside it: the kept one does noticeably less than the whole
 * did, and the others are named after it, or do what it no longer does.
 */
function isDivided(whole: Unit, kept: Unit, others: readonly Unit[]): boolean {
  const found = amountsOf([whole, kept, ...others])
  if (!found) return false
  const [all = 0, own = 0, ...rest] = found.amounts
  if (all < noticeablyMore * own) return false
  if (others.every((other) => areKin(other, kept))) return true
  const sum = rest.reduce((total, amount) => total + amount, own)
  // Times of parts say nothing about where the work went.
  return found.areCounted && Math.max(sum / all, all / sum) < noticeablyMore
}

/** Added and removed kernels beside a pair that they were split off from, or fused into: the pair is part of the change. */
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
