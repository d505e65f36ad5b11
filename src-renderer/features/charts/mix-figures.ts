/** The instruction mix as it is drawn: the kinds that have a colour, and the rest. */
import { mixOf, type Mix } from '../../../src-main/domain/analysis/instruction-mix'
import { instructionKinds } from '../../../src-main/domain/metrics/mix-metrics'
import type { RungResult, Session } from '../../../src-main/domain/session/session'

/** As many as the theme has colours that are told apart; the others are small, and are added up. */
export const drawnKinds = instructionKinds.slice(0, 6)

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
