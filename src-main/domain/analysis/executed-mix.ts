/**
 * The instruction mix of a rung's threads: shares of each category, relative to 32 lanes per warp
 * instruction.
 */
import type { RungResult } from '../session/session'
import { instructionKinds, lanes } from '../metrics/instruction-mix-metrics'

export interface Mix {
  rung: RungResult
  /** Thread instructions by category. */
  kinds: Readonly<Record<string, number>>
  /** Inactive lanes plus instructions without a category. */
  none: number
  /** Number of warp instructions times 32 lanes. */
  whole: number
}

/**
 * Returns the instruction mix. Returns null if a category or the number of instructions is unknown,
 * because the parts would not add up.
 */
export function mixOf(rung: RungResult): Mix | null {
  const value = (id: string): number | null => rung.metrics[id]?.value ?? null
  const counted = instructionKinds.map((id) => [id, value(id)] as const)
  const instructions = value('instructions')
  if (instructions === null || instructions <= 0) return null
  if (!counted.every((entry): entry is readonly [string, number] => entry[1] !== null)) return null
  const whole = lanes * instructions
  const sum = counted.reduce((so, [, count]) => so + count, 0)
  // Spin loops execute different numbers of instructions in the two profiling passes, so `sum` can
  // exceed `whole`.
  return { rung, kinds: Object.fromEntries(counted), none: Math.max(0, whole - sum), whole }
}
