/** Two sessions of any kind beside each other: the total first, then what contributed to its change. Pure. */
import { z } from 'zod'
import { comparability } from '../analysis/comparability'
import { message, Statement } from '../messages/message'
import { CacheState, type Session } from '../session/session'
import { can } from '../targets/targets'
import { changesOf, pairUnits, type PairReason } from './pairing'
import { unitsOf, type Unit, type UnitTime } from './units'

const verdicts = ['faster', 'slower', 'same', 'unresolved'] as const
type SessionVerdict = (typeof verdicts)[number]

const ms = z.number().nullable()
const extent = z.tuple([z.number(), z.number(), z.number()]).nullable()

const Side = z.object({
  /** The rung of the session that it is, or is part of. */
  rung: z.string(),
  title: z.string(),
  /** How many launches its time is the sum of; null for the median of a ladder's rung. */
  launches: z.number().int().nullable(),
  /** What L2 held when it was timed; null if ncu timed it, or nothing did. */
  cacheState: CacheState.nullable(),
  /** null if it is not known, or if the rung launches several. */
  kernel: z
    .object({
      name: z.string(),
      grid: extent,
      block: extent,
      range: z.string().nullable(),
    })
    .nullable(),
})

const Times = z.object({
  /** Milliseconds; null where nothing timed it. */
  timeA: ms,
  timeB: ms,
  /** timeB / timeA; null unless both were timed in the same way. */
  ratio: z.number().nullable(),
})

export const SessionComparison = z.object({
  a: z.string(),
  b: z.string(),
  comparable: z.object({
    ok: z.boolean(),
    /** Why they cannot be compared, or what besides the code may explain a difference. */
    reasons: z.array(Statement),
  }),
  total: Times,
  pairs: z.array(
    Times.extend({
      /** The rung's id, `<rung>/2` for the second kernel of an NVTX range. */
      a: z.string(),
      b: z.string(),
      sideA: Side,
      sideB: Side,
      /** `rung`, `hand`, or the marks in which both agree, joined by `+`; `order` among equals. */
      by: z.string(),
      verdict: z.enum(verdicts),
      /** timeB − timeA in milliseconds: its part in the change of the total. */
      change: ms,
    }),
  ),
  onlyA: z.array(Side.extend({ id: z.string(), time: ms })),
  onlyB: z.array(Side.extend({ id: z.string(), time: ms })),
  /** What became of unpaired kernels, by their ids. */
  changes: z.array(
    Times.extend({
      kind: z.enum(['added', 'removed', 'fused', 'split', 'replaced']),
      a: z.array(z.string()),
      b: z.array(z.string()),
      change: ms,
    }),
  ),
})
export type SessionComparison = z.infer<typeof SessionComparison>

/** A change below this is none, however precise the times are: sessions are measured at different moments. */
const threshold = 0.03
/** How far single launches under ncu lie apart from one run to the next, where nothing measured it. */
const unmeasured = 0.025

export function verdictOf(a: UnitTime | null, b: UnitTime | null): SessionVerdict {
  if (!a || !b || a.clock !== b.clock || a.ms <= 0 || b.ms <= 0) return 'unresolved'
  const isMeasured = a.uncertainty !== null && b.uncertainty !== null
  const uncertainty = Math.hypot(a.uncertainty ?? unmeasured, b.uncertainty ?? unmeasured)
  const change = Math.log(b.ms / a.ms)
  if (Math.abs(change) > threshold + uncertainty) return change > 0 ? 'slower' : 'faster'
  // Two single launches are the same if they lie as near as such launches do.
  const near = isMeasured ? threshold : 2 * Math.hypot(unmeasured, unmeasured)
  return Math.abs(change) + uncertainty <= near ? 'same' : 'unresolved'
}

const isTimed = (unit: Unit): unit is Unit & { time: UnitTime } => unit.time !== null

const sum = (units: readonly Unit[]): number | null => {
  const timed = units.filter(isTimed)
  return timed.length === 0 ? null : timed.reduce((all, { time }) => all + time.ms, 0)
}

const clocksOf = (units: readonly Unit[]): Set<string> =>
  new Set(units.filter(isTimed).map(({ time }) => time.clock))

const times = (timeA: number | null, timeB: number | null, alike: boolean) => ({
  timeA,
  timeB,
  ratio: alike && timeA !== null && timeB !== null && timeA > 0 ? timeB / timeA : null,
})

const sideOf = ({ rung, title, launches, kernel, time }: Unit): z.infer<typeof Side> => ({
  rung,
  title,
  launches,
  cacheState: time === null || time.clock === 'ncu' ? null : time.clock,
  kernel: kernel && {
    name: kernel.name,
    grid: kernel.grid,
    block: kernel.block,
    range: kernel.range,
  },
})

const only = (unit: Unit) => ({ id: unit.id, ...sideOf(unit), time: unit.time?.ms ?? null })

export const reasonWord = (by: PairReason): string => (typeof by === 'string' ? by : by.join('+'))

interface CompareOptions {
  /** Pairs that the reader named, by their ids. */
  byHand?: readonly (readonly [string, string])[]
}

export function compareSessions(
  a: Session,
  b: Session,
  { byHand = [] }: CompareOptions = {},
): SessionComparison {
  const [left, right] = [unitsOf(a), unitsOf(b)]
  const known = [a, b].map(({ target }) => can(target).knowsRun)
  const bothKnown = known[0]! && known[1]!
  // The ids of an import number its kernels; a rung may be in several ladders.
  const byRung = bothKnown
  const pairing = pairUnits(left, right, { byRung, byHand })
  const [clocksA, clocksB] = [clocksOf(left), clocksOf(right)]
  const alike = [...clocksA].every((clock) => clocksB.has(clock))
  const { refusals, warnings } = comparability(a, b)
  const reasons = [
    ...(bothKnown ? refusals : []),
    ...(clocksA.has('ncu') === clocksB.has('ncu') ? [] : [message('guard.clocks')]),
    ...(pairing.pairs.length === 0 ? [message('guard.noPairs')] : []),
  ]
  return {
    a: a.id,
    b: b.id,
    comparable: { ok: reasons.length === 0, reasons: [...reasons, ...warnings] },
    total: times(sum(left), sum(right), alike),
    pairs: pairing.pairs.map(({ a: own, b: other, by }) => {
      const same = own.time?.clock === other.time?.clock
      const timed = times(own.time?.ms ?? null, other.time?.ms ?? null, same)
      return {
        a: own.id,
        b: other.id,
        sideA: sideOf(own),
        sideB: sideOf(other),
        by: reasonWord(by),
        ...timed,
        verdict: verdictOf(own.time, other.time),
        change: timed.ratio === null ? null : timed.timeB! - timed.timeA!,
      }
    }),
    onlyA: pairing.onlyA.map(only),
    onlyB: pairing.onlyB.map(only),
    changes: changesOf(left, right, pairing).map(({ kind, a: gone, b: come }) => {
      const [timeA, timeB] = [sum(gone), sum(come)]
      return {
        kind,
        a: gone.map(({ id }) => id),
        b: come.map(({ id }) => id),
        ...times(timeA, timeB, alike),
        change: (timeA === null && timeB === null) || !alike ? null : (timeB ?? 0) - (timeA ?? 0),
      }
    }),
  }
}
