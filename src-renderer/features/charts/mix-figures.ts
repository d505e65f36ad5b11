/**
 * Data for the instruction-mix chart: the instruction kinds that have a color, and the sum of the
 * other kinds.
 */
import { instructionKinds } from '../../../src-main/domain/metrics/instruction-mix-metrics'
import type { RungResult, Session } from '../../../src-main/domain/session/session'
import { mixOf, type Mix } from '../../../src-main/domain/analysis/executed-mix'

/**
 * The instruction kinds that get their own color. The theme has no distinguishable colors for the
 * other kinds, which are small and are summed.
 */
export const drawnKinds = instructionKinds.slice(0, 6)

export function mixFigures(session: Session): { mixes: Mix[]; without: RungResult[] } {
  const found = session.rungs.map((rung) => ({ rung, mix: mixOf(rung) }))
  return {
    mixes: found.flatMap(({ mix }) => mix ?? []),
    without: found.flatMap(({ rung, mix }) => (mix ? [] : [rung])),
  }
}

/** Returns the size of the gray part: kinds without a color and instructions without a kind. */
export const restOf = ({ kinds, none }: Mix): number =>
  instructionKinds
    .filter((id) => !drawnKinds.includes(id))
    .reduce((sum, id) => sum + (kinds[id] ?? 0), none)
