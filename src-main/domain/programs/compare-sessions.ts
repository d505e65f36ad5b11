/**
 * Compares two sessions of any kind. The result has the total time and each kernel's contribution
 * to the change in total time. Pure.
 */
import type { z } from 'zod'
import { comparability, haveOtherGpus } from '../analysis/comparability'
import { movedWords } from '../analysis/most-moved'
import { message, says, type AnyMessage, type Statement } from '../messages/message'
import type { CacheState, Session } from '../session/session'
import { can } from '../targets/targets'
import { changesOf } from './changes'
import { marks, pairUnits, type PairReason } from './pairing'
import {
  movesBetween,
  sayErrors,
  sayFusions,
  sayKernels,
  sayRefusal,
  sayRungs,
} from './say-comparison'
import type { PredictionError, SessionComparison, SessionVerdict, Side } from './session-comparison'
import { unitsOf, type Clock, type Unit, type UnitTime } from './units'

/**
 * Minimum relative change in time that counts as significant. Sessions run at different times, so
 * smaller changes are insignificant even for precise times.
 */
const threshold = 0.03
/** Assumed run-to-run variation of single launches under ncu, if the variation was not measured. */
const unmeasured = 0.025

export function verdictOf(a: UnitTime | null, b: UnitTime | null): SessionVerdict {
  if (!a || !b || a.clock !== b.clock || a.ms <= 0 || b.ms <= 0) return 'unresolved'
  if (a.range && b.range)
    return b.range.high < a.range.low
      ? 'faster'
      : b.range.low > a.range.high
        ? 'slower'
        : 'unresolved'
  const isMeasured = a.uncertainty !== null && b.uncertainty !== null
  const uncertainty = Math.hypot(a.uncertainty ?? unmeasured, b.uncertainty ?? unmeasured)
  const change = Math.log(b.ms / a.ms)
  if (Math.abs(change) > threshold + uncertainty) return change > 0 ? 'slower' : 'faster'
  // Two single launches are treated as equal if they differ by less than their assumed variation.
  const near = isMeasured ? threshold : 2 * Math.hypot(unmeasured, unmeasured)
  return Math.abs(change) + uncertainty <= near ? 'same' : 'unresolved'
}

const isTimed = (unit: Unit): unit is Unit & { time: UnitTime } => unit.time !== null

/**
 * Returns the relative error of a predicted time, compared with the other session's measured time.
 * For example, 0.1 means that the predicted time is 10 % too long.
 */
function errorOf(a: UnitTime | null, b: UnitTime | null): { predictionError?: PredictionError } {
  if (!a || !b || Boolean(a.range) === Boolean(b.range)) return {}
  const [model, measured] = a.range ? [a, b] : [b, a]
  const { low, high } = model.range!
  return {
    predictionError: {
      error: model.ms / measured.ms - 1,
      inRange: measured.ms >= low && measured.ms <= high,
    },
  }
}

const sum = (units: readonly Unit[]): number | null => {
  const timed = units.filter(isTimed)
  return timed.length === 0 ? null : timed.reduce((all, { time }) => all + time.ms, 0)
}

const clocksOf = (units: readonly Unit[]): Set<string> =>
  new Set(units.filter(isTimed).map(({ time }) => time.clock))

/**
 * Returns the sum of the kernels' times. Returns null if a kernel has no time or the times have
 * different sources.
 */
function timeOf(units: readonly Unit[]): UnitTime | null {
  const timed = units.filter(isTimed)
  const [first] = timed
  if (!first || timed.length < units.length || clocksOf(units).size > 1) return null
  const ms = timed.reduce((all, { time }) => all + time.ms, 0)
  const errors = timed.map(({ time }) =>
    time.uncertainty === null ? null : time.uncertainty * time.ms,
  )
  const isKnown = errors.every((error) => error !== null)
  return {
    ...{ ms, clock: first.time.clock },
    uncertainty:
      isKnown && ms > 0 ? Math.sqrt(errors.reduce((all, error) => all + error ** 2, 0)) / ms : null,
  }
}

const times = (timeA: number | null, timeB: number | null, alike: boolean) => ({
  timeA,
  timeB,
  ratio: alike && timeA !== null && timeB !== null && timeA > 0 ? timeB / timeA : null,
})

const isCacheState = (clock: Clock): clock is CacheState =>
  clock !== 'ncu' && clock !== 'cupti' && clock !== 'predicted'

const sideOf = ({ rung, title, launches, kernel, time }: Unit): z.infer<typeof Side> => ({
  rung,
  title,
  launches,
  cacheState: time !== null && isCacheState(time.clock) ? time.clock : null,
  ...(time?.range ? { predicted: { lowMs: time.range.low, highMs: time.range.high } } : {}),
  kernel: kernel && {
    name: kernel.name,
    grid: kernel.grid,
    block: kernel.block,
    range: kernel.range,
  },
})

const only = (unit: Unit) => ({ id: unit.id, ...sideOf(unit), time: unit.time?.ms ?? null })

export const reasonWord = (by: PairReason): string => (typeof by === 'string' ? by : by.join('+'))

/** All words that can occur in a pair's `by` field. */
export const reasonWords = ['rung', 'hand', ...marks, 'work', 'order'] as const

export interface CompareOptions {
  /** Pairs of ids that the user chose. */
  byHand?: readonly (readonly [string, string])[]
}

interface Compared {
  id: string
  units: readonly Unit[]
}

/**
 * Compares two lists of units (rungs or kernels). The units may come from sessions or other
 * sources.
 */
export function compareUnits(
  a: Compared,
  b: Compared,
  {
    byRung = false,
    byHand = [],
    canFuse = true,
    refusals = [],
  }: CompareOptions & {
    byRung?: boolean
    canFuse?: boolean
    refusals?: readonly AnyMessage[]
  } = {},
) {
  const [left, right] = [a.units, b.units]
  const pairing = pairUnits(left, right, { byRung, byHand })
  const [clocksA, clocksB] = [clocksOf(left), clocksOf(right)]
  const areTimed = clocksA.size > 0 && clocksB.size > 0
  const alike = [...clocksA].every((clock) => clocksB.has(clock))
  const became = changesOf(left, right, pairing, canFuse)
  const fused = became.filter(({ kind }) => kind === 'fused' || kind === 'split')
  const inFused = new Set(fused.flatMap(({ a: from, b: to }) => [...from, ...to]))
  const unpaired = pairing.pairs.length === 0
  const empty = [left, right].flatMap((units, index) =>
    units.length === 0 ? [message('guard.noKernels', { id: [a, b][index]!.id })] : [],
  )
  const reasons = [
    ...refusals,
    ...empty,
    ...(!areTimed || clocksA.has('ncu') === clocksB.has('ncu')
      ? []
      : [
          message(
            clocksA.has('cupti') || clocksB.has('cupti') ? 'guard.profilers' : 'guard.clocks',
          ),
        ]),
    ...(unpaired && fused.length === 0 && empty.length === 0 ? [message('guard.noPairs')] : []),
  ]
  const ok = reasons.length === 0
  const comparedTimes = (own: number | null, other: number | null, same: boolean) => {
    const timed = times(own, other, same && ok)
    return { ...timed, change: timed.ratio === null ? null : timed.timeB! - timed.timeA! }
  }
  const verdict = (own: UnitTime | null, other: UnitTime | null): SessionVerdict =>
    ok ? verdictOf(own, other) : 'unresolved'
  return {
    a: a.id,
    b: b.id,
    pairing,
    reasons,
    comparable: {
      ok,
      reasons: [...reasons, ...(unpaired && fused.length > 0 ? [message('guard.onlyFused')] : [])],
    },
    total: times(sum(left), sum(right), alike && ok),
    pairs: pairing.pairs
      .filter(({ a: own }) => !inFused.has(own))
      .map(({ a: own, b: other, by }) => ({
        a: own.id,
        b: other.id,
        sideA: sideOf(own),
        sideB: sideOf(other),
        by: reasonWord(by),
        ...comparedTimes(
          own.time?.ms ?? null,
          other.time?.ms ?? null,
          own.time?.clock === other.time?.clock,
        ),
        verdict: verdict(own.time, other.time),
        ...errorOf(own.time, other.time),
      })),
    fused: fused.map(({ a: from, b: to }) => ({
      from: from.map(({ id }) => id),
      to: to.map(({ id }) => id),
      sidesA: from.map(only),
      sidesB: to.map(only),
      ...comparedTimes(sum(from), sum(to), alike),
      verdict: verdict(timeOf(from), timeOf(to)),
    })),
    onlyA: pairing.onlyA.filter((unit) => !inFused.has(unit)).map(only),
    onlyB: pairing.onlyB.filter((unit) => !inFused.has(unit)).map(only),
    changes: became.map(({ kind, a: gone, b: come }) => {
      const [timeA, timeB] = [sum(gone), sum(come)]
      const isTimed = (timeA !== null || timeB !== null) && alike && ok
      return {
        kind,
        a: gone.map(({ id }) => id),
        b: come.map(({ id }) => id),
        ...times(timeA, timeB, alike && ok),
        change: isTimed ? (timeB ?? 0) - (timeA ?? 0) : null,
      }
    }),
  }
}

/**
 * Returns an imported report's warnings about missing parts. The total time of an incomplete report
 * is not the program's total time.
 */
const partsOf = ({ warnings }: Session): Statement[] =>
  warnings.filter(
    (what) => says(what, 'records.importedFirst') || says(what, 'records.importedShare'),
  )

export function compareSessions(
  a: Session,
  b: Session,
  { byHand = [] }: CompareOptions = {},
): SessionComparison {
  const known = [a, b].map(({ target }) => can(target).knowsRun)
  const areLadders = known[0]! && known[1]!
  const { refusals, warnings } = comparability(a, b)
  const otherGpu = haveOtherGpus(a, b)
    ? warnings.filter(({ key }) => key === 'guard.gpu' || key === 'guard.otherGpu')
    : []
  const {
    pairing: _pairing,
    reasons,
    ...compared
  } = compareUnits(
    { id: a.id, units: unitsOf(a) },
    { id: b.id, units: unitsOf(b) },
    {
      // Equal ids mean equal rungs only in ladders. The ids in an import only number the kernels.
      byRung: areLadders,
      byHand,
      // The rungs of a ladder are versions of one kernel, so no rung is a fusion of other rungs.
      canFuse: !known[0]! && !known[1]!,
      refusals: [...(areLadders ? refusals : []), ...otherGpu],
    },
  )
  const movesOf = movesBetween(a, b)
  const pairs = compared.pairs.map((pair) => ({ ...pair, moved: movedWords(movesOf(pair)) }))
  const measured = pairs.find(({ predictionError }) => predictionError)
  const state = measured && (measured.sideA.cacheState ?? measured.sideB.cacheState)
  const notes = [
    ...(state && state !== 'cold'
      ? [message('guard.predictedCold', { state: message(`cacheState.${state}`) })]
      : []),
    ...warnings.filter((warning) => !reasons.includes(warning)),
    ...partsOf(a).map((what) => message('guard.ofFirst', { what })),
    ...partsOf(b).map((what) => message('guard.ofSecond', { what })),
  ]
  return {
    ...compared,
    pairs,
    comparable: { ...compared.comparable, reasons: [...compared.comparable.reasons, ...notes] },
    answer:
      reasons.length > 0
        ? [...sayRefusal(reasons), ...sayFusions(compared.fused)]
        : areLadders
          ? [sayErrors(compared.pairs) ?? sayRungs(compared.pairs, movesOf)]
          : sayKernels(compared),
  }
}
