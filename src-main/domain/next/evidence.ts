/** Evidence of a move as sentences: a counter with its value, and a share of the warps' time. */
import { message, type AnyMessage } from '../messages/message'
import { metricDefinition } from '../metrics/metrics'
import { formatPercent, formatValue } from '../metrics/units'
import type { WaitId } from '../why/waits'
import type { Facts } from './facts'

/** `Sectors per global load: 32.0 sectors.` for each counter that has a value. */
export const counters = (facts: Facts, ...ids: readonly string[]): AnyMessage[] =>
  ids.flatMap((id) => {
    const value = facts.value(id)
    if (value === null) return []
    const unit = metricDefinition(id)?.unit ?? 'inst'
    return [message('next.counter', { metric: { metric: id }, value: formatValue(value, unit) })]
  })

/** A share of all cycles of warps from which a wait is worth a sentence. */
const worthNaming = 0.02

/** `Warps spend 62 % of their time waiting for global or local memory.` for each wait that counts. */
export const waiting = (facts: Facts, ...ids: readonly WaitId[]): AnyMessage[] =>
  ids.flatMap((id) => {
    const share = facts.waits?.[id] ?? 0
    return share < worthNaming
      ? []
      : [
          message('next.waiting', {
            share: formatPercent(100 * share),
            what: message(`wait.${id}`),
          }),
        ]
  })

/** A share, 0 to 1, that no metric of the registry has. */
export const share = (value: number): string => formatPercent(100 * value)
