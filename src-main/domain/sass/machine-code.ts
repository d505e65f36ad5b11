/** What nvcc built of the kernels of one source file, as a loader sees it. `parsers/cubin` reads it from a cubin. */
import { type LineRow } from './line-table'

export interface MachineCode {
  /** 90 for sm_90. */
  readonly architecture: number
  readonly kernels: readonly MachineKernel[]
  /** Functions that kernels call in code of their own: not inlined, and not part of the kernel's section. */
  readonly functions: readonly MachineFunction[]
  /** `__device__` variables, and `.nv.global.init` strings such as printf's formats. */
  readonly globals: readonly GlobalVariable[]
  /** Bank 3: `__constant__` variables. Bank 4: addresses of variables and functions, by its relocations. */
  readonly constants: readonly ConstantBank[]
  /** `__constant__` variables: their places in bank 3. */
  readonly constantVariables: readonly {
    readonly name: string
    readonly offset: number
    readonly size: number
  }[]
  /** Who calls whom, by name; what is inlined is not in it. */
  readonly calls: readonly { readonly caller: string; readonly callee: string }[]
}

export interface MachineFunction {
  /** Mangled. */
  readonly name: string
  /** 16 bytes an instruction. */
  readonly code: Uint8Array
  readonly registers: number | null
  /** Stack that each thread needs for it: its local memory. */
  readonly frameBytes: number
  /** Subprograms in the code: the division of 64-bit integers is one. */
  readonly subprograms: readonly {
    readonly name: string
    readonly offset: number
    readonly size: number
  }[]
  readonly relocations: readonly Relocation[]
  /** By address; empty without `-lineinfo`. */
  readonly lines: readonly LineRow[]
}

export interface MachineKernel extends MachineFunction {
  readonly barriers: number
  /** Shared memory from address 0 that its variables take; on sm_90 they begin at 0x400, behind what the system keeps. */
  readonly sharedBytes: number
  /** All of its stack, with what it calls; null where that is not bounded. */
  readonly stackBytes: number | null
  /** Of `__launch_bounds__` and `__reqntid__`; null where it names none. */
  readonly maxThreads: readonly [number, number, number] | null
  readonly requiredThreads: readonly [number, number, number] | null
  readonly clusterBlocks: readonly [number, number, number] | null
  readonly parameters: ParameterLayout
  /** Bank 0 with the parameters' place, bank 2 with the compiler's constants. */
  readonly constants: readonly ConstantBank[]
}

export interface ParameterLayout {
  /** Where they begin in constant bank 0, and their bytes. */
  readonly base: number
  readonly size: number
  /** In order; `offset` from `base`. */
  readonly list: readonly { readonly offset: number; readonly size: number }[]
}

export interface ConstantBank {
  readonly bank: number
  readonly bytes: Uint8Array
  readonly relocations: readonly Relocation[]
}

export interface GlobalVariable {
  readonly name: string
  /** From the beginning of the module's variables, initialised ones first. */
  readonly offset: number
  readonly size: number
  /** Null for a variable that begins as zero. */
  readonly initial: Uint8Array | null
}

/** A place that the loader fills in with an address. */
export interface Relocation {
  /** In bytes, from the beginning of the code or of the bank. */
  readonly offset: number
  /** NVIDIA's number of how: 2 is a whole 64-bit address; 56 and 57 are its low and high half as an immediate. */
  readonly type: number
  /** The variable or function. */
  readonly symbol: string
  readonly addend: number
}
