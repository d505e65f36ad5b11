/** nvcc's output for the kernels of one source file, as a loader sees it. `parsers/cubin` reads it from a cubin. */
import { type LineRow } from './line-table'

export interface MachineCode {
  /** 90 for sm_90. */
  readonly architecture: number
  readonly kernels: readonly MachineKernel[]
  /** Functions that kernels call but that are not part of the kernel's section (not inlined). */
  readonly functions: readonly MachineFunction[]
  /** `__device__` variables, and `.nv.global.init` strings such as printf's formats. */
  readonly globals: readonly GlobalVariable[]
  /** Bank 3: `__constant__` variables. Bank 4: addresses of variables and functions, filled in by relocations. */
  readonly constants: readonly ConstantBank[]
  /** `__constant__` variables with their places in bank 3. */
  readonly constantVariables: readonly {
    readonly name: string
    readonly offset: number
    readonly size: number
  }[]
  /** Calls by name; inlined calls are not included. */
  readonly calls: readonly { readonly caller: string; readonly callee: string }[]
}

export interface MachineFunction {
  /** Mangled. */
  readonly name: string
  /** 16 bytes per instruction. */
  readonly code: Uint8Array
  readonly registers: number | null
  /** Stack size per thread for this function's local memory. */
  readonly frameBytes: number
  /** Subprograms in the code, such as 64-bit integer division. */
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
  /** Shared memory of its variables, counted from address 0. On sm_90 they start at 0x400, after the part that the system reserves. */
  readonly sharedBytes: number
  /** Total stack including callees; null if it is unbounded. */
  readonly stackBytes: number | null
  /** From `__launch_bounds__` or `__reqntid__`; null without either. */
  readonly maxThreads: readonly [number, number, number] | null
  readonly requiredThreads: readonly [number, number, number] | null
  readonly clusterBlocks: readonly [number, number, number] | null
  readonly parameters: ParameterLayout
  /** Bank 0 with space for the parameters, bank 2 with the compiler's constants. */
  readonly constants: readonly ConstantBank[]
}

export interface ParameterLayout {
  /** Start in constant bank 0, and size in bytes. */
  readonly base: number
  readonly size: number
  /** In order; `offset` is relative to `base`. */
  readonly list: readonly { readonly offset: number; readonly size: number }[]
}

export interface ConstantBank {
  readonly bank: number
  readonly bytes: Uint8Array
  readonly relocations: readonly Relocation[]
}

export interface GlobalVariable {
  readonly name: string
  /** Offset in the module's variables, initialized ones first. */
  readonly offset: number
  readonly size: number
  /** null for a zero-initialized variable. */
  readonly initial: Uint8Array | null
}

/** A place where the loader writes an address. */
export interface Relocation {
  /** In bytes, from the start of the code or bank. */
  readonly offset: number
  /** NVIDIA's relocation type: 2 is a full 64-bit address; 56 and 57 are its low and high half as an immediate. */
  readonly type: number
  /** The variable or function. */
  readonly symbol: string
  readonly addend: number
}
