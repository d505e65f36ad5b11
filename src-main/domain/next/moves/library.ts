/** Call the vendor's library, if the ladder's reference is a faster library kernel. */
import type { Move } from '../move'
import { message } from '../../messages/message'
import { formatRatio } from '../../metrics/units'

/**
 * Minimum speedup of the library for the move to apply, because smaller gains are not worth the
 * change.
 */
const worth = 1.03

export const library: Move = {
  id: 'library',
  isLast: true,
  says: message('next.library'),
  costs: message('next.libraryCosts'),
  find({ side: { rung } }) {
    const ratio = rung.timing?.ratioToReference ?? null
    if (ratio === null || ratio <= 0 || 1 / ratio < worth) return null
    return {
      change: { replaced: ratio },
      evidence: [message('next.reference', { ratio: formatRatio(1 / ratio) })],
    }
  },
}
