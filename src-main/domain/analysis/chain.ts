/**
 * Links a source change to the time that it saved, as far as the measurements support the link.
 *
 * The chain starts with a hunk's lines and the instructions executed on these lines, by opcode. The
 * chain continues with the counters that these instructions affect, and ends with the time. The
 * link from opcode to counter is hardware knowledge, not a measurement. A counter covers the whole
 * kernel, so several hunks may have affected its value.
 */
import type { MetricDelta, TimeDelta } from './compare'
import {
  histogramDeltas,
  opcodeDelta,
  opcodeFamily,
  type DeepProfile,
  type HistogramDelta,
  type Instruction,
  type Work,
} from '../session/deep'

/**
 * An inclusive range of lines in a file, counted from 1. The range is empty if `to` is below
 * `from`.
 */
export interface LineRange {
  from: number
  to: number
}

export interface Hunk {
  a: LineRange
  b: LineRange
}

export interface ChainSide {
  /** Name of the rung's source file in the session. */
  file: string
  /** Deep profile, or null if the rung was not profiled at the deep level. */
  deep: DeepProfile | null
}

export interface ChainLink {
  hunk: Hunk
  /**
   * Instructions executed on the hunk's lines by opcode family, largest change first. Unchanged
   * families are omitted. The list is null if either rung has no counts.
   */
  opcodes: HistogramDelta[] | null
  /**
   * Memory counters on the hunk's lines that differ between the rungs. Null if either rung has no
   * counts.
   */
  counted: LineCount[] | null
  /** Kernel-wide counters that the instructions affect, with a value for each rung. */
  counters: MetricDelta[]
}

/** Per-line ncu counters that show a change's effect on memory. */
const lineCounts = [
  'sharedWavefronts',
  'sharedWavefrontsExcess',
  'globalL2Sectors',
  'globalL2SectorsExcess',
] as const satisfies readonly (keyof Work)[]

interface LineCount {
  kind: (typeof lineCounts)[number]
  a: number
  b: number
}

interface Chain {
  links: ChainLink[]
  /**
   * Changes on lines outside any hunk. Changes outside the hunks come from the compiler or from a
   * constant in another file.
   */
  elsewhere: HistogramDelta[] | null
  /** Counters that changed although no hunk's opcodes explain the change. */
  unexplained: MetricDelta[]
  time: TimeDelta
}

/** Registry ids of the metrics that an opcode family affects, most direct first. */
const movedBy: readonly { families: RegExp; metrics: readonly string[] }[] = [
  {
    families: /^(LDS|LDSM)$/,
    metrics: [
      'sharedLoads',
      'sharedLoadWavefronts',
      'sharedLoadBankConflicts',
      'stallShortScoreboard',
      'stallMioThrottle',
    ],
  },
  {
    families: /^(STS|STSM)$/,
    metrics: ['sharedStoreWavefronts', 'sharedStoreBankConflicts', 'stallMioThrottle'],
  },
  {
    families: /^(LDG|LDGSTS|LD)$/,
    metrics: [
      'globalLoadSectorsPerRequest',
      'l1Bytes',
      'l2Bytes',
      'dramBytes',
      'stallLongScoreboard',
      'stallLgThrottle',
    ],
  },
  { families: /^(UTMA|UBLK)/, metrics: ['l2Bytes', 'dramBytes'] },
  {
    families: /^(STG|ST|RED|ATOM|ATOMG|REDG)$/,
    metrics: ['globalStoreSectorsPerRequest', 'l2Bytes', 'dramBytes'],
  },
  { families: /^(LDL|STL)$/, metrics: ['l1Bytes', 'l2Bytes', 'stallLongScoreboard'] },
  {
    families: /^(FFMA|FFMA2|FMUL|FMUL2|FADD|FADD2)$/,
    metrics: ['fmaUtilization', 'stallMathPipe'],
  },
  { families: /^(HMMA|HGMMA|UTCHMMA|WGMMA)/, metrics: ['tensorUtilization', 'stallMathPipe'] },
  { families: /^(BAR|SYNCS|WARPSYNC|B2R)$/, metrics: ['stallBarrier'] },
]

export const metricsMovedBy = (family: string): string[] => [
  ...new Set(
    movedBy.flatMap(({ families, metrics }) => (families.test(family) ? [...metrics] : [])),
  ),
]

const within = ({ from, to }: LineRange, line: number): boolean => line >= from && line <= to

/**
 * Returns the instructions compiled from the given lines, or null if the machine code is unknown.
 */
function instructionsOn({ deep, file }: ChainSide, lines: LineRange): Instruction[] | null {
  if (!deep?.kernels.some(({ instructions }) => instructions.length > 0)) return null
  return deep.kernels.flatMap(({ instructions }) =>
    instructions.filter(
      (instruction) =>
        instruction.file === file && instruction.line !== null && within(lines, instruction.line),
    ),
  )
}

/** Returns warp-level instructions by opcode family, or null if any count is missing. */
function executed(instructions: readonly Instruction[] | null): Map<string, number> | null {
  if (!instructions || instructions.some((instruction) => instruction.executed === null))
    return null
  const found = new Map<string, number>()
  for (const { opcode, executed: times } of instructions) {
    const family = opcodeFamily(opcode)
    found.set(family, (found.get(family) ?? 0) + (times ?? 0))
  }
  return found
}

/**
 * Returns the sum of a counter over the instructions. Instructions without the counter do not
 * access the counted memory and count as zero.
 */
const countOf = (instructions: readonly Instruction[], kind: LineCount['kind']): number =>
  instructions.reduce((sum, instruction) => sum + (instruction[kind] ?? 0), 0)

function countsThatDiffer(
  a: readonly Instruction[] | null,
  b: readonly Instruction[] | null,
): LineCount[] | null {
  if (!a || !b) return null
  return lineCounts
    .map((kind) => ({ kind, a: countOf(a, kind), b: countOf(b, kind) }))
    .filter((count) => count.a !== count.b)
}

/**
 * Returns a hunk's opcode families whose memory traffic differs, even if their execution counts are
 * equal.
 */
function familiesOfCounts(counts: readonly LineCount[], families: readonly string[]): string[] {
  const differs = (prefix: string) => counts.some(({ kind }) => kind.startsWith(prefix))
  return families.filter(
    (family) =>
      (differs('shared') && /^(LDS|LDSM|STS|STSM)$/.test(family)) ||
      (differs('global') && /^(LDG|LDGSTS|STG|LD|ST)$/.test(family)),
  )
}

const familyDelta = (
  a: ReadonlyMap<string, number>,
  b: ReadonlyMap<string, number>,
): HistogramDelta[] => histogramDeltas(a, b).filter(({ delta }) => delta !== 0)

function byFamily(deltas: readonly HistogramDelta[]): {
  a: Map<string, number>
  b: Map<string, number>
} {
  const [a, b] = [new Map<string, number>(), new Map<string, number>()]
  for (const { key, a: left, b: right } of deltas) {
    const family = opcodeFamily(key)
    a.set(family, (a.get(family) ?? 0) + left)
    b.set(family, (b.get(family) ?? 0) + right)
  }
  return { a, b }
}

export function chain(
  hunks: readonly Hunk[],
  a: ChainSide,
  b: ChainSide,
  comparison: { metrics: readonly MetricDelta[]; time: TimeDelta },
): Chain {
  const found = hunks.map((hunk) => {
    const [onA, onB] = [instructionsOn(a, hunk.a), instructionsOn(b, hunk.b)]
    return { hunk, onA, onB, left: executed(onA), right: executed(onB) }
  })
  const known = comparison.metrics.filter(({ delta }) => delta !== null)
  const links = found.map(({ hunk, onA, onB, left, right }): ChainLink => {
    const opcodes = left && right ? familyDelta(left, right) : null
    const counted = countsThatDiffer(onA, onB)
    const present = [
      ...new Set([...(onA ?? []), ...(onB ?? [])].map((it) => opcodeFamily(it.opcode))),
    ]
    const families = [
      ...(opcodes ?? []).map(({ key }) => key),
      ...familiesOfCounts(counted ?? [], present),
    ]
    const moved = new Set(families.flatMap(metricsMovedBy))
    return { hunk, opcodes, counted, counters: known.filter(({ id }) => moved.has(id)) }
  })

  const total = a.deep && b.deep ? opcodeDelta(a.deep, b.deep) : null
  const rest = total && byFamily(total)
  if (rest)
    for (const { left, right } of found) {
      for (const [family, value] of left ?? [])
        rest.a.set(family, (rest.a.get(family) ?? 0) - value)
      for (const [family, value] of right ?? [])
        rest.b.set(family, (rest.b.get(family) ?? 0) - value)
    }

  const explained = new Set(links.flatMap(({ counters }) => counters.map(({ id }) => id)))
  return {
    links,
    elsewhere:
      rest && found.every(({ left, right }) => left && right) ? familyDelta(rest.a, rest.b) : null,
    unexplained: known.filter(({ id, verdict }) => verdict !== 'same' && !explained.has(id)),
    time: comparison.time,
  }
}
