/** The code behind the kernels of this library, decoded once, so that lines are ranked as everywhere else. */
import type { DeepKernel, Work } from '../domain/session/deep'

/** What was counted at an instruction, or on a source line. Null: not collected; 0: counted, and zero. */
export interface Counters {
  /** Times a warp executed it. */
  executed: number | null
  /** Times a thread executed it. */
  threadExecuted: number | null
  /** Warp samples that found a warp here. */
  samples: number | null
  /** The same by ncu's stall reason, such as `long_sb`. */
  stalls: Readonly<Record<string, number>> | null
  /** Wavefronts of shared memory; `ideal` is what they would be without bank conflicts. */
  sharedWavefronts: number | null
  sharedWavefrontsIdeal: number | null
  /** 32-byte sectors of global memory; `ideal` is what they would be if every access were coalesced. */
  globalSectors: number | null
  globalSectorsIdeal: number | null
}

export interface Instruction extends Counters {
  /** Bytes from the start of the kernel. */
  offset: number
  sass: string
  /** Null without line information (`nvcc -lineinfo`). */
  file: string | null
  line: number | null
}

export interface SourceLine extends Counters {
  file: string
  line: number
  /** Null if the report does not hold the source (`ncu --import-source yes`). */
  text: string | null
}

/** A piece of ncu's own advice. */
export interface Advice {
  rule: string
  text: string
  /** In percent; null if ncu gives none. */
  estimatedSpeedup: number | null
}

/** The machine code of one launch. */
export interface Code {
  instructions: Instruction[]
  lines: SourceLine[]
  advice: Advice[]
}

type Decode = () => DeepKernel | null

const decoders = new WeakMap<object, Decode>()
const decoded = new WeakMap<object, DeepKernel | null>()

export const decodesBy = (kernel: object, decode: Decode): void => {
  decoders.set(kernel, decode)
}

/** Null if it has no code; throws for what is no kernel of this library. */
export function deepOf(kernel: object): DeepKernel | null {
  const known = decoded.get(kernel)
  if (known !== undefined) return known
  const decode = decoders.get(kernel)
  if (decode === undefined)
    throw new TypeError('hottestLines takes a kernel of readNcuRep, readNcuCsv or emulate.')
  const deep = decode()
  decoded.set(kernel, deep)
  return deep
}

const counters = (work: Work): Counters => ({
  executed: work.executed,
  threadExecuted: work.threadExecuted,
  samples: work.samples,
  stalls: work.stalls,
  sharedWavefronts: work.sharedWavefronts,
  sharedWavefrontsIdeal: work.sharedWavefrontsIdeal,
  globalSectors: work.globalL2Sectors,
  globalSectorsIdeal: work.globalL2SectorsIdeal,
})

export const codeOf = ({ instructions, lines, rules }: DeepKernel): Code => ({
  instructions: instructions.map((one) => ({
    ...counters(one),
    offset: one.offset,
    sass: one.text,
    file: one.file,
    line: one.line,
  })),
  lines: lines.map((one) => ({
    ...counters(one),
    file: one.file,
    line: one.line,
    text: one.text,
  })),
  advice: rules.map(({ name, text, estimatedSpeedup }) => ({ rule: name, text, estimatedSpeedup })),
})
