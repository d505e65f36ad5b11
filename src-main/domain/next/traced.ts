/**
 * Finds the instruction that causes a stall. A warp stalls at the instruction that uses a value,
 * but the cause is the instruction that produces the value. For each frequent stall, the search
 * follows the stalled instruction's registers backward through the control flow. The search ends at
 * the nearest instruction that writes one of these registers and matches the stall reason.
 */
import { opcodeFamily, type DeepKernel, type Instruction } from '../session/deep'
import { controlFlow } from '../sass/control-flow'
import { registersOf } from '../sass/operands'

/** ncu's stall reasons for warps that wait for a value. */
export const tracedReasons = ['long_sb', 'short_sb'] as const
export type TracedReason = (typeof tracedReasons)[number]

/**
 * Instructions that can cause each stall reason. The list follows "Warp stall reasons" in the
 * Nsight Compute documentation.
 */
const producers: Readonly<Record<TracedReason, RegExp>> = {
  long_sb: /^(LDG|LD|LDL|ATOM|ATOMG|TEX|TLD|TLD4|SULD|LDGSTS)$/,
  short_sb: /^(LDS|LDSM|ATOMS|SHFL|MUFU|S2R|S2UR|LDC|I2F|F2I|F2F|I2I|POPC|FLO|QSPC|REDUX)$/,
}

export interface Traced {
  reason: TracedReason
  /** Fraction of the kernel's samples with this stall reason at the stalled instruction, 0 to 1. */
  share: number
  waiting: Instruction
  producer: Instruction
}

function predecessorsOf(successors: readonly (readonly number[])[]): number[][] {
  const before: number[][] = successors.map(() => [])
  for (const [from, all] of successors.entries()) for (const to of all) before[to]!.push(from)
  return before
}

/**
 * Returns the instruction that produces the awaited value. Returns null if no path leads to such an
 * instruction, for example after a cp.async barrier.
 */
function producerOf(
  code: readonly Instruction[],
  before: readonly (readonly number[])[],
  at: number,
  kind: RegExp,
): Instruction | null {
  const wanted = new Set(registersOf(code[at]!.text).reads)
  const seen = new Set<number>([at])
  let front = [...before[at]!]
  while (front.length > 0) {
    const next: number[] = []
    for (const index of front) {
      if (seen.has(index)) continue
      seen.add(index)
      const { writes, guarded } = registersOf(code[index]!.text)
      const gives = writes.some((register) => wanted.has(register))
      if (gives && kind.test(opcodeFamily(code[index]!.opcode))) return code[index]!
      // An instruction of a different kind writes the register. If that instruction is predicated,
      // an earlier instruction may still be the producer.
      if (
        gives &&
        !guarded &&
        writes.every((register) => wanted.has(register)) &&
        wanted.size === 1
      )
        continue
      next.push(...before[index]!)
    }
    front = next
  }
  return null
}

/** Maximum number of stalls to trace. An unrolled loop has many similar stalls. */
const most = 8
const worthNaming = 0.02

/**
 * Returns the most frequent stalls of a kernel, each with the instruction that produces the awaited
 * value.
 */
export function tracedStalls({ instructions }: Pick<DeepKernel, 'instructions'>): Traced[] {
  const total = instructions.reduce((sum, { samples }) => sum + (samples ?? 0), 0)
  if (total === 0) return []
  const heavy = tracedReasons
    .flatMap((reason) =>
      instructions.map((waiting, at) => ({
        reason,
        at,
        waiting,
        share: (waiting.stalls?.[reason] ?? 0) / total,
      })),
    )
    .filter(({ share }) => share >= worthNaming)
    .sort((a, b) => b.share - a.share)
    .slice(0, most)
  if (heavy.length === 0) return []
  const flow = controlFlow(instructions)
  if (!flow.whole) return []
  const before = predecessorsOf(flow.successors)
  return heavy.flatMap(({ reason, at, waiting, share }) => {
    const producer = producerOf(instructions, before, at, producers[reason])
    return producer ? [{ reason, share, waiting, producer }] : []
  })
}
