/**
 * Finds counters that changed without affecting the time, because their unit limits neither side.
 */
import { z } from 'zod'
import { units, unitOf, type Unit } from './units'
import { compareRungs, type MetricDelta } from '../analysis/compare'
import { message, Statement, type AnyMessage } from '../messages/message'
import { formatPercent, formatValue } from '../metrics/units'
import { waitIds } from './waits'
import type { Split } from './parts'
import { valueOf, type Side } from './side'

export const Unimportant = z.object({
  /** Metric id in the registry. */
  id: z.string(),
  a: z.number(),
  b: z.number(),
  statement: Statement,
})

export type Unimportant = z.infer<typeof Unimportant>

const most = 5

const factor = ({ ratio }: MetricDelta): number =>
  ratio === null || ratio <= 0 ? Infinity : Math.abs(Math.log(ratio))

const isWait = (id: string): boolean => waitIds.some((wait) => wait === id)

const moved = ({ id, a, b, unit }: MetricDelta) => ({
  metric: { metric: id },
  a: formatValue(a!.value!, unit),
  b: formatValue(b!.value!, unit),
})

/**
 * Returns the counters that changed without affecting the time. For a faster step, returns counters
 * that got worse. For a slower step, returns counters that got better. For equal times, returns
 * counters that got worse or better.
 */
export function unimportantMoves(
  a: Side,
  b: Side,
  direction: 'faster' | 'slower' | 'same',
  split: Split | null,
  named: ReadonlySet<string>,
): Unimportant[] {
  const limiting = new Set(
    [split?.unit, split?.limits.a?.unit, split?.limits.b?.unit].flatMap((unit) => unit ?? []),
  )
  const wanted =
    direction === 'same' ? ['better', 'worse'] : direction === 'slower' ? ['better'] : ['worse']
  return compareRungs(a, b)
    .metrics.filter(({ id, verdict }) => wanted.includes(verdict) && !named.has(id))
    .sort((one, other) => factor(other) - factor(one))
    .flatMap((delta): Unimportant[] => {
      const statement = reasonOf(a, b, delta, limiting, split?.unit)
      return statement ? [{ id: delta.id, a: delta.a!.value!, b: delta.b!.value!, statement }] : []
    })
    .slice(0, most)
}

/**
 * Components of the FMA pipe's utilization. The list omits instruction categories, because
 * `instructions` already includes them.
 */
const partsOfFma = ['instructions', 'issueSlotsBusy']

function reasonOf(
  a: Side,
  b: Side,
  delta: MetricDelta,
  limiting: ReadonlySet<Unit>,
  explained: Unit | undefined,
): AnyMessage | null {
  const values = moved(delta)
  if (isWait(delta.id)) return explained ? message('why.otherWait', values) : null
  const unit = unitOf(delta.id)
  if (unit === units.issue && explained === units.fma)
    return partsOfFma.includes(delta.id) ? message('why.outweighed', values) : null
  if (!unit || limiting.has(unit)) return null
  if (unit.busy === delta.id) return message('why.notLimitingItself', values)
  const busy = [valueOf(a, unit.busy), valueOf(b, unit.busy)]
  if (busy[0] === null || busy[1] === null) return null
  return message('why.notLimiting', {
    ...values,
    unit: message(`unitWithin.${unit.id}`),
    busyA: formatPercent(busy[0]!),
    busyB: formatPercent(busy[1]!),
  })
}
