/** What the threads of a rung execute, by kind, as parts of 32 lanes for each warp instruction. Pure. */
import { instructionKinds, lanes } from '../metrics/mix-metrics'
import type { RungResult } from '../session/session'

export interface Mix {
  rung: RungResult
  /** Thread instructions by kind. */
  kinds: Readonly<Record<string, number>>
  /** Lanes switched off, and instructions of no kind. */
  none: number
  /** 32 lanes for each warp instruction. */
  whole: number
}

/** Null where a kind or the number of instructions is not known: without one the parts are not the whole. */
export function mixOf(rung: RungResult): Mix | null {
  const value = (id: string): number | null => rung.metrics[id]?.value ?? null
  const counted = instructionKinds.map((id) => [id, value(id)] as const)
  const instructions = value('instructions')
  if (instructions === null || instructions <= 0) return null
  if (!counted.every((entry): entry is readonly [string, number] => entry[1] !== null)) return null
  const whole = lanes * instructions
  const sum = counted.reduce((so, [, count]) => so + count, 0)
  // Instructions that wait in a loop differ between the passes in which the two are counted.
  return { rung, kinds: Object.fromEntries(counted), none: Math.max(0, whole - sum), whole }
}
