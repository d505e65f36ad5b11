/**
 * Describes the evidence for a move in sentences. Each sentence contains a counter value or a share
 * of the warps' time.
 */
import { message, type AnyMessage } from '../messages/message'
import { metricDefinition } from '../metrics/metrics'
import { formatPercent, formatValue } from '../metrics/units'
import type { WaitId } from '../why/waits'
import type { Facts } from './facts'

/**
 * Returns a sentence for each counter that has a value, such as `Sectors per global load: 32.0
 * sectors.`
 */
export const counters = (facts: Facts, ...ids: readonly string[]): AnyMessage[] =>
  ids.flatMap((id) => {
    const value = facts.value(id)
    if (value === null) return []
    const unit = metricDefinition(id)?.unit ?? 'inst'
    return [message('next.counter', { metric: { metric: id }, value: formatValue(value, unit) })]
  })

/** Minimum fraction of all warp cycles for a stall reason to be mentioned. */
const worthNaming = 0.02

/**
 * Returns a sentence for each significant stall reason, such as `Warps spend 62 % of their time
 * waiting for global or local memory.`
 */
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

/** Formats a fraction from 0 to 1 as a percentage, for values that are not registry metrics. */
export const share = (value: number): string => formatPercent(100 * value)
