/** What the rungs of two sessions were built from. */
import { RungResult, Session, rungOf } from './session'

/** `TM=8 TN=8`; `none` for a rung without parameters. */
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
  /** `TM=8 TN=8`. */
  params: string
}

/** Returns what each rung was built from; one entry for both sessions if they built the same. */
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
