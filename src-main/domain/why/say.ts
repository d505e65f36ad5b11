/**
 * Describes a part of the time ratio (see ./parts) as a cause: a sentence, figures and source
 * lines.
 */
import { type Unit, overheadKinds, unitOf, units } from './units'
import {
  type Wait,
  cardFeedsThatMoved,
  feedsThatMoved,
  hasWaits,
  movesOf,
  overlapThatMoved,
  waitsThatMoved,
  workThatMoved,
  type Move,
} from './waits'
import { message, type AnyMessage, type MessageValue } from '../messages/message'
import { metricDefinition } from '../metrics/metrics'
import { formatPercent, formatRatio, formatValue, withDecimals } from '../metrics/units'
import type { Part, Split } from './parts'
import { waitBurden, overheadBurden, workBurden, type Burden } from './cause-lines'
import {
  activeCycles,
  clock,
  gridOf,
  kernelCount,
  smCount,
  timesOf,
  valueOf,
  type Side,
} from './side'

interface CauseMetric {
  id: string
  a: number | null
  b: number | null
}

interface SaidPart {
  statement: AnyMessage
  metrics: CauseMetric[]
  burden: Burden | null
  /** Whether the source lines are the lines at which warps stall. */
  isWait?: boolean
}

/** Returns the unit's name for the start of a sentence. */
const unitWord = ({ id }: Unit): AnyMessage => message(`unit.${id}`)
const unitWithin = ({ id }: Unit): AnyMessage => message(`unitWithin.${id}`)

const both = (a: Side, b: Side, id: string): CauseMetric => ({
  id,
  a: valueOf(a, id),
  b: valueOf(b, id),
})

const figure = (id: string, value: number): string =>
  formatValue(value, metricDefinition(id)?.unit ?? 'inst')

const moved = ({ id, a, b }: Move): AnyMessage =>
  message('why.moved', { metric: { metric: id }, a: figure(id, a), b: figure(id, b) })

const withMoves = (moves: readonly Move[]): MessageValue =>
  moves.length === 0 ? '' : message('why.with', { moves: moves.map(moved) })

/** Formats the factor by which one part changes the time. */
const factorOf = (log: number): string => {
  const factor = Math.exp(Math.abs(log))
  return factor < fineBelow ? `${factor.toFixed(3)}×` : formatRatio(factor)
}

/** Limit below which a factor is printed with an additional digit. */
const fineBelow = 1.1

const percent = (value: number | null): string => (value === null ? '–' : formatPercent(value))

/** Returns a cause without counters or source lines. */
const bare = (statement: AnyMessage): SaidPart => ({ statement, metrics: [], burden: null })

export function sayPart(part: Part, split: Split, a: Side, b: Side): SaidPart {
  switch (part.id) {
    case 'work':
      return sayWork(part, split, a, b)
    case 'instructions':
      return sayInstructions(part, split, a, b)
    case 'busy':
      return sayBusy(part, split, a, b)
    case 'sms':
      return saySms(a, b)
    case 'clock':
      return sayClock(part, a, b)
    case 'launches':
      return bare(message('why.launches', { a: kernelCount(a), b: kernelCount(b) }))
    case 'active':
      return sayActive(part, a, b)
  }
}

/**
 * Counters that determine energy use, in order of influence: DRAM bytes, L2 bytes, instructions. If
 * the power cap limits the clock, a kernel with lower counts runs at a higher clock.
 */
const spent = ['dramBytes', 'l2Bytes', 'instructions']

const atPowerCap = ({ rung }: Side): boolean =>
  rung.timing?.gpu?.heldDownBy?.includes('powerCap') ?? false

/**
 * Returns the energy counters that changed. Returns null unless the power cap limited the clock on
 * both sides.
 */
const spentAtCap = ({ log }: Part, a: Side, b: Side): Move[] | null =>
  atPowerCap(a) && atPowerCap(b) ? movesOf(a, b, spent, log > 0).slice(0, 2) : null

function sayClock(part: Part, a: Side, b: Side): SaidPart {
  const clocks = { a: megahertz(clock(a)), b: megahertz(clock(b)) }
  const moves = spentAtCap(part, a, b)
  if (moves === null) return bare(message('why.clock', clocks))
  const statement = message('why.clockAtLimit', { ...clocks, moves: withMoves(moves) })
  return { statement, metrics: moves, burden: null }
}

/**
 * Describes a change in active cycles. If the clock is known, shows the cycles as a percentage of
 * the clock, which is more precise than their rate.
 */
function sayActive(part: Part, a: Side, b: Side): SaidPart {
  const [left, right] = [rate(a, 'a', a, b), rate(b, 'b', a, b)]
  const [clockA, clockB] = [clock(a), clock(b)]
  if (left === null || right === null || clockA === null || clockB === null)
    return bare(message('why.activeRate', { a: megahertz(left), b: megahertz(right) }))
  const share = (active: number, of: number): string => `${((100 * active) / of).toPrecision(3)} %`
  const shares = { a: share(left, clockA), b: share(right, clockB) }
  const moves = spentAtCap(part, a, b)
  if (moves === null) return bare(message('why.active', shares))
  const statement = message('why.activeAtLimit', { ...shares, moves: withMoves(moves) })
  return { statement, metrics: moves, burden: null }
}

const megahertz = (value: number | null): string =>
  value === null ? '–' : formatValue(value, 'MHz')

/** Returns the active cycles per microsecond, averaged over the SMs. */
function rate(side: Side, which: 'a' | 'b', a: Side, b: Side): number | null {
  const [cycles, times] = [activeCycles(side), timesOf(a, b)]
  return cycles === null || times === null ? null : cycles / (times[which] * 1e3)
}

function sayWork(part: Part, { unit, limits, total }: Split, a: Side, b: Side): SaidPart {
  const less = part.log > 0
  const moves = workThatMoved(a, b, unit, less)
  const [from, to] = total > 0 ? [limits.a, limits.b] : [limits.b, limits.a]
  const values = { unit: unitWord(unit), factor: factorOf(part.own), moves: withMoves(moves) }
  const conflicts = moves.some(({ id }) => /BankConflicts$/.test(id))
  const next = to && to.unit !== unit ? to : null
  const statement = (): AnyMessage => {
    if (from === null) return message(less ? 'why.lessOwnWork' : 'why.moreOwnWork', values)
    const limit = { ...values, busy: formatPercent(from.busy) }
    if (!less) return message('why.moreWork', limit)
    if (total > 0 && next)
      return message('why.lessWorkMoved', {
        ...limit,
        next: unitWithin(next.unit),
        nextBusy: formatPercent(next.busy),
      })
    return message(total > 0 && to === null ? 'why.lessWorkElsewhere' : 'why.lessWork', limit)
  }
  return {
    statement: statement(),
    metrics: [
      both(a, b, unit.busy),
      ...moves,
      ...(total > 0 && less && next ? [both(a, b, next.unit.busy)] : []),
    ],
    burden: workBurden(unit, conflicts),
  }
}

function sayInstructions(part: Part, { unit }: Split, a: Side, b: Side): SaidPart {
  const fewer = part.log > 0
  const kinds = movesOf(a, b, overheadKinds, fewer)
    .sort((one, other) => Math.abs(other.a - other.b) - Math.abs(one.a - one.b))
    .slice(0, 2)
  const count = both(a, b, 'instructions')
  const [busyA, busyB] = [valueOf(a, unit.busy), valueOf(b, unit.busy)]
  return {
    statement: message(fewer ? 'why.fewerInstructions' : 'why.moreInstructions', {
      a: figure('instructions', count.a ?? 0),
      b: figure('instructions', count.b ?? 0),
      unit: unitWithin(unit),
      busyA: percent(busyA),
      busyB: percent(busyB),
      moves: withMoves(kinds),
    }),
    metrics: [count, both(a, b, unit.busy), ...kinds],
    burden: overheadBurden,
  }
}

const waitsSaid = (waits: readonly Wait[], less: boolean): AnyMessage[] =>
  waits.length === 0
    ? []
    : [
        message(less ? 'why.waitLess' : 'why.waitMore', {
          waits: waits.map(({ id, a, b }) =>
            message('why.waited', {
              what: message(`wait.${id}`),
              a: perInstruction(a),
              b: perInstruction(b),
            }),
          ),
        }),
      ]

const perInstruction = (warps: number): string => withDecimals(warps, warps < 10 ? 2 : 1)

/**
 * Formats a utilization change as a factor. If another cause explains part of the change, shows the
 * factors of the whole change and of this part, so that the displayed figures are consistent.
 */
function countedFactor({ log }: Part, a: number | null, b: number | null): string | AnyMessage {
  const whole = a && b ? Math.log(b / a) : log
  return Math.abs(whole - log) < 0.03
    ? factorOf(log)
    : message('why.counted', { whole: factorOf(whole), factor: factorOf(log) })
}

function sayBusy(part: Part, split: Split, a: Side, b: Side): SaidPart {
  const { unit, limits, total } = split
  const busier = part.log > 0
  const reasons = reasonsOf(part, split, a, b)
  // A load continues while its warp stalls. Stalls therefore leave a memory unit idle only if no
  // unit is at its limit.
  const waited = unit.of === 'active' || (total > 0 ? limits.a : limits.b) === null
  const waits = waited ? waitsThatMoved(a, b, busier) : []
  const feeds =
    waits.length > 0
      ? feedsThatMoved(a, b, waits, busier)
      : unit.of === 'elapsed'
        ? overlapThatMoved(a, b, unit, busier)
        : hasWaits(a) && hasWaits(b) && reasons.length > 0
          ? []
          : cardFeedsThatMoved(a, b, busier)
  const all = [...reasons.map(({ statement }) => statement), ...waitsSaid(waits, busier)]
  return {
    statement: message(
      unit.of === 'active'
        ? busier
          ? 'why.busierActive'
          : 'why.lessBusyActive'
        : busier
          ? 'why.busier'
          : 'why.lessBusy',
      {
        unit: unitWord(unit),
        a: percent(valueOf(a, unit.busy)),
        b: percent(valueOf(b, unit.busy)),
        factor: countedFactor(part, valueOf(a, unit.busy), valueOf(b, unit.busy)),
        reasons: becauseOf(all, feeds),
      },
    ),
    metrics: [
      both(a, b, unit.busy),
      ...reasons.flatMap(({ metrics }) => metrics),
      ...waits,
      ...feeds,
    ],
    burden: waits.length > 0 ? waitBurden(waits) : workBurden(unit, false),
    isWait: waits.length > 0,
  }
}

/**
 * Minimum change in occupancy that is reported as a cause. If the theoretical occupancy is equal on
 * both sides, changes below this value only reflect the start and end of blocks.
 */
const noticeable = 0.05
const canHoldOthers = (a: Side, b: Side): boolean =>
  valueOf(a, 'theoreticalOccupancy') !== valueOf(b, 'theoreticalOccupancy')

/**
 * Returns reasons other than stalls for a change in utilization: more warps, fewer kernels, or a
 * single wave of blocks.
 */
function reasonsOf(
  part: Part,
  { unit }: Split,
  a: Side,
  b: Side,
): { statement: AnyMessage; metrics: CauseMetric[] }[] {
  const busier = part.log > 0
  // Tensor instructions and loads continue while their warp stalls. More warps therefore do not
  // keep the tensor cores or the memory units busier.
  const issues = unit === units.fma || unit === units.issue
  // Without stall counters, unknown stalls may be more important than the number of warps.
  const warps =
    issues && hasWaits(a) && hasWaits(b) ? movesOf(a, b, ['achievedOccupancy'], !busier, 0) : []
  const byWarps = warps.filter((move) => {
    const change = Math.abs(Math.log(move.b / move.a))
    return change >= Math.abs(part.own) / 2 && (change >= noticeable || canHoldOthers(a, b))
  })
  const [before, after] = [kernelCount(a), kernelCount(b)]
  const byKernels = before > 0 && after > 0 && (before - after) * part.log > 0
  const waves = both(a, b, 'wavesPerSm')
  const oneWave =
    !issues && busier && waves.a !== null && waves.b !== null && waves.a > 1 && waves.b <= 1
  return [
    ...byWarps.map((move) => ({ statement: moved(move), metrics: [move] })),
    ...(byKernels
      ? [{ statement: message('why.kernels', { a: before, b: after }), metrics: [] }]
      : []),
    ...(oneWave
      ? [
          {
            statement: message('why.oneWave', { a: figure('wavesPerSm', waves.a!) }),
            metrics: [waves],
          },
        ]
      : []),
  ]
}

const becauseOf = (reasons: readonly AnyMessage[], moves: readonly Move[]): MessageValue => {
  if (reasons.length === 0) return withMoves(moves)
  return moves.length === 0
    ? message('why.because', { reasons })
    : message('why.becauseWith', { reasons, moves: moves.map(moved) })
}

function saySms(a: Side, b: Side): SaidPart {
  const [left, right] = [gridOf(a), gridOf(b)]
  return {
    statement: message('why.blocks', {
      a: left?.blocks ?? '–',
      b: right?.blocks ?? '–',
      sms: smCount(b) ?? '–',
      shareA: percent(left && 100 * left.share),
      shareB: percent(right && 100 * right.share),
    }),
    metrics: [both(a, b, 'wavesPerSm')],
    burden: null,
  }
}

/** Returns the ids of the counters in a cause, and of all counters of the same units. */
export const namedBy = (metrics: readonly CauseMetric[]): string[] =>
  metrics.map(({ id }) => id).filter((id) => unitOf(id) !== undefined || id.startsWith('stall'))
