/** Lists the sources and parameters of the rungs in two sessions. */
import { RungResult, Session, rungOf } from './session'

/** Formats a rung's parameters, such as `TM=8 TN=8`. Returns `none` if there are no parameters. */
export const paramWords = ({ params }: RungResult): string =>
  Object.entries(params)
    .map(([name, value]) => `${name}=${value}`)
    .sort()
    .join(' ') || 'none'

interface RungOrigin {
  id: string
  which: 'both' | 'first' | 'second'
  file: string
  sourceHash: string
  /** Parameters as text, such as `TM=8 TN=8`. */
  params: string
}

/**
 * Returns the source and parameters of each rung. A rung with the same origin in both sessions has
 * one entry.
 */
export function rungOrigins(a: Session, b: Session): RungOrigin[] {
  const origin = (rung: RungResult, which: RungOrigin['which']): RungOrigin => {
    const { id, file, sourceHash } = rung
    return { id, which, file, sourceHash, params: paramWords(rung) }
  }
  const shared = a.rungs.flatMap((left): RungOrigin[] => {
    const right = rungOf(b, left.id)
    if (!right) return [origin(left, 'first')]
    const same =
      left.sourceHash === right.sourceHash &&
      left.file === right.file &&
      paramWords(left) === paramWords(right)
    return same ? [origin(left, 'both')] : [origin(left, 'first'), origin(right, 'second')]
  })
  return [
    ...shared,
    ...b.rungs.filter(({ id }) => !rungOf(a, id)).map((right) => origin(right, 'second')),
  ]
}
