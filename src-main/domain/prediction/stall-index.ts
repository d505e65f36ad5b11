/** Indices of the stall reasons in the tables of a simulation. */
import { stallReasons, type StallReason } from './prediction'

export const reasonCount = stallReasons.length

export const reasonAt = Object.fromEntries(
  stallReasons.map((name, index) => [name, index]),
) as Record<StallReason, number>
