/** Compiles a single .cu file that is not part of a ladder to a cubin. */
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { KernelLadderError, missingError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import { findTool } from './live-toolbox'
import { readBuildOutput } from './nvcc'
import { runProcess } from './process'
import { scratchFolder } from '../disk/owned-folder'

const timeoutMs = 10 * 60_000

/**
 * Returns the compiled cubin.
 * @param sm architecture without the prefix, such as `90` for `sm_90`
 * @throws {KernelLadderError} `missing` if nvcc is not installed, `failed` if the file does not
 *   compile
 */
export async function buildCubin(
  file: string,
  sm: string,
  flags: readonly string[],
): Promise<Uint8Array> {
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
