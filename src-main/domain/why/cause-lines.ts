/** Finds the source lines of a cause: lines at which warps stall, or lines that do the work. */
import { z } from 'zod'
import type { Hunk } from '../analysis/chain'
import { opcodeFamily, type Instruction } from '../session/deep'
import type { Unit } from './units'
import type { Wait, WaitId } from './waits'
import type { Side } from './side'

export const CauseLine = z.object({
  file: z.string(),
  line: z.number().int().positive(),
  /** Source text; null if the profiler had no source. */
  text: z.string().nullable(),
  /** Fraction of the rung's stalls or work of this kind, 0 to 1. */
  share: z.number(),
  /** Whether the line is part of the source change; null if the change is unknown. */
  changed: z.boolean().nullable(),
})

export type CauseLine = z.infer<typeof CauseLine>

export const CauseLines = z.object({ a: z.array(CauseLine), b: z.array(CauseLine) })

export type CauseLines = z.infer<typeof CauseLines>

/** Returns how much an instruction contributes to a cause. */
export type Burden = (instruction: Instruction) => number

/** Names of the stall reasons in ncu's source counters, by stall metric. */
const sampled: Readonly<Record<WaitId, string>> = {
  stallLongScoreboard: 'long_sb',
  stallShortScoreboard: 'short_sb',
  stallMioThrottle: 'mio',
  stallLgThrottle: 'lg',
  stallBarrier: 'barrier',
  stallWait: 'wait',
  stallDispatch: 'dispatch',
}

export const waitBurden =
  (waits: readonly Wait[]): Burden =>
  ({ stalls }) =>
    waits.slice(0, 1).reduce((sum, { id }) => sum + (stalls?.[sampled[id]] ?? 0), 0)

const isArithmetic = (opcode: string): boolean =>
  /^(FFMA|FFMA2|FMUL|FADD|HFMA2|HMMA|HGMMA|IMMA|UTCHMMA)$/.test(opcodeFamily(opcode))

/** Returns an instruction's execution count, or 0 if the instruction is arithmetic. */
export const overheadBurden: Burden = ({ opcode, executed }) =>
  isArithmetic(opcode) ? 0 : (executed ?? 0)

const workBurdens: Partial<Record<Unit['id'], Burden>> = {
  issue: overheadBurden,
  lsu: ({ opcode, executed }) =>
    /^(LD|ST|RED|ATOM)/.test(opcodeFamily(opcode)) ? (executed ?? 0) : 0,
  l1Data: ({ sharedWavefronts, globalL1Requests }) =>
    (sharedWavefronts ?? 0) + (globalL1Requests ?? 0),
  l2: ({ globalL2Sectors }) => globalL2Sectors ?? 0,
  dram: ({ globalL2Sectors }) => globalL2Sectors ?? 0,
}

export const workBurden = ({ id }: Unit, conflicts: boolean): Burden | null =>
  conflicts
    ? ({ sharedWavefrontsExcess }) => sharedWavefrontsExcess ?? 0
    : (workBurdens[id] ?? null)

const mostLines = 3

/** Minimum fraction of the stalls or work at which a line is listed. */
const leastShare = 0.1

/**
 * Returns one rung's lines with the largest contributions, largest first. Empty below the deep
 * profile level.
 */
export function linesOf(
  { rung, deep }: Side,
  burden: Burden,
  changed: readonly Range[] | null,
): CauseLine[] {
  const instructions = deep?.kernels.flatMap((kernel) => kernel.instructions) ?? []
  const byLine = new Map<number, number>()
  let total = 0
  for (const instruction of instructions) {
    const borne = burden(instruction)
    total += borne
    if (instruction.file === rung.file && instruction.line !== null && borne > 0)
      byLine.set(instruction.line, (byLine.get(instruction.line) ?? 0) + borne)
  }
  const texts = new Map(
    (deep?.kernels ?? []).flatMap(({ lines }) =>
      lines.filter(({ file }) => file === rung.file).map(({ line, text }) => [line, text] as const),
    ),
  )
  return [...byLine]
    .map(([line, borne]) => ({ line, share: borne / total }))
    .filter(({ share }) => share >= leastShare)
    .sort((one, other) => other.share - one.share || one.line - other.line)
    .slice(0, mostLines)
    .map(({ line, share }) => ({
      file: rung.file,
      line,
      text: texts.get(line) ?? null,
      share,
      changed: changed && changed.some(({ from, to }) => line >= from && line <= to),
    }))
}

type Range = Hunk['a']

/**
 * Returns the two rungs' lines with the largest contributions. Returns undefined if there are no
 * source counters or no dominant line.
 */
export function linesThatBear(
  a: Side,
  b: Side,
  burden: Burden | null,
  hunks: readonly Hunk[] | null,
): CauseLines | undefined {
  if (burden === null) return undefined
  const found = {
    a: linesOf(a, burden, hunks && hunks.map((hunk) => hunk.a)),
    b: linesOf(b, burden, hunks && hunks.map((hunk) => hunk.b)),
  }
  return found.a.length + found.b.length > 0 ? found : undefined
}
