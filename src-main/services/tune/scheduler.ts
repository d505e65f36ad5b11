/**
 * Keeps workers busy: points are proposed, built ahead by several builders, and measured by one worker per GPU, which
 * takes as many at once as leaves something for the others. What is ahead is bounded, so memory does not grow with the
 * number of points. It has no clock and no disk of its own.
 */
import type { NvidiaSmi } from '../../adapters/tools/gpus'
import type { Bench } from '../bench/bench'
import type { Point, Strategy } from '../../domain/tune/sweep'
import type { Machine } from '../../adapters/machine/machine'
import type { BuiltRung, Expected } from '../../adapters/tools/runner'
import type { Toolbox } from '../../adapters/tools/toolbox'
import { inputError, KernelLadderError } from '../../domain/errors'
import { message, says, type Statement } from '../../domain/messages/message'
import type { Problem } from '../../domain/task/problem'
import type { T4Row } from '../../domain/tune/report'
import { queryDevice, type OfferedGpu } from '../bench/gpu'
import { measure } from '../run/measure'
import type { Measured } from '../run/measured'
import { wrongness } from '../run/wrongness'
import type { CacheState } from '../../domain/session/session'
import type { RunPlan } from '../../domain/run/plan'
import { toolboxOn } from '../bench/visible-gpu'
import { inTurn } from '../bench/gpu-turn'

export interface Ready<Built> {
  point: Point
  built: Built
}

export interface SweepRequest<Built, Outcome> {
  strategy: Strategy
  /** The result of a point that an earlier sweep tried; undefined if it has to be tried. */
  known: (point: Point) => Outcome | undefined
  /** What a worker can measure, or the outcome of a point that there is nothing to measure of. */
  build: (point: Point) => Promise<{ built: Built } | { outcome: Outcome }>
  /**
   * Measures these points and reports each; those that it did not report when it ends are lost to it and measured by
   * another worker. If it throws, this worker is not used again.
   */
  measure: (
    worker: number,
    batch: readonly Ready<Built>[],
    report: (point: Point, outcome: Outcome) => void,
  ) => Promise<void>
  /** The time of an outcome in milliseconds; null if it has none. */
  timeOf: (outcome: Outcome) => number | null
  /** Called once per point, in the order in which they finish. */
  onOutcome: (point: Point, outcome: Outcome, known: boolean) => void
  workers: number
  builders: number
  /** Points that a worker measures at most before it comes back. */
  batch: number
  /** Whether no further point may be tried, given how many were. */
  isOver: (proposed: number) => boolean
  signal: AbortSignal
}

/** A point that two workers ended without reporting fails instead of being tried forever. */
const maxAttempts = 2

const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error('A worker or a builder failed.', { cause: error })

export async function sweep<Built, Outcome>(
  request: SweepRequest<Built, Outcome>,
  lost: (point: Point, why: string) => Outcome,
): Promise<void> {
  const { strategy, signal, batch } = request
  const ready: Ready<Built>[] = []
  const attempts = new Map<Point, number>()
  const idle = Array.from({ length: request.workers }, (_, worker) => worker)
  const most = 2 * batch * request.workers + request.builders
  let [building, measuring, proposed, workers] = [0, 0, 0, request.workers]

  return new Promise((resolve, reject) => {
    let failure: Error | null = null

    const finish = (point: Point, outcome: Outcome, known = false): void => {
      attempts.delete(point)
      request.onOutcome(point, outcome, known)
      strategy.tell(point, request.timeOf(outcome))
    }

    /** Proposes points until enough are ahead. */
    const propose = (): void => {
      while (
        building < request.builders &&
        building + ready.length < most &&
        !signal.aborted &&
        failure === null &&
        !request.isOver(proposed)
      ) {
        const point = strategy.next()
        if (!point) return
        proposed += 1
        const known = request.known(point)
        if (known !== undefined) finish(point, known, true)
        else void build(point)
      }
    }

    const build = async (point: Point): Promise<void> => {
      building += 1
      try {
        const result = await request.build(point)
        if ('outcome' in result) {
          if (!signal.aborted) finish(point, result.outcome)
        } else ready.push({ point, built: result.built })
      } catch (error) {
        failure ??= asError(error)
      }
      building -= 1
      advance()
    }

    const work = async (worker: number, taken: readonly Ready<Built>[]): Promise<void> => {
      measuring += 1
      const open = new Map(taken.map((one) => [one.point, one]))
      let gone: unknown = null
      try {
        await request.measure(worker, taken, (point, outcome) => {
          if (open.delete(point)) finish(point, outcome)
        })
      } catch (error) {
        gone = error
      }
      measuring -= 1
      if (gone === null) idle.push(worker)
      else {
        workers -= 1
        if (workers === 0) failure ??= asError(gone)
      }
      if (!signal.aborted)
        for (const one of open.values()) {
          const tried = (attempts.get(one.point) ?? 0) + (gone === null ? 1 : 0)
          attempts.set(one.point, tried)
          // To the end: a point that takes the GPU with it must not take the others' first.
          if (tried < maxAttempts) ready.push(one)
          else finish(one.point, lost(one.point, 'its worker ended without measuring it'))
        }
      advance()
    }

    const advance = (): void => {
      propose()
      while (idle.length > 0 && ready.length > 0 && !signal.aborted && failure === null) {
        const share = Math.ceil(ready.length / workers)
        void work(idle.shift()!, ready.splice(0, Math.max(1, Math.min(batch, share))))
        propose()
      }
      if (building > 0 || measuring > 0) return
      if (failure) reject(failure)
      else if (ready.length === 0 || signal.aborted) resolve()
    }
    advance()
  })
}

// The GPUs that a sweep uses, one worker each: they verify and time points while no other run uses their GPU.

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
  bench: Bench,
): Promise<Worker[]> {
  const driver = await bench.driver()
  const runner = await bench.runner()
  const numbers =
    asked === 'all'
      ? Array.from({ length: visibleCount(machine, driver) }, (_, number) => number)
      : (asked ?? [undefined])
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

/** What all points of a sweep have in common. */
export interface MeasureSetup {
  plan: RunPlan
  runner: string
  expected: Expected | null
  /** The rung that points are checked against; measured with each batch and not reported. */
  trusted: BuiltRung | null
  secondsAPoint: number
  cacheState: CacheState
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
