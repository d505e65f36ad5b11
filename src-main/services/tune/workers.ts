/** The GPUs that a sweep uses, one worker each: they verify and time points while no other run uses their GPU. */
import type { Machine } from '../../adapters/machine/machine'
import type { NvidiaSmi } from '../../adapters/tools/nvidia-smi'
import type { BuiltRung, Expected } from '../../adapters/tools/runner'
import type { Toolbox } from '../../adapters/tools/toolbox'
import { inputError, KernelLadderError } from '../../domain/errors'
import { message, says, type Statement } from '../../domain/messages/message'
import type { Problem } from '../../domain/task/problem'
import type { T4Row } from '../../domain/tune/report'
import { toolboxOn, queryDevice, type OfferedGpu } from '../run/device'
import { inTurn } from '../run/gpu-turn'
import { measure, type Measured } from '../run/measure'
import type { RunPlan } from '../run/plan'
import { wrongness } from '../run/stages'

export interface Worker extends OfferedGpu {
  toolbox: Toolbox
  /** For nvidia-smi. */
  gpu: number
  measured: number
  busySeconds: number
}

/** How many GPUs programs of this machine see. */
function visibleCount(machine: Machine, driver: NvidiaSmi): number {
  const listed = machine.variable('CUDA_VISIBLE_DEVICES')
  return listed === null ? driver.gpus.length : listed.split(',').filter(Boolean).length
}

/** Throws if a GPU is missing, named twice or of another kind than the others, whose times are not comparable. */
export async function openWorkers(
  machine: Machine,
  asked: readonly number[] | 'all' | undefined,
  { runner, driver, signal }: { runner: string; driver: NvidiaSmi; signal: AbortSignal },
): Promise<Worker[]> {
  const numbers =
    asked === 'all'
      ? Array.from({ length: visibleCount(machine, driver) }, (_, number) => number)
      : (asked ?? [undefined])
  const workers: Worker[] = []
  for (const number of numbers) {
    const toolbox = toolboxOn(machine, null, number)
    const offered = await queryDevice(toolbox, runner, driver, signal)
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

/** What all points of a sweep have in common. */
export interface MeasureSetup {
  plan: RunPlan
  runner: string
  expected: Expected | null
  /** The rung that points are checked against; measured with each batch and not reported. */
  trusted: BuiltRung | null
  secondsAPoint: number
  flushL2: boolean
  seed: number
  idleMs: number
  waitForGpu: boolean
  signal: AbortSignal
  onNotice: (notice: Statement) => void
}

export type PointResult = Pick<
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

/** Verifies and times rungs on one GPU. Throws if the GPU cannot go on, with the rungs so far reported. */
export async function measureOn(
  worker: Worker,
  rungs: readonly BuiltRung[],
  setup: MeasureSetup,
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
      const { halted } = await measure({
        toolbox,
        runner: setup.runner,
        expected: setup.expected,
        task: plan.task,
        problem: over.problem ?? plan.problem,
        taskFolder: plan.taskFolder,
        key: `runner/${over.key ?? 'tune'}`,
        maxSeconds: over.maxSeconds ?? setup.secondsAPoint,
        rungs: trusted ? [trusted, ...rungs] : rungs,
        reference: null,
        seed: setup.seed,
        flushL2: setup.flushL2,
        idleMs: setup.idleMs,
        signal,
        onStart: () => undefined,
        onVerified: () => undefined,
        onMeasured(id, measured) {
          if (measured.trouble?.status === 'not-run') return
          if (id === trusted?.id) {
            if (measured.trouble || !measured.timing)
              throw new KernelLadderError('failed', message('records.trustedFailed', { rung: id }))
            return
          }
          report(id, resultOf(measured, plan))
        },
        onCeilings: () => undefined,
        onOutOfTurn: () => undefined,
      })
      worker.busySeconds += (performance.now() - started) / 1000
      if (halted) throw new KernelLadderError(halted.kind, halted.message, halted.remedy)
    },
  )
}
