/**
 * Use the tensor cores for multiplication, or use the instructions that reach their full rate
 * (WGMMA).
 */
import type { Move } from '../move'
import { counters, share } from '../evidence'
import { message } from '../../messages/message'
import { usesWarpgroups } from '../machine-code-signs'

const idle = 0.02

export const tensorCores: Move = {
  id: 'tensor-cores',
  says: message('next.tensorCores'),
  costs: message('next.tensorCoresCosts'),
  find(facts) {
    const { busy } = facts
    const tensor = busy.tensor
    const capability = Number(facts.side.session.device?.computeCapability ?? 0)
    if (tensor === undefined || facts.boundBy !== 'operations' || capability < 8) return null
    const unused = tensor < idle && facts.tensorTypes
    const older =
      capability >= 9 && capability < 10 && tensor > 0.3 && tensor < 0.9 && !usesWarpgroups(facts)
    if (!unused && !older) return null
    // On an H100, the FMA pipe's FP32 rate is 1/16 of the dense tensor-core rate with 16-bit
    // inputs.
    return {
      change: unused
        ? {
            instructions: 1 / 40,
            work: { fma: 1 / 40, l1Data: 1 / 24, lsu: 1 / 24, issue: 1 / 40, l2: 0.25, dram: 0.6 },
          }
        : {
            instructions: 0.25,
            // mma.sync reaches 62 % of an H100's tensor-core rate with 16-bit inputs, and less with
            // 8-bit inputs.
            work: { tensor: 0.5, lsu: 0.1, l1Data: 0.8 },
            waits: { stallMathPipe: 0, stallShortScoreboard: 0.2, stallWait: 0.5 },
          },
      evidence: [
        message('next.unitBusy', { unit: message('unit.tensor'), share: share(tensor) }),
        ...counters(facts, 'fmaUtilization'),
      ],
      burden: ({ opcode, executed }) => (/^(FFMA|HFMA2|HMMA)/.test(opcode) ? (executed ?? 0) : 0),
    }
  },
}
