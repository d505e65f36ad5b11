/**
 * Runs kl-launches without a GPU. The probe reports a rung's launches or a reference's faults.
 *
 * See cuda-kernels/probe.
 */
import type { Case } from '../../domain/task/problem'
import type { Task } from '../../domain/task/task'
import { expectationWords, launchWords } from './case-words'
import type { ProcessResult } from './process'
import type { Toolbox } from './toolbox'
import { message, type Statement } from '../../domain/messages/message'
import type { BuildGpu } from '../../domain/gpu/gpu-table'
import type { PtxasKernel } from './nvcc'
import { smLimits } from '../../domain/gpu/sm-limits'
import {
  parseExpected,
  parseProbedLaunches,
  parseProbedReference,
  type ProbedLaunch,
  type ProbedMemory,
} from '../../parsers/cuda/launch-probe'

interface LaunchProbeCall {
  probe: string
  rung: string
  /** Path of the rung's library, which was built without a CUDA runtime. */
  library: string
  task: Task
  /** The case with which the rung runs. */
  own: Case
  gpu: BuildGpu
  /** Parameter layouts by mangled name. Only kernels whose arguments are used need a layout. */
  layouts?: ReadonlyMap<string, readonly { offset: number; size: number }[]>
  /**
   * Resource usage per kernel as reported by the compiler. Rungs that query how many blocks fit on
   * an SM need the resource usage.
   */
  resources?: readonly Pick<PtxasKernel, 'name' | 'registers' | 'staticSharedBytes'>[]
  signal: AbortSignal
}

export interface NotLaunched {
  reason: Statement
  /** Kind of failure, if the rung would also fail to launch on a GPU. Absent if unknown. */
  fault?: 'failed' | 'unsupported'
}

export interface Launched {
  kernels: ProbedLaunch[]
  /** Memory fills and copies on the device. Empty if no `layouts` were given. */
  memory: ProbedMemory[]
  /** Launches and memory operations in kl_prepare. */
  prepared: { kernels: ProbedLaunch[]; memory: ProbedMemory[] }
  /** Size in bytes of each memory allocation. */
  allocations: number[]
  workspaceBytes: number
  /** Device variables that the host code uses, in the order of their placeholder addresses. */
  symbols: string[]
  /** Requested stack size per thread in bytes, or null if none was requested. */
  stackBytes: number | null
}

export const gpuWords = (gpu: BuildGpu): string[] => {
  const { threadsPerSm, blocksPerSm, sharedPerSm, sharedPerBlock } = smLimits(
    gpu.computeCapability,
  )!
  return [
    ...['--sm', gpu.computeCapability.replace('.', '')],
    ...(gpu.smCount === null ? [] : ['--sms', String(gpu.smCount)]),
    ...['--shared-optin', String(sharedPerBlock), '--shared-per-sm', String(sharedPerSm)],
    ...['--threads-per-sm', String(threadsPerSm), '--blocks-per-sm', String(blocksPerSm)],
  ]
}

export const layoutWords = (layouts: LaunchProbeCall['layouts']): string[] =>
  [...(layouts ?? [])].flatMap(([name, list]) => [
    '--kernel',
    `${name}=${list.map(({ offset, size }) => `${offset}+${size}`).join(',')}`,
  ])

const launchedOf = (result: ProcessResult): Launched | NotLaunched => {
  const answer = parseProbedLaunches(result.stdout)
  if (!answer) return unfinished(result)
  const { reason, fault } = answer
  if (reason !== null) return { reason, ...(fault === null ? {} : { fault }) }
  return {
    kernels: answer.kernels,
    memory: answer.memory ?? [],
    prepared: answer.prepared ?? { kernels: [], memory: [] },
    allocations: answer.allocations ?? [],
    workspaceBytes: answer.workspaceBytes ?? 0,
    symbols: answer.symbols ?? [],
    stackBytes: answer.stackBytes ?? null,
  }
}

const probeTimeoutMs = 30_000

export async function probeLaunches(
  toolbox: Toolbox,
  { probe, rung, library, task, own, gpu, layouts, resources = [], signal }: LaunchProbeCall,
): Promise<Launched | NotLaunched> {
  const result = await toolbox.exec({
    tool: 'runner',
    key: `runner/launches-${rung}`,
    file: probe,
    args: [
      ...launchWords(task, own),
      ...gpuWords(gpu),
      ...layoutWords(layouts),
      ...resources.flatMap(({ name, registers, staticSharedBytes }) =>
        registers === null ? [] : ['--resources', `${name}=${registers},${staticSharedBytes ?? 0}`],
      ),
      ...['--library', library],
    ],
    timeoutMs: probeTimeoutMs,
    signal,
  })
  return launchedOf(result)
}

/**
 * A reference's function, which computes expected results or derives inputs from other inputs. Each
 * function may also have a version that runs on the GPU.
 */
export type ReferenceStage = 'kl_reference' | 'kl_inputs'

interface ExpectationCall extends Pick<
  LaunchProbeCall,
  'probe' | 'library' | 'task' | 'own' | 'gpu' | 'layouts' | 'signal'
> {
  stage: ReferenceStage
  /**
   * Files for the reference's arrays by array name, such as `in:a`, `out:c`, `scale:c`, or
   * `mask:c`.
   */
  arrays: readonly { what: string; path: string }[]
}

/**
 * Time limit for a reference, in milliseconds. A reference can take minutes for work that a GPU
 * does in seconds.
 */
const expectationTimeoutMs = 10 * 60_000

/**
 * Runs a reference, which writes expected results to the files. Returns null on success.
 *
 * If the reference needs a GPU, does not run it, and returns its launches with placeholder
 * addresses in the order of `arrays`.
 */
export async function probeExpectation(
  toolbox: Toolbox,
  { probe, library, stage, task, own, gpu, layouts, arrays, signal }: ExpectationCall,
): Promise<Launched | NotLaunched | null> {
  const result = await toolbox.exec({
    tool: 'runner',
    key: stage === 'kl_reference' ? 'runner/expected' : 'runner/inputs',
    file: probe,
    args: [
      ...expectationWords(task, own),
      ...gpuWords(gpu),
      ...layoutWords(layouts),
      ...arrays.flatMap(({ what, path }) => ['--array', `${what}=${path}`]),
      ...['--stage', stage, '--expect', library],
    ],
    timeoutMs: expectationTimeoutMs,
    signal,
  })
  return parseExpected(result.stdout) ? null : launchedOf(result)
}

/**
 * Returns a reference's fault as the predicate of a sentence. Returns null if there is no fault or
 * the fault is unknown.
 */
export async function probeReference(
  toolbox: Toolbox,
  {
    probe,
    library,
    stage,
    signal,
  }: Pick<ExpectationCall, 'probe' | 'library' | 'stage' | 'signal'>,
): Promise<string | null> {
  const result = await toolbox.exec({
    tool: 'runner',
    key: 'runner/reference-probe',
    file: probe,
    args: ['--stage', stage, '--reference', library],
    timeoutMs: 30_000,
    signal,
  })
  return parseProbedReference(result.stdout)?.reason ?? null
}

/**
 * Matches the dynamic linker's error message for a CUDA function that the probe does not implement.
 */
const lacking = /symbol lookup error: .*undefined symbol: ((?:cu|nccl|nv)\w*)/

/**
 * Matches names of CUDA runtime and driver functions. All other CUDA functions belong to libraries.
 */
const runtimeFunction = /^cu(da)?[A-Z]/

/**
 * Returns the reason why the probe did not print a result. The probe's process runs the rung's
 * host code. Code that crashes the probe would also crash the runner.
 */
function unfinished(result: ProcessResult): NotLaunched {
  const { outcome, exitCode, stderr, stdout, signal } = result
  const [, name] = lacking.exec(stderr) ?? []
  if (name !== undefined)
    return {
      reason: runtimeFunction.test(name)
        ? message('tools.probeLacks', { name })
        : message('tools.probeLibrary', { name }),
    }
  const last = stderr.trim().split('\n').pop() ?? ''
  const text = last === '' ? '' : `: ${last}`
  if (outcome === 'signalled')
    return { reason: message('tools.hostCrashed', { signal: signal ?? '', text }), fault: 'failed' }
  if (outcome === 'timeout')
    return {
      reason: message('tools.hostSilent', { seconds: probeTimeoutMs / 1000 }),
      fault: 'failed',
    }
  if (outcome !== 'exited')
    return { reason: message('tools.probeUnfinished', { signal: signal ?? outcome }) }
  // The probe itself reports errors of this kind, so the reason needs no further explanation.
  if (stdout.includes('"event":"error"'))
    return { reason: message('tools.probeEnded', { exitCode: exitCode ?? '', text: last }) }
  return {
    reason: message('tools.hostExited', { exitCode: exitCode ?? '', text }),
    fault: 'failed',
  }
}
