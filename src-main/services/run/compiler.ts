/** A machine's nvcc, ready to build: located, with its version and the shared headers. */
import type { BuildCache } from '../../adapters/disk/build-cache'
import type { Toolbox } from '../../adapters/tools/toolbox'
import { locateNvcc } from './device'

/** What rungs are built with: a machine's programs and its build cache. */
export interface Bench {
  toolbox: Toolbox
  cache: BuildCache
}

export interface Compiler extends Bench {
  nvcc: string
  version: string
  /** include/ of the kernel library, text by path. */
  includes: ReadonlyMap<string, string>
  signal: AbortSignal
}

/** Throws `missing` if the machine has no nvcc. */
export async function openCompiler(
  { toolbox, cache }: Bench,
  includes: ReadonlyMap<string, string>,
  signal: AbortSignal = new AbortController().signal,
): Promise<Compiler> {
  const nvcc = await locateNvcc(toolbox)
  const version = await compilerVersion({ toolbox, cache }, nvcc, signal)
  return { toolbox, cache, nvcc, version, includes, signal }
}

async function compilerVersion(
  { toolbox, cache }: Bench,
  nvcc: string,
  signal: AbortSignal,
): Promise<string> {
  const call = { tool: 'nvcc', key: 'nvcc/version', file: nvcc, args: ['--version'] } as const
  let asked = false
  const version = await cache.compilerVersion(nvcc, async () => {
    asked = true
    return (await toolbox.exec({ ...call, timeoutMs: 60_000, signal })).stdout
  })
  // Always recorded, so that the session can be replayed.
  if (!asked)
    await toolbox.recorder?.record(
      {
        key: call.key,
        tool: call.tool,
        argv: [nvcc, ...call.args],
        outcome: 'exited',
        exitCode: 0,
        signal: null,
        seconds: 0,
        startedAt: new Date().toISOString(),
        reused: true,
      },
      version,
      '',
    )
  return version
}
