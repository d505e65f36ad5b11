/** Queries the driver's GPUs through nvidia-smi. */
import { normalizePciBusId, parseNvidiaSmi, type NvidiaSmi } from '../../parsers/cuda/nvidia-smi'
import type { ProcessResult } from './process'
import type { Toolbox } from './toolbox'

export { normalizePciBusId }
export type { NvidiaSmi }

/**
 * Returns the result of nvidia-smi, and its parsed output, which is null if nvidia-smi failed.
 * Returns null if nvidia-smi is missing.
 */
export async function askDriver(
  toolbox: Toolbox,
  signal?: AbortSignal,
  /** Distinguishes this call from the session's other nvidia-smi calls. */
  when: 'query' | 'before' | 'after' = 'query',
): Promise<{ answer: NvidiaSmi | null; result: ProcessResult } | null> {
  const path = await toolbox.locate('nvidia-smi')
  if (!path) return null
  const result = await toolbox.exec({
    tool: 'nvidia-smi',
    key: `nvidia-smi/${when}`,
    file: path,
    args: ['-q', '-x'],
    timeoutMs: 60_000,
    ...(signal ? { signal } : {}),
  })
  const answered = result.outcome === 'exited' && result.exitCode === 0
  return { answer: answered ? parseNvidiaSmi(result.stdout) : null, result }
}
