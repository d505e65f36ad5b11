/**
 * Manages a sweep's workers, one per GPU. A worker has exclusive use of its GPU while it verifies
 * and times points.
 */
import type { NvidiaSmi } from '../../adapters/tools/gpus'
import type { Bench } from '../bench/bench'
import type { Machine } from '../../adapters/machine/machine'
import type { BuiltRung, Expected } from '../../adapters/tools/runner'
import type { Toolbox } from '../../adapters/tools/toolbox'
import { inputError, KernelLadderError } from '../../domain/errors'
import { message, says, type Statement } from '../../domain/messages/message'
import type { Problem } from '../../domain/task/problem'
import { queryDevice, type OfferedGpu } from '../bench/gpu'
import { measure } from '../run/measure'
import type { Measured } from '../run/measured'
import { wrongness } from '../run/wrongness'
import type { CacheState } from '../../domain/session/session'
import type { RunPlan } from '../../domain/run/plan'
import { toolboxOn } from '../bench/visible-gpu'
import { inTurn } from '../bench/gpu-turn'
import type { T4Row } from '../../domain/tune/t4'

export interface Worker extends OfferedGpu {
  toolbox: Toolbox
  /** Index of the GPU as listed by nvidia-smi. */
  gpu: number
  measured: number
  busySeconds: number
}

/** Returns the number of GPUs that programs on this machine can see. */
function visibleCount(machine: Machine, driver: NvidiaSmi): number {
  const listed = machine.variable('CUDA_VISIBLE_DEVICES')
  return listed === null ? driver.gpus.length : listed.split(',').filter(Boolean).length
}

/**
 * Opens the workers. Throws an error if a GPU is missing or listed twice. Also throws an error if
 * the GPU models differ, because the times would not be comparable.
 */
export async function openWorkers(
  machine: Machine,
  requestedGpus: readonly number[] | 'all' | undefined,
  bench: Bench,
): Promise<Worker[]> {
  const driver = await bench.driver()
  const runner = await bench.runner()
  const numbers =
    requestedGpus === 'all'
      ? Array.from({ length: visibleCount(machine, driver) }, (_, number) => number)
      : (requestedGpus ?? [undefined])
  const workers: Worker[] = []
  for (const number of numbers) {
    const toolbox = toolboxOn(machine, null, number)
    const offered = await queryDevice(toolbox, runner, driver, bench.signal)
    const same = workers.find(({ pciBusId }) => pciBusId === offered.pciBusId)
    if (same) throw inputError(`GPU ${number} is named twice.`)
    const [first] = workers
    if (first && first.device.name !== offered.device.name)
      throw inputError(
        `GPU ${first.gpu} is ${first.device.name} and GPU ${number} is ${offered.device.name}: their times cannot be ranked together.`,
        'Name GPUs of one kind with --gpu.',
      )
    const gpu = offered.number ?? number ?? 0
    workers.push({ ...offered, toolbox, gpu, measured: 0, busySeconds: 0 })
  }
  return workers
}

/** Settings that are the same for all points in a sweep. */
export interface MeasureSettings {
  plan: RunPlan
  runner: string
  expected: Expected | null
  /**
   * The trusted rung with which points are compared. The trusted rung is measured with each batch
   * but not reported.
   */
  trusted: BuiltRung | null
  secondsAPoint: number
  cacheState: CacheState
  seed: number
  idleMs: number
  waitForGpu: boolean
  signal: AbortSignal
  onNotice: (notice: Statement) => void
}

type PointResult = Pick<
  T4Row,
  'status' | 'medianMs' | 'spread' | 'samples' | 'samplesMs' | 'reason'
>

export const noTime = (status: T4Row['status'], reason: Statement | null): PointResult => ({
  ...{ status, reason, medianMs: null, spread: null, samples: 0 },
  samplesMs: [],
})

function resultOf({ verify, timing, trouble }: Measured, plan: RunPlan): PointResult {
  if (trouble) {
    const status =
      trouble.status === 'unsupported'
        ? 'unsupported'
        : says(trouble.reason, 'records.hung')
          ? 'hung'
          : 'failed'
    return noTime(status, trouble.reason)
  }
  if (!timing) return noTime('wrong', verify ? wrongness(verify, plan.task) : null)
  const { medianMs, spread, samples, samplesMs } = timing
  return { status: 'ok', medianMs, spread, samples, samplesMs, reason: null }
}

/**
 * Verifies and times rungs on one GPU. If the GPU fails, reports the finished rungs before throwing
 * an error.
 */
export async function measureOn(
  worker: Worker,
  rungs: readonly BuiltRung[],
  setup: MeasureSettings,
  report: (id: string, result: PointResult) => void,
  over: { problem?: Problem; maxSeconds?: number; key?: string } = {},
): Promise<void> {
  const { plan, trusted, signal } = setup
  const { toolbox, device, pciBusId } = worker
  await inTurn(
    {
      toolbox,
      gpu: { name: device.name, pciBusId },
      wait: setup.waitForGpu,
      signal,
      onNotice: setup.onNotice,
    },
    async () => {
      const started = performance.now()
      const { halted } = await measure(
        {
          ...{ toolbox, runner: setup.runner, expected: setup.expected, seed: setup.seed, signal },
          ...{ task: plan.task, taskFolder: plan.taskFolder },
          ...{ cacheState: setup.cacheState, idleMs: setup.idleMs },
        },
        {
          problem: over.problem ?? plan.problem,
          key: `runner/${over.key ?? 'tune'}`,
          maxSeconds: over.maxSeconds ?? setup.secondsAPoint,
          rungs: trusted ? [trusted, ...rungs] : rungs,
          reference: null,
        },
        (event) => {
          if (event.type !== 'measured') return
          const { rung: id, measured } = event
          if (measured.trouble?.status === 'not-run') return
          if (id === trusted?.id) {
            if (measured.trouble || !measured.timing)
              throw new KernelLadderError('failed', message('records.trustedFailed', { rung: id }))
            return
          }
          report(id, resultOf(measured, plan))
        },
      )
      worker.busySeconds += (performance.now() - started) / 1000
      if (halted) throw new KernelLadderError(halted.kind, halted.message, halted.remedy)
    },
  )
}
