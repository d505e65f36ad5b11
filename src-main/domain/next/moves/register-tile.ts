/**
 * Compute more results per thread or warp from registers, so that each loaded value is used more
 * often.
 */
import type { Move } from '../move'
import { counters, share, waiting } from '../evidence'
import { message } from '../../messages/message'

const warp = 32
/** FMAs per shared load above which loads no longer limit an FP32 matrix product. */
const enough = 24

export const registerTile: Move = {
  id: 'register-tile',
  says: message('next.registerTile'),
  costs: message('next.registerTileCosts'),
  find(facts) {
    const { value, busy } = facts
    if (facts.boundBy === 'bytes') return null
    const tensor = busy.tensor ?? 0
    const loads = value('sharedLoads')
    const ffma = value('ffmaInstructions')
    const perLoad = loads && ffma !== null ? ffma / warp / loads : null
    const reads = Math.max(busy.l1Data ?? 0, busy.lsu ?? 0)
    const onTensor = tensor > 0.02 && tensor < 0.5 && reads > 0.6
    const onFma = tensor < 0.02 && perLoad !== null && perLoad < enough
    const fromGlobal = tensor < 0.02 && loads === 0 && reads > 0.6
    if (!onTensor && !onFma && !fromGlobal) return null
    const left = onFma && perLoad! > 8 ? 0.6 : 0.25
    return {
      change: {
        instructions: onFma
          ? Math.max(0.5, 1 - (perLoad! > 8 ? 0.6 : 1.5) * memoryAround(facts.value))
          : 0.6,
        work: { l1Data: left, lsu: left, l2: onTensor ? left : 1 },
        waits: {
          stallShortScoreboard: left,
          stallMioThrottle: 0.1,
          stallLongScoreboard: left,
          stallLgThrottle: 0.1,
          stallBarrier: 0.4,
          stallDispatch: 0.4,
          stallNotSelected: 0.3,
        },
      },
      evidence: [
        ...(perLoad === null || onTensor
          ? []
          : [message('next.fmasPerLoad', { count: perLoad.toPrecision(3) })]),
        ...(busy.l1Data === undefined
          ? []
          : [
              message('next.unitBusy', { unit: message('unit.l1Data'), share: share(busy.l1Data) }),
            ]),
        ...waiting(facts, 'stallMioThrottle', 'stallShortScoreboard', 'stallLongScoreboard'),
        ...counters(facts, 'sharedLoads', 'registersPerThread'),
      ],
      burden: ({ opcode, executed }) => (/^(LDS|LDG)/.test(opcode) ? (executed ?? 0) : 0),
    }
  },
}

/** Returns half the fraction of instructions that are not FMAs. */
const memoryAround = (value: (id: string) => number | null): number =>
  Math.max(0, 1 - (value('ffmaShare') ?? 100) / 100) / 2
