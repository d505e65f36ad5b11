import { describe, expect, it } from 'vitest'
import { assets } from '../../../src-main/adapters/catalog/assets'
import { localMachine } from '../../../src-main/adapters/machine/local-machine'
import { instructionKind } from '../../../src-main/domain/emulation/instruction-kinds'
import { instructionKinds } from '../../../src-main/domain/metrics/instruction-mix-metrics'
import { opcodeFamily, type DeepProfile } from '../../../src-main/domain/session/deep'
import { openSession } from '../../../src-main/services/sessions/open-session'

/**
 * Returns each category's minimum and maximum count. ncu's totals include only threads whose
 * predicate is true. ncu's per-instruction counts include all threads.
 */
function boundsOf({ kernels }: DeepProfile): Map<string, [number, number]> {
  const bounds = new Map(instructionKinds.map((kind) => [kind, [0, 0] as [number, number]]))
  for (const { text, opcode, threadExecuted } of kernels.flatMap((kernel) => kernel.instructions)) {
    if (!threadExecuted) continue
    const kind = instructionKind(opcodeFamily(opcode))
    if (kind === undefined) throw new Error(`${opcode} has no category`)
    if (kind === null) continue
    const bound = bounds.get(kind)!
    if (!text.trimStart().startsWith('@')) bound[0] += threadExecuted
    bound[1] += threadExecuted
  }
  return bounds
}

/** Rungs in which warps wait in loops. The number of iterations differs between ncu's passes. */
const spins = new Set(
  ['00_cudnn', '06_ping_pong', '58_persistent', '58_overlapped_epilogue'].concat(
    ...['76_multicast_nt', '78_staggered_nt', '80_overlapped_epilogue_nt'],
  ),
)

async function agrees(recording: string): Promise<void> {
  const places = { assets: await assets(), machine: localMachine() }
  const { session, deep } = await openSession(places, `recorded:${recording}`)
  let compared = 0
  for (const { id, metrics } of session.rungs) {
    const profile = await deep(id)
    if (!profile || spins.has(id) || profile.kernels.every((one) => !one.instructions.length))
      continue
    for (const [kind, [least, most]] of boundsOf(profile)) {
      const counted = metrics[kind]?.value
      if (counted == null) continue
      const tolerance = 32 + 2e-4 * counted
      expect(counted, `${id} ${kind}`).toBeGreaterThanOrEqual(least - tolerance)
      expect(counted, `${id} ${kind}`).toBeLessThanOrEqual(most + tolerance)
      compared++
    }
  }
  expect(compared).toBeGreaterThan(8)
}

const recordings = ['gemm-fp32-h200-4096-deep', 'transpose-h200-8191x4097-deep']
const more = [
  ...['attention-h200-deep', 'gemm-bf16-h200-4096-deep', 'gemm-fp8-h200-4096-deep'],
  ...['gemm-tensor-h200-4096-deep', 'reduction-h200-deep', 'softmax-h200-deep'],
  'transpose-h200-deep',
]

describe('the instruction categories add up to the counts from an H200', () => {
  it.each(recordings)('in %s', agrees)
  it.each(more)('in %s', { tags: ['thorough'] }, agrees)
})
