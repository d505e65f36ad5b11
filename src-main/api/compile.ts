/** Compiles a .cu file to machine code for `emulate`. */
import { buildCubin } from '../adapters/tools/cubin-build'

/** Options for nvcc. */
export interface CompileOptions {
  /**
   * Target architecture without the `sm_` prefix, such as `90a`. The default is `90`. The emulator
   * was validated on 90 and 90a.
   */
  architecture?: string
  /** Extra nvcc flags such as `-I` and `-D`. `-std=c++17 -O3 -lineinfo` are always passed. */
  flags?: readonly string[]
}

/**
 * Compiles the kernels of a .cu file with the local nvcc. Needs no GPU and runs none of the file's
 * code.
 *
 * @returns a cubin
 * @throws {KernelLadderError} `missing` if nvcc is not installed; `failed` with nvcc's first error
 * if the file does not compile
 * @example
 * ```js
 * import { compileCubin, emulate } from 'kernel-ladder'
 *
 * const code = await compileCubin(process.argv[2])
 * const { kernels, findings } = emulate(code, {
 *   launches: [{ kernel: 'outsideStore', grid: [2], block: [64], arguments: [{ buffer: 'out' }, { i32: 64 }] }],
 *   buffers: { out: 4 * 64 },
 * })
 * console.log(`${kernels[0].metrics.instructions.value} warp instructions, ${findings.length} findings`)
 * ```
 */
export const compileCubin = (file: string, options: CompileOptions = {}): Promise<Uint8Array> =>
  buildCubin(file, options.architecture ?? '90', options.flags ?? [])
