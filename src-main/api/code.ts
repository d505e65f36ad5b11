/** A kernel's machine code in this library's form: instructions, lines and advice, with their counters. */

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
