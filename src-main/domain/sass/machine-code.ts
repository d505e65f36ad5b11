/**
 * nvcc's output for the kernels of one source file, as a loader sees it. `parsers/cubin` reads it
 * from a cubin.
 */
import { type LineRow } from './line-table'

export interface MachineCode {
  /** Compute capability times ten, such as 90 for sm_90. */
  readonly architecture: number
  readonly kernels: readonly MachineKernel[]
  /** Functions that kernels call and that are not inlined. They are outside the kernel's section. */
  readonly functions: readonly MachineFunction[]
  /** `__device__` variables, and `.nv.global.init` strings such as printf's formats. */
  readonly globals: readonly GlobalVariable[]
  /**
   * Constant banks. Bank 3 holds `__constant__` variables. Bank 4 holds addresses of variables and
   * functions, which relocations fill in.
   */
  readonly constants: readonly ConstantBank[]
  /** `__constant__` variables with their places in bank 3. */
  readonly constantVariables: readonly {
    readonly name: string
    readonly offset: number
    readonly size: number
  }[]
  /** Calls by function name, without inlined calls. */
  readonly calls: readonly { readonly caller: string; readonly callee: string }[]
}

export interface MachineFunction {
  /** Mangled name of the function. */
  readonly name: string
  /** Machine code with 16 bytes per instruction. */
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
  /** Line table by address. It is empty without `-lineinfo`. */
  readonly lines: readonly LineRow[]
}

export interface MachineKernel extends MachineFunction {
  readonly barriers: number
  /**
   * Shared memory of the kernel's variables, counted from address 0. On sm_90 they start at 0x400,
   * after the part that the system reserves.
   */
  readonly sharedBytes: number
  /** Total stack size including called functions, or null if it is unbounded. */
  readonly stackBytes: number | null
  /** Thread limit from `__launch_bounds__` or `__reqntid__`, or null without either. */
  readonly maxThreads: readonly [number, number, number] | null
  readonly requiredThreads: readonly [number, number, number] | null
  readonly clusterBlocks: readonly [number, number, number] | null
  readonly parameters: ParameterLayout
  /**
   * Constant banks of the kernel. Bank 0 has space for the parameters, and bank 2 has the
   * compiler's constants.
   */
  readonly constants: readonly ConstantBank[]
}

export interface ParameterLayout {
  /** Start of the parameters in constant bank 0, and their size in bytes. */
  readonly base: number
  readonly size: number
  /** Parameters in order. `offset` is relative to `base`. */
  readonly list: readonly { readonly offset: number; readonly size: number }[]
}

export interface ConstantBank {
  readonly bank: number
  readonly bytes: Uint8Array
  readonly relocations: readonly Relocation[]
}

export interface GlobalVariable {
  readonly name: string
  /** Offset among the module's variables. Initialized variables come first. */
  readonly offset: number
  readonly size: number
  /** Initial bytes, or null for a zero-initialized variable. */
  readonly initial: Uint8Array | null
}

/** A place in which the loader writes an address. */
export interface Relocation {
  /** Byte offset from the start of the code or bank. */
  readonly offset: number
  /**
   * NVIDIA's relocation type. Type 2 is a full 64-bit address. Types 56 and 57 are its low and high
   * half as an immediate.
   */
  readonly type: number
  /** Name of the variable or function. */
  readonly symbol: string
  readonly addend: number
}
