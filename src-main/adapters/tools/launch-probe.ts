/**
 * Runs kl-launches: what a rung would launch and what is wrong with a reference, without a GPU.
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
  /** The rung's library, built without a CUDA runtime. */
  library: string
  task: Task
  /** The rung's case of the problem. */
  own: Case
  gpu: BuildGpu
  /** How parameters are laid out, by mangled name, for kernels whose arguments are wanted. */
  layouts?: ReadonlyMap<string, readonly { offset: number; size: number }[]>
  /** What the compiler gave each kernel, for rungs that ask how many of their blocks an SM holds. */
  resources?: readonly Pick<PtxasKernel, 'name' | 'registers' | 'staticSharedBytes'>[]
  signal: AbortSignal
}

export interface NotLaunched {
  reason: Statement
  /** Whether it would not launch on the GPU either; absent if that is unknown. */
  fault?: 'failed' | 'unsupported'
}

export interface Launched {
  kernels: ProbedLaunch[]
  /** Empty unless `layouts` were given. */
  memory: ProbedMemory[]
  /** The same of kl_prepare. */
  prepared: { kernels: ProbedLaunch[]; memory: ProbedMemory[] }
  /** Bytes of the memory that it allocates. */
  allocations: number[]
  workspaceBytes: number
  /** Variables that the host knows, in the order of their dummy addresses. */
  symbols: string[]
  /** What it asked for a thread's stack; null where it did not. */
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

/** A function of a reference: it computes what is expected, or inputs from others. Each may have a version for a GPU. */
export type ReferenceStage = 'kl_reference' | 'kl_inputs'

interface ExpectationCall extends Pick<
  LaunchProbeCall,
  'probe' | 'library' | 'task' | 'own' | 'gpu' | 'layouts' | 'signal'
> {
  stage: ReferenceStage
  /** Files of its arrays, by what they are: `in:a`, `out:c`, `scale:c`, `mask:c`. */
  arrays: readonly { what: string; path: string }[]
}

/** A reference has minutes for what a GPU takes seconds for. */
const expectationTimeoutMs = 10 * 60_000

/**
 * Has a reference compute what is expected, into the files: null when it has. One that runs on a GPU alone is not run;
 * its launches are, then, over dummy addresses in the order of `arrays`.
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

/** What is wrong with a reference, as the rest of a sentence about it; null if nothing is, or if that stays unknown. */
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

/** The loader's message for a function of CUDA or its libraries that the probe does not implement. */
const lacking = /symbol lookup error: .*undefined symbol: ((?:cu|nccl|nv)\w*)/

/** Of CUDA's runtime and driver; others are of its libraries. */
const runtimeFunction = /^cu(da)?[A-Z]/

/** Why the probe did not answer. Its process runs the rung's host code, which would end the runner as well. */
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
  // The probe names its own errors.
  if (stdout.includes('"event":"error"'))
    return { reason: message('tools.probeEnded', { exitCode: exitCode ?? '', text: last }) }
  return {
    reason: message('tools.hostExited', { exitCode: exitCode ?? '', text }),
    fault: 'failed',
  }
}
