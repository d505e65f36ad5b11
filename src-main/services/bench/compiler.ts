/** Wraps a machine's nvcc. nvcc is located once, and identical sources are compiled only once. */
import type { BuildCache } from '../../adapters/disk/build-cache'
import type { Toolbox } from '../../adapters/tools/toolbox'
import { readBuildOutput, type PtxasKernel } from '../../adapters/tools/nvcc'
import type { ProcessResult } from '../../adapters/tools/process'
import { message, together, type Statement } from '../../domain/messages/message'
import type { Build, Diagnostic } from '../../domain/session/session'
import {
  openShippedBuilds,
  shippedPlatform,
  withShippedBuilds,
} from '../../adapters/disk/shipped-builds'
import { missingError } from '../../domain/errors'
import { locateNvcc, remedies } from './tools'

/** The toolbox and build cache for builds on one machine. */
export interface BuildTools {
  toolbox: Toolbox
  cache: BuildCache
}

export interface Compiler extends BuildTools {
  nvcc: string
  version: string
  /** Whether this machine has no nvcc and can use only shipped builds. */
  onlyShipped?: true
  /** Texts of the files in the catalog's include/ folder, by path. */
  includes: ReadonlyMap<string, string>
  signal: AbortSignal
}

/**
 * Returns the compiler. Throws a `missing` error if the machine has neither nvcc nor shipped
 * builds.
 */
export async function openCompiler(
  { toolbox, cache }: BuildTools,
  includes: ReadonlyMap<string, string>,
  signal: AbortSignal = new AbortController().signal,
): Promise<Compiler> {
  const shipped =
    cache.shippedFolder !== undefined && (await toolbox.locate('nvcc')) === null
      ? await openShippedBuilds(cache.shippedFolder)
      : null
  if (shipped) {
    await recordVersion(toolbox, 'nvcc', shipped.compiler)
    const builds = withShippedBuilds(cache, shipped)
    const version = shipped.compiler
    return { toolbox, cache: builds, nvcc: 'nvcc', version, onlyShipped: true, includes, signal }
  }
  const couldShip = cache.shippedFolder !== undefined && shippedPlatform()
  const nvcc = await locateNvcc(toolbox, couldShip ? remedies.withoutBuilds : remedies.nvcc)
  const version = await compilerVersion({ toolbox, cache }, nvcc, signal)
  return { toolbox, cache, nvcc, version, includes, signal }
}

async function compilerVersion(
  { toolbox, cache }: BuildTools,
  nvcc: string,
  signal: AbortSignal,
): Promise<string> {
  const call = { ...versionCall, file: nvcc }
  let isLocated = false
  const version = await cache.compilerVersion(nvcc, async () => {
    isLocated = true
    return (await toolbox.exec({ ...call, timeoutMs: 60_000, signal })).stdout
  })
  // Always record nvcc's version, because a replay of the session needs it.
  if (!isLocated) await recordVersion(toolbox, nvcc, version)
  return version
}

const versionCall = { tool: 'nvcc', key: 'nvcc/version', args: ['--version'] } as const

const recordVersion = async ({ recorder }: Toolbox, nvcc: string, version: string) =>
  recorder?.record(
    {
      key: versionCall.key,
      tool: versionCall.tool,
      argv: [nvcc, ...versionCall.args],
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

export interface BuildOutcome {
  /** Path of the built file, or null if the build failed. */
  artifact: string | null
  build: Build | null
  diagnostics: Diagnostic[]
  /** ptxas's report for each kernel. Absent if the build failed. */
  kernels?: PtxasKernel[]
  /** Reason that the build failed. Absent if the run was canceled before the build finished. */
  reason?: Statement
  cancelled?: true
}

const compileTimeoutMs = 10 * 60_000

interface Compilation {
  key: string
  sources: ReadonlyMap<string, string | Uint8Array>
  inputs: readonly string[]
  flags: readonly string[]
  output: string
  libraries: readonly string[]
}

export async function compile(compiler: Compiler, what: Compilation): Promise<BuildOutcome> {
  const { cache, toolbox, signal } = compiler
  const flags = [...what.flags, ...what.inputs, ...what.libraries]
  const slot = await cache.slot({
    sources: what.sources,
    flags,
    compiler: compiler.version,
    output: what.output,
  })
  if (slot.kept) {
    const { argv, stdout, stderr, seconds } = slot.kept
    await toolbox.recorder?.record(
      {
        key: what.key,
        tool: 'nvcc',
        argv,
        outcome: 'exited',
        exitCode: 0,
        signal: null,
        seconds,
        startedAt: new Date().toISOString(),
        reused: true,
      },
      stdout,
      stderr,
    )
    return outcome(slot.artifact, slot.kept, true)
  }

  if (compiler.onlyShipped)
    throw missingError(
      message('tools.notShipped', { what: what.key.replace('nvcc/', '') }),
      remedies.notShipped,
    )
  const args = [...flags, '-o', slot.pending]
  const result = await toolbox.exec({
    tool: 'nvcc',
    key: what.key,
    file: compiler.nvcc,
    args,
    cwd: slot.sourceDir,
    timeoutMs: compileTimeoutMs,
    signal,
  })
  if (result.outcome === 'exited' && result.exitCode === 0) {
    const { stdout, stderr, seconds } = result
    await slot.keep({ argv: [compiler.nvcc, ...args], stdout, stderr, seconds })
    return outcome(slot.artifact, result, result.reused ?? false)
  }
  await slot.discard()
  return failure(result)
}

function outcome(
  artifact: string,
  output: { stdout: string; stderr: string; seconds: number },
  cached: boolean,
): BuildOutcome {
  const { resources, diagnostics, kernels } = readBuildOutput(output)
  return {
    artifact,
    build: { ...resources, seconds: output.seconds, cached },
    diagnostics,
    kernels,
  }
}

function failure(result: ProcessResult): BuildOutcome {
  const { diagnostics } = readBuildOutput(result)
  const compileError = notCompiling(diagnostics)
  const none = { artifact: null, build: null, diagnostics }
  switch (result.outcome) {
    case 'cancelled':
      return { ...none, cancelled: true }
    case 'timeout': {
      const minutes = compileTimeoutMs / 60_000
      return { ...none, reason: message('tools.nvccStopped', { minutes }) }
    }
    case 'not-found':
      return {
        ...none,
        reason: together(message('tools.nvccNotStarted'), result.stderr.trim()),
      }
    case 'signalled':
      return { ...none, reason: message('tools.nvccKilled', { signal: result.signal ?? '' }) }
    default:
      return {
        ...none,
        reason:
          missingLibrary(result.stderr) ??
          undefinedFunction(result) ??
          compileError ??
          message('tools.nvccEnded', {
            exitCode: result.exitCode ?? '',
            text: lastLine(result.stderr),
          }),
      }
  }
}

/**
 * Returns an error message for a library that the linker cannot find. Recognizes the output of GNU
 * ld, lld, and gold.
 */
function missingLibrary(stderr: string): Statement | null {
  const [, library] = /(?:cannot find|unable to find library) -l([\w+.-]+)/.exec(stderr) ?? []
  return library === undefined ? null : message('settings.noLibrary', { library })
}

/**
 * Returns an error message for a device function that is defined in another file. Recognizes the
 * output of ptxas and nvlink.
 */
export function undefinedFunction({
  stdout,
  stderr,
}: Pick<ProcessResult, 'stdout' | 'stderr'>): Statement | null {
  const [, mangled] =
    /(?:Undefined reference to|Unresolved extern \w+) '(\w+)'/.exec(`${stderr}\n${stdout}`) ?? []
  if (mangled === undefined) return null
  const [, length, rest = ''] = /^_Z(\d+)(\w+)$/.exec(mangled) ?? []
  const name = length === undefined ? mangled : rest.slice(0, Number(length))
  return message('settings.undefinedFunction', { name })
}

/**
 * Returns the compiler's first error with its location, or null if there is none. `shown` converts
 * the file name for display.
 */
export function notCompiling(
  diagnostics: readonly Diagnostic[],
  shown = (file: string): string => file,
): Statement | null {
  const first = diagnostics.find(({ severity }) => severity === 'error')
  if (!first) return null
  const { file, line } = first
  const place = file ? `${shown(file)}${line === null ? '' : `:${line}`}: ` : ''
  return message('records.notCompiling', { what: `${place}${first.message}` })
}

const lastLine = (text: string): string => text.trimEnd().split('\n').pop() ?? ''
