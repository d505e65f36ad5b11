/** Builds: a machine's nvcc made ready, rungs and the runner compiled in parallel and nothing twice, and the architecture they are for. */
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path/posix'
import type { BuildCache } from '../../adapters/disk/build-cache'
import type { Toolbox } from '../../adapters/tools/toolbox'
import { locateNvcc, architectureFor, queryDevice, smOf } from './device'
import {
  launchProbeFlags,
  replayFlags,
  macroFlags,
  readBuildOutput,
  rungFlags,
  runnerFlags,
  type PtxasKernel,
} from '../../adapters/tools/nvcc'
import type { ProcessResult } from '../../adapters/tools/process'
import { message, together, type Statement } from '../../domain/messages/message'
import { KernelLadderError } from '../../domain/errors'
import type { Build, Diagnostic } from '../../domain/session/session'
import {
  referenceHeader,
  referenceHeaderFile,
  taskHeader,
  taskHeaderFile,
} from '../../domain/task/layout'
import { isPythonFile } from '../../domain/ladder/rung'
import { isPython, pythonLibrary, pythonRungLibrary } from '../../domain/task/python'
import { type TaskSource, readSharedFiles } from '../../adapters/kernels/kernel-library'
import type { PlannedRung, RunPlan } from './plan'

// A machine's nvcc, ready to build: located, with its version and the shared headers.

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

// Compiles rungs and the runner: in parallel, nothing twice.

export interface BuildOutcome {
  /** null if the build failed. */
  artefact: string | null
  build: Build | null
  diagnostics: Diagnostic[]
  /** ptxas's report per kernel; absent if the build failed. */
  kernels?: PtxasKernel[]
  /** Why there is no artifact; absent if the run was cancelled first. */
  reason?: Statement
  cancelled?: true
}

const compileTimeoutMs = 10 * 60_000

interface Compilation {
  key: string
  sources: ReadonlyMap<string, string>
  inputs: readonly string[]
  flags: readonly string[]
  output: string
  libraries: readonly string[]
}

async function compile(compiler: Compiler, what: Compilation): Promise<BuildOutcome> {
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
    return outcome(slot.artefact, slot.kept, true)
  }

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
    return outcome(slot.artefact, result, result.reused ?? false)
  }
  await slot.discard()
  return failure(result)
}

function outcome(
  artefact: string,
  output: { stdout: string; stderr: string; seconds: number },
  cached: boolean,
): BuildOutcome {
  const { resources, diagnostics, kernels } = readBuildOutput(output)
  return {
    artefact,
    build: { ...resources, seconds: output.seconds, cached },
    diagnostics,
    kernels,
  }
}

function failure(result: ProcessResult): BuildOutcome {
  const { diagnostics } = readBuildOutput(result)
  const compileError = notCompiling(diagnostics)
  const none = { artefact: null, build: null, diagnostics }
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
          compileError ??
          message('tools.nvccEnded', {
            exitCode: result.exitCode ?? '',
            text: lastLine(result.stderr),
          }),
      }
  }
}

/** The compiler's first error with its place, where `shown` says how a file is called; null if it has none. */
function notCompiling(
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

/** Inputs for building a task's sources, besides the shared headers. */
export type TaskInputs = Pick<RunPlan, 'task' | 'headers'>

/** Sources next to the task's headers find them anyway; a lab's sources are elsewhere. */
const taskFlags = (headers: ReadonlyMap<string, string>): string[] =>
  [...new Set([...headers.keys()].map(dirname))].flatMap((folder) => ['-I', folder])

export async function buildRung(
  compiler: Compiler,
  { task, headers: shared }: TaskInputs,
  { rung, source, headers = shared }: PlannedRung,
  sm: string,
  flags: (sm: string) => readonly string[] = rungFlags,
): Promise<BuildOutcome> {
  const { file, header } = rung
  const input = isPythonFile(file) ? `${file}.cpp` : file
  return compile(compiler, {
    key: `nvcc/${rung.id}`,
    sources: new Map([
      ...compiler.includes,
      ...headers,
      [taskHeaderFile, taskHeader(task)],
      [file, source],
      ...(input === file ? [] : [[input, pythonRungLibrary(task, file, header)] as const]),
    ]),
    inputs: [input],
    flags: [...flags(sm), ...taskFlags(headers), ...macroFlags(rung.params)],
    output: 'rung.so',
    libraries: ['-ldl'],
  })
}

/** Builds what the task's rungs are checked against. */
export async function compileReference(
  compiler: Compiler,
  { task, headers }: TaskInputs,
  { file, text }: TaskSource,
  sm: string,
  flags: (sm: string) => readonly string[] = rungFlags,
): Promise<BuildOutcome> {
  const [input, source] = isPython(file) ? [`${file}.cu`, pythonLibrary(task, text)] : [file, text]
  return compile(compiler, {
    key: 'nvcc/reference',
    sources: new Map([
      ...compiler.includes,
      ...headers,
      [referenceHeaderFile, referenceHeader(task)],
      [input, source],
    ]),
    inputs: [input],
    flags: [...flags(sm), ...taskFlags(headers)],
    output: 'reference.so',
    libraries: ['-ldl'],
  })
}

/** The same for a run: without it there is none. */
export async function buildReference(
  compiler: Compiler,
  inputs: TaskInputs,
  source: TaskSource,
  sm: string,
  flags: (sm: string) => readonly string[] = rungFlags,
): Promise<string> {
  const built = await compileReference(compiler, inputs, source, sm, flags)
  if (built.artefact) return built.artefact
  if (compiler.signal.aborted) throw new KernelLadderError('cancelled', message('asked.cancelled'))
  // Sources are compiled under the name of their task, which is no folder of their author's.
  const below = `${dirname(source.file)}/`
  const shown = (file: string): string =>
    source.shown !== undefined && file.startsWith(below)
      ? join(dirname(source.shown), file.slice(below.length))
      : file
  throw new KernelLadderError(
    'failed',
    together(
      message('tools.referenceNotBuilt', { task: inputs.task.id }),
      notCompiling(built.diagnostics, shown) ?? built.reason,
    ),
    message('tools.seeFile', { file: shown(source.file) }),
  )
}

/** A reference that was built and that no run could be checked against: `why` completes a sentence about it. */
export function unusableReference(
  { file, shown = file }: TaskSource,
  why: string,
): KernelLadderError {
  const words = { file: shown, why }
  return new KernelLadderError(
    'failed',
    message('tools.referenceUnusable', words),
    message('tools.seeFile', { file: shown }),
  )
}

/** Builds the runner; it is our own code, so a failure is a toolchain problem and not a result. */
export async function buildRunner(
  compiler: Compiler,
  runnerSources: ReadonlyMap<string, string>,
): Promise<string> {
  const inputs = [...runnerSources.keys()].filter((path) => /\.(cu|cpp)$/.test(path)).sort()
  const built = await compile(compiler, {
    key: 'nvcc/kl-runner',
    sources: new Map([...compiler.includes, ...runnerSources]),
    inputs,
    flags: runnerFlags,
    output: 'kl-runner',
    libraries: ['-ldl', '-lpthread'],
  })
  if (built.artefact) return built.artefact
  if (compiler.signal.aborted) throw new KernelLadderError('cancelled', message('asked.cancelled'))
  throw new KernelLadderError(
    'missing',
    together(message('tools.runnerNotBuilt'), built.reason),
    message('tools.hostCompiler'),
  )
}

/** Builds the probe that stands in for the CUDA runtime; without it, a rung's launches are unknown. */
export async function buildLaunchProbe(
  compiler: Compiler,
  {
    runnerSources,
    probeSources,
  }: Record<'runnerSources' | 'probeSources', ReadonlyMap<string, string>>,
): Promise<{ artefact: string } | { reason: Statement }> {
  const built = await compile(compiler, {
    key: 'nvcc/kl-launches',
    sources: new Map([...compiler.includes, ...runnerSources, ...probeSources]),
    inputs: [...probeSources.keys()].filter((path) => path.endsWith('.cpp')).sort(),
    flags: launchProbeFlags,
    output: 'kl-launches',
    libraries: ['-ldl'],
  })
  return built.artefact
    ? { artefact: built.artefact }
    : { reason: together(message('tools.probeNotBuilt'), built.reason) }
}

/** Builds the rung that replays a plan, of the judge's sources and the runner's; throws `missing` if that fails. */
export async function buildReplay(
  compiler: Compiler,
  sources: ReadonlyMap<string, string>,
): Promise<string> {
  const built = await compile(compiler, {
    key: 'nvcc/kl-replay',
    sources: new Map([...compiler.includes, ...sources]),
    inputs: ['judge/replay.cpp'],
    flags: replayFlags,
    output: 'replay.so',
    libraries: ['-ldl'],
  })
  if (built.artefact) return built.artefact
  if (compiler.signal.aborted) throw new KernelLadderError('cancelled', message('asked.cancelled'))
  throw new KernelLadderError(
    'missing',
    together(message('tools.runnerNotBuilt'), built.reason),
    message('tools.hostCompiler'),
  )
}

/** Processes items in parallel, at most one per core. Where one throws, no further one is begun. */
export async function inParallel<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = [...items]
  const worker = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift())
      try {
        await work(item)
      } catch (error) {
        queue.length = 0
        throw error
      }
  }
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), items.length) }, worker))
}

// The architecture for build-only compilation: this machine's GPU, or that of the recordings.

/** The architecture of the recordings' GPU. */
export const recordedArchitecture = '90'

/** The architecture of the machine's GPU; null if CUDA offers none. `root` is that of the kernel library. */
export async function ownArchitecture(compiler: Compiler, root: string): Promise<string | null> {
  // The runner takes a minute to build and is of no use without a driver.
  if ((await compiler.toolbox.locate('nvidia-smi')) === null) return null
  try {
    const runner = await buildRunner(compiler, await readSharedFiles(root, 'runner'))
    const { device } = await queryDevice(compiler.toolbox, runner, null, compiler.signal)
    return smOf(device)
  } catch {
    return null
  }
}

const digits = (architecture: string): string => architecture.replace(/\D/g, '')

/** `90` → `9.0`, `100` → `10.0`. */
export const capabilityOf = (architecture: string): string =>
  digits(architecture).replace(/^(\d+)(\d)$/, '$1.$2')

/** The architecture to compile for, such as `90a` if a source requires it. */
export function builtArchitecture(requires: string | null, own: string | null): string {
  const chosen = architectureFor(requires, {
    name: 'this GPU',
    computeCapability: capabilityOf(own ?? recordedArchitecture),
  })
  // The code can be compiled even if the GPU is too old for it.
  return 'sm' in chosen ? chosen.sm : requires!.replace('sm_', '')
}
