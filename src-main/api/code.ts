/**
 * A kernel's machine code: instructions and source lines with their counters, and ncu's
 * recommendations.
 */

/** Counters of one instruction or source line. Null means not collected; 0 is a measured zero. */
export interface Counters {
  /** Number of times warps executed the instruction or line. */
  executed: number | null
  /** Number of times threads executed the instruction or line. */
  threadExecuted: number | null
  /** Number of samples in which a warp was at this instruction or line. */
  samples: number | null
  /** Number of samples per stall reason. Keys are ncu's names, such as `long_sb`. */
  stalls: Readonly<Record<string, number>> | null
  /** Shared-memory wavefronts. The `Ideal` field is the count without bank conflicts. */
  sharedWavefronts: number | null
  sharedWavefrontsIdeal: number | null
  /** 32-byte sectors of global memory. The `Ideal` field is the count with full coalescing. */
  globalSectors: number | null
  globalSectorsIdeal: number | null
}

export interface Instruction extends Counters {
  /** Offset in bytes from the start of the kernel. */
  offset: number
  sass: string
  /** Source file; null if there is no line information (`nvcc -lineinfo`). */
  file: string | null
  line: number | null
}

export interface SourceLine extends Counters {
  file: string
  line: number
  /** Source text; null if the report does not contain it (`ncu --import-source yes`). */
  text: string | null
}

/** One recommendation from ncu. */
export interface Advice {
  rule: string
  text: string
  /** Speedup in percent that ncu estimates; null if ncu gives no estimate. */
  estimatedSpeedup: number | null
}

/** The machine code of one launch, with its counters. */
export interface Code {
  instructions: Instruction[]
  lines: SourceLine[]
  advice: Advice[]
}
