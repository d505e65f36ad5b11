/** Compiles a .cu file to machine code for `emulate`. */
import { buildCubin } from '../adapters/tools/cubin-build'

/** How nvcc compiles a file. */
export interface CompileOptions {
  /** As in `sm_90a`, without the prefix; `90` if absent. What is emulated was validated on 90 and 90a. */
  architecture?: string
  /** More of nvcc's own, such as `-I` and `-D`. `-std=c++17 -O3 -lineinfo` are given. */
  flags?: readonly string[]
}

/**
 * Compiles the kernels of a .cu file with the nvcc of this machine, which needs no GPU. nvcc runs the file's includes and nothing of its code.
 *
 * @returns a cubin
 * @throws {KernelLadderError} `missing` without nvcc, `failed` with nvcc's first error where it does not compile
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
