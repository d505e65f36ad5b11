/** kl-launches: what a rung would launch, on a machine without a GPU. See cuda-kernels/probe. */
import { message, type Statement } from '../../domain/messages/message'
import type { BuildGpu } from '../../domain/gpu/gpus'
import type { Case } from '../../domain/task/problem'
import type { Task } from '../../domain/task/task'
import { smLimits } from '../../domain/gpu/sm-limits'
import { parseProbedLaunches, type ProbedLaunch } from '../../parsers/cuda/launch-probe'
import { launchWords } from './case-words'
import type { Toolbox } from './toolbox'

export interface LaunchProbeCall {
  probe: string
  rung: string
  /** The rung's library, built without a CUDA runtime. */
  library: string
  task: Task
  /** The rung's case of the problem. */
  own: Case
  gpu: BuildGpu
  signal: AbortSignal
}

export async function probeLaunches(
  toolbox: Toolbox,
  { probe, rung, library, task, own, gpu, signal }: LaunchProbeCall,
): Promise<{ kernels: ProbedLaunch[] } | { reason: Statement }> {
  const result = await toolbox.exec({
    tool: 'runner',
    key: `runner/launches-${rung}`,
    file: probe,
    args: [
      ...launchWords(task, own),
      ...['--sm', gpu.computeCapability.replace('.', '')],
      ...(gpu.smCount === null ? [] : ['--sms', String(gpu.smCount)]),
      ...['--shared-optin', String(smLimits(gpu.computeCapability)!.sharedPerBlock)],
      ...['--library', library],
    ],
    timeoutMs: 30_000,
    signal,
  })
  const answer = parseProbedLaunches(result.stdout)
  if (answer)
    return answer.reason === null ? { kernels: answer.kernels } : { reason: answer.reason }
  return {
    reason:
      result.outcome === 'exited'
        ? message('tools.probeEnded', {
            exitCode: result.exitCode ?? '',
            text: result.stderr.trim().split('\n').pop() ?? '',
          })
        : message('tools.probeUnfinished', { signal: result.signal ?? result.outcome }),
  }
}
