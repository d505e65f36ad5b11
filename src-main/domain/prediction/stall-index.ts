/** Index of each stall reason in the simulator's tables. */
import { stallReasons, type StallReason } from './prediction'

export const reasonCount = stallReasons.length

export const reasonAt = Object.fromEntries(
  stallReasons.map((name, index) => [name, index]),
) as Record<StallReason, number>
