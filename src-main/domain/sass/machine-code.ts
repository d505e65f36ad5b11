/**
 * The machine code that nvcc generated for one source file, with the data that a loader needs.
 * `parsers/cubin` reads the machine code from a cubin.
 */
import { type LineRow } from './line-table'

export interface MachineCode {
  /** Compute capability times ten, such as 90 for sm_90. */
  readonly architecture: number
  readonly kernels: readonly MachineKernel[]
  /**
   * Functions that kernels call and that nvcc did not inline. The code of these functions is
   * outside the kernel's section.
   */
  readonly functions: readonly MachineFunction[]
  /** `__device__` variables, and strings in `.nv.global.init`, such as printf's formats. */
  readonly globals: readonly GlobalVariable[]
  /**
   * Constant banks. Bank 3 contains `__constant__` variables. Bank 4 contains addresses of
   * variables and functions. Relocations fill in these addresses.
   */
  readonly constants: readonly ConstantBank[]
  /** `__constant__` variables with their offsets in bank 3. */
  readonly constantVariables: readonly {
    readonly name: string
    readonly offset: number
    readonly size: number
  }[]
  /** Calls between functions, identified by name. Inlined calls are not included. */
  readonly calls: readonly { readonly caller: string; readonly callee: string }[]
}

export interface MachineFunction {
  /** The function's mangled name. */
  readonly name: string
  /** Machine code, with 16 bytes per instruction. */
  readonly code: Uint8Array
  readonly registers: number | null
  /** Stack size in bytes per thread for this function's local memory. */
  readonly frameBytes: number
  /** Compiler-generated subroutines in the code, such as 64-bit integer division. */
  readonly subprograms: readonly {
    readonly name: string
    readonly offset: number
    readonly size: number
  }[]
  readonly relocations: readonly Relocation[]
  /**
   * Line table, sorted by address. The table is empty if the code was compiled without `-lineinfo`.
   */
  readonly lines: readonly LineRow[]
}

export interface MachineKernel extends MachineFunction {
  readonly barriers: number
  /**
   * Size of the kernel's static shared memory in bytes, counted from address 0. On sm_90, the
   * variables start at 0x400, after the part that the system reserves.
   */
  readonly sharedBytes: number
  /** Total stack size per thread, including called functions, or null if it is unbounded. */
  readonly stackBytes: number | null
  /** Thread limit from `__launch_bounds__` or `__reqntid__`, or null if the kernel has neither. */
  readonly maxThreads: readonly [number, number, number] | null
  readonly requiredThreads: readonly [number, number, number] | null
  readonly clusterBlocks: readonly [number, number, number] | null
  readonly parameters: ParameterLayout
  /**
   * The kernel's constant banks. Bank 0 reserves space for the kernel parameters. Bank 2 contains
   * the compiler's constants.
   */
  readonly constants: readonly ConstantBank[]
}

export interface ParameterLayout {
  /** Start of the parameters in constant bank 0, and the size of the parameters in bytes. */
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
  /**
   * Offset from the start of the memory that holds the module's variables. Initialized variables
   * come first.
   */
  readonly offset: number
  readonly size: number
  /** Initial bytes, or null for a zero-initialized variable. */
  readonly initial: Uint8Array | null
}

/** A location at which the loader writes an address. */
export interface Relocation {
  /** Byte offset of the location from the start of the code or bank. */
  readonly offset: number
  /**
   * NVIDIA's relocation type. Type 2 is a full 64-bit address. Types 56 and 57 are the low and the
   * high half of an address, stored as an immediate.
   */
  readonly type: number
  /** Name of the variable or function whose address is written. */
  readonly symbol: string
  readonly addend: number
}
