/**
 * Split the sum of each result among blocks or warps, if there are too few results to fill the SMs.
 */
import type { Move } from '../move'
import { counters, share } from '../evidence'
import { message } from '../../messages/message'

const idle = 0.9

export const splitK: Move = {
  id: 'split-k',
  says: message('next.splitK'),
  costs: message('next.splitKCosts'),
  find(facts) {
    const waves = facts.value('wavesPerSm') ?? 1
    if (facts.boundBy !== 'operations' || facts.spread > idle || waves > 1) return null
    return {
      change: { spread: 1 },
      evidence: [
        message('next.spread', { share: share(facts.spread) }),
        ...counters(facts, 'wavesPerSm'),
      ],
    }
  },
}
