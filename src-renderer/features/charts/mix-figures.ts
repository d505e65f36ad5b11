/** What the threads of each rung execute, by kind, as parts of 32 lanes for each warp instruction. */
import { instructionKinds, lanes } from '../../../src-main/domain/mix-metrics'
import type { RungResult, Session } from '../../../src-main/domain/session'

/** As many as the theme has colours that are told apart; the others are small, and are added up. */
export const drawnKinds = instructionKinds.slice(0, 6)

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

export function mixFigures(session: Session): { mixes: Mix[]; without: RungResult[] } {
  const found = session.rungs.map((rung) => ({ rung, mix: mixOf(rung) }))
  return {
    mixes: found.flatMap(({ mix }) => mix ?? []),
    without: found.flatMap(({ rung, mix }) => (mix ? [] : [rung])),
  }
}

/** What is drawn in grey: kinds that are not drawn by themselves, and what has no kind. */
export const restOf = ({ kinds, none }: Mix): number =>
  instructionKinds
    .filter((id) => !drawnKinds.includes(id))
    .reduce((sum, id) => sum + (kinds[id] ?? 0), none)
