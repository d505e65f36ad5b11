/**
 * Use persistent blocks: one resident block per SM processes many tiles. The next tile starts while
 * the results of the previous tile are stored.
 */
import type { Move } from '../move'
import { counters, share } from '../evidence'
import { message } from '../../messages/message'

export const persistent: Move = {
  id: 'persistent',
  says: message('next.persistent'),
  costs: message('next.persistentCosts'),
  find(facts) {
    const { busy, waits } = facts
    const waves = facts.value('wavesPerSm')
    if (waits === null || waves === null || waves <= 1.01) return null
    const onTensor = (busy.tensor ?? 0) > 0.3
    const streams =
      facts.boundBy === 'bytes' &&
      (facts.value('sharedLoads') ?? 0) > 0 &&
      waits.stallBarrier > 0.15
    if (!onTensor && !streams) return null
    const whole = waves / Math.ceil(waves)
    return {
      change: {
        spread: 1,
        work: { l2: 0.8 },
        waits: {
          stallLongScoreboard: 0.4,
          stallBarrier: 0.6,
          stallShortScoreboard: 0.6,
          stallMioThrottle: 0.6,
          stallWait: 0.8,
        },
      },
      evidence: [
        ...counters(facts, 'wavesPerSm', onTensor ? 'tensorUtilization' : 'dramUtilization'),
        ...(whole < 0.98 ? [message('next.lastWave', { share: share(whole) })] : []),
      ],
    }
  },
}
