/** Machine code of a .cu file, for `emulate`. */
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { KernelLadderError, missingError } from '../domain/errors'
import { message } from '../domain/messages/message'
import { scratchFolder } from '../adapters/disk/staging'
import { findTool } from '../adapters/tools/toolboxes'
import { readBuildOutput } from '../adapters/tools/nvcc'
import { runProcess } from '../adapters/tools/process'

/** How nvcc compiles a file. */
export interface CompileOptions {
  /** As in `sm_90a`, without the prefix; `90` if absent. What is emulated was validated on 90 and 90a. */
  architecture?: string
  /** More of nvcc's own, such as `-I` and `-D`. `-std=c++17 -O3 -lineinfo` are given. */
  flags?: readonly string[]
}

const timeoutMs = 10 * 60_000

async function buildCubin(file: string, sm: string, flags: readonly string[]): Promise<Uint8Array> {
  const nvcc = await findTool('nvcc')
  if (!nvcc)
    throw missingError(
      message('doctor.toolMissing', { tool: 'nvcc' }),
      message('doctor.installNvcc'),
    )
  const scratch = await scratchFolder()
  try {
    const cubin = join(scratch.path, `${basename(file)}.cubin`)
    const own = ['-std=c++17', '-O3', '-lineinfo', `-arch=sm_${sm}`]
    const args = [...own, ...flags, '-cubin', file, '-o', cubin]
    const result = await runProcess({ file: nvcc, args, timeoutMs })
    if (result.outcome === 'exited' && result.exitCode === 0) return await readFile(cubin)
    const first = readBuildOutput(result).diagnostics.find(({ severity }) => severity === 'error')
    const at = first?.file ? `${first.file}${first.line === null ? '' : `:${first.line}`}: ` : ''
    const what = first ? `${at}${first.message}` : result.stderr.trim() || result.outcome
    throw new KernelLadderError('failed', message('records.notCompiling', { what }))
  } finally {
    await scratch.remove()
  }
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
