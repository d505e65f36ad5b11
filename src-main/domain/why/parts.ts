/**
 * Splits the ratio of two times into parts, one for each possible cause. For any unit of the GPU:
 *
 *   time = work / (the unit's peak rate × its utilization × the rate of active cycles)
 *
 * The logarithm of the ratio of two times is therefore the sum of the log ratios of these factors.
 * The chosen unit is the unit that limits the slower side. If the FMA pipe does the work, its
 * utilization has two factors: instructions issued per cycle, and the useful fraction of these
 * instructions.
 *
 * If a change saves work, the unit may also become less busy. For example, saved instructions free
 * issue slots that may remain empty. The two opposite parts are then treated as one change, so the
 * smaller part is added to the larger part.
 */
import { limiterOf, ownUnit, type Load, units, type Unit } from './units'
import { activeCycles, clock, gridOf, kernelCount, positive, type Side, type Times } from './side'

/**
 * Ids of the parts. `work`: the amount of work that the unit does. `instructions`: the instructions
 * in addition to a pipe's unchanged work. `busy`: the unit's utilization. `sms`: the fraction of
 * SMs that have a block. `clock`: the SM clock. `launches`: the number of kernels. `active`: active
 * cycles per second, if `sms`, `clock` and `launches` do not explain their change.
 */
export const partIds = [
  'work',
  'instructions',
  'busy',
  'sms',
  'clock',
  'launches',
  'active',
] as const
type PartId = (typeof partIds)[number]

export interface Part {
  id: PartId
  /**
   * Natural logarithm of the factor by which the part divides the time of `a` to get the time of
   * `b`. Positive if the part makes `b` faster.
   */
  log: number
  /**
   * The value of `log` before an opposite part was added to this part. This value describes only
   * the change in the part's own quantity.
   */
  own: number
}

type Factor = Omit<Part, 'own'>

export interface Split {
  /** The unit whose factors explain the step. */
  unit: Unit
  limits: { a: Load | null; b: Load | null }
  /** Natural logarithm of the time of `a` divided by the time of `b`. */
  total: number
  parts: Part[]
}

const ln = (over: number | null, under: number | null): number =>
  over === null || under === null ? 0 : Math.log(over / under)

/**
 * Resolution of clock readings, as a fraction of the clock. Clocks are read before and after
 * timing, in steps of 15 MHz.
 */
const clockStep = 0.005

/**
 * Minimum change in the fraction of time during which an SM has a resident block. A change below
 * this minimum is treated as zero.
 */
const sameSpread = 0.02

export function splitOf(a: Side, b: Side, times: Times): Split | null {
  const total = Math.log(times.a / times.b)
  const limits = { a: limiterOf(a), b: limiterOf(b) }
  const slower = total > 0 ? a : b
  const unit = (total > 0 ? limits.a : limits.b)?.unit ?? ownUnit(slower)
  const busy = ln(positive(b, unit.busy), positive(a, unit.busy))
  if (positive(a, unit.busy) === null || positive(b, unit.busy) === null) return null
  const parts =
    unit.of === 'active'
      ? activeParts(unit, busy, total, times, a, b)
      : elapsedParts(unit, busy, total, a, b)
  return { unit, limits, total, parts: netted(parts) }
}

function activeParts(
  unit: Unit,
  busy: number,
  total: number,
  times: Times,
  a: Side,
  b: Side,
): Factor[] {
  const cycles = ln(activeCycles(a), activeCycles(b))
  const known = activeCycles(a) !== null && activeCycles(b) !== null
  const spread = ln(gridOf(b)?.share ?? null, gridOf(a)?.share ?? null)
  const clocks = clockChange(a, b)
  if (!known)
    return [
      { id: 'busy', log: busy },
      { id: 'sms', log: Math.abs(spread) < sameSpread ? 0 : spread },
      { id: 'clock', log: clocks },
    ]
  // Cycles are averaged over all SMs, but work is summed over all SMs.
  const work = cycles - busy
  const rate = total - cycles
  const issued = ln(positive(b, 'issueSlotsBusy'), positive(a, 'issueSlotsBusy'))
  const own: Factor[] =
    unit === units.fma
      ? [
          { id: 'work', log: work },
          { id: 'instructions', log: busy - issued },
          { id: 'busy', log: issued },
        ]
      : [
          { id: unit === units.issue ? 'instructions' : 'work', log: work },
          { id: 'busy', log: busy },
        ]
  const reason = isPossible(a, times.a) && isPossible(b, times.b)
  return [...own, ...(reason ? [{ id: rateReason(rate, spread, clocks, a, b), log: rate }] : [])]
}

/**
 * Tolerance factor for cycle counts, because clocks are read in steps and counters are collected in
 * several passes.
 */
const slack = 1.02

/**
 * Returns whether the profiled launch took at most as many cycles as the timed launch. If it took
 * more cycles than the timed launch, the two launches are not comparable.
 */
function isPossible(side: Side, ms: number): boolean {
  const [cycles, mhz] = [activeCycles(side), clock(side)]
  return cycles === null || mhz === null || cycles <= slack * mhz * ms * 1e3
}

/**
 * Returns the main reason that SMs had more or fewer active cycles per second. Counters show only
 * the combined effect of all possible reasons.
 */
function rateReason(rate: number, spread: number, clocks: number, a: Side, b: Side): PartId {
  const explains = (log: number): boolean => log * rate > 0 && Math.abs(log) >= Math.abs(rate) / 2
  if (Math.abs(spread) >= sameSpread && explains(spread)) return 'sms'
  if (explains(clocks)) return 'clock'
  const kernels = ln(kernelCount(a) || null, kernelCount(b) || null)
  return kernels * rate > 0 ? 'launches' : 'active'
}

function elapsedParts(unit: Unit, busy: number, total: number, a: Side, b: Side): Factor[] {
  const spread = ln(gridOf(b)?.share ?? null, gridOf(a)?.share ?? null)
  // An SM without a block sends no requests. Utilization over the whole launch includes the idle
  // SMs.
  const sms = Math.abs(spread) >= sameSpread && spread * busy > 0 ? toward(busy, spread) : 0
  if (unit === units.dram) {
    const work = ln(positive(a, 'dramBytes'), positive(b, 'dramBytes'))
    const kernels = ln(kernelCount(a) || null, kernelCount(b) || null)
    const rest = total - work - busy
    return [
      { id: 'work', log: work },
      { id: 'busy', log: busy - sms },
      { id: 'sms', log: sms },
      { id: 'launches', log: kernels * rest > 0 ? rest : 0 },
    ]
  }
  const clocks = unit === units.l1Data ? clockChange(a, b) : 0
  return [
    { id: 'work', log: total - busy - clocks },
    { id: 'busy', log: busy - sms },
    { id: 'sms', log: sms },
    { id: 'clock', log: clocks },
  ]
}

const toward = (limit: number, log: number): number =>
  Math.sign(log) * Math.min(Math.abs(log), Math.abs(limit))

function clockChange(a: Side, b: Side): number {
  const change = ln(clock(b), clock(a))
  return Math.abs(change) < clockStep ? 0 : change
}

/** Pairs of parts that are treated as one change if they have opposite signs. */
const pairs: readonly (readonly [PartId, PartId])[] = [
  ['instructions', 'busy'],
  ['work', 'busy'],
]

function netted(factors: readonly Factor[]): Part[] {
  const logs = new Map(factors.map(({ id, log }) => [id, log]))
  for (const [one, other] of pairs) {
    const [left, right] = [logs.get(one) ?? 0, logs.get(other) ?? 0]
    if (left * right >= 0) continue
    const [kept, gone] = Math.abs(left) >= Math.abs(right) ? [one, other] : [other, one]
    logs.set(kept, left + right)
    logs.set(gone, 0)
  }
  return factors.map(({ id, log: own }) => ({ id, own, log: logs.get(id)! }))
}
