/**
 * Verifies the finalists at every ladder size and times them alternately. The finalists are a
 * sweep's best points and the rung's default values.
 */
import { join } from 'node:path'
import { copyBuilt } from '../../adapters/disk/build-cache'
import type { BuiltRung } from '../../adapters/tools/runner'
import { timeRatio } from '../../domain/regress/verdict'
import { named } from '../../domain/task/problem'
import type { Finalist } from '../../domain/tune/report'
import { inEnglish } from '../../domain/text/english'
import { message, type Statement } from '../../domain/messages/message'
import { copyId, oldId, timeInTurn } from '../regress/rounds'
import type { PlannedRung } from '../../domain/run/plan'
import { inTurn } from '../bench/gpu-turn'
import { median } from '../../domain/regress/statistics'
import type { T4Row } from '../../domain/tune/t4'
import { pointKey, type Point } from '../../domain/tune/search-space'
import { measureOn, type MeasureSettings, type Worker } from './workers'

/**
 * Number of finalists. A single measurement is noisy, but the true best point is probably among the
 * five fastest points.
 */
const finalistCount = 5
/**
 * Number of processes. Each process times all finalists alternately with the rung's default values.
 */
const rounds = 8
const secondsAPair = 0.1
/** Shortest possible measurement in seconds. The runner cannot verify code without timing it. */
const verifySeconds = 0.02

interface FinalsRequest {
  setup: MeasureSettings
  worker: Worker
  planned: PlannedRung
  /** Points that have a time, with the best point first. */
  rows: readonly T4Row[]
  /** Builds a point. Returns null if the point cannot be built. */
  build: (params: Point) => Promise<BuiltRung | null>
  onNote: (text: string) => void
}

interface Finals {
  baseline: Finalist | null
  /** Finalists, best first. */
  finalists: Finalist[]
}

interface Entry {
  params: Point
  built: BuiltRung
}

export async function timeFinalists(request: FinalsRequest): Promise<Finals> {
  const { setup, worker, planned, rows } = request
  if (setup.signal.aborted) return { baseline: null, finalists: [] }
  const best: Entry[] = []
  for (const { params } of rows.slice(0, finalistCount)) {
    const built = await request.build(params)
    if (built) best.push({ params, built })
  }
  if (best.length === 0) return { baseline: null, finalists: [] }
  const faults = await wrongElsewhere(request, best)
  const timed = best.filter(({ built }) => !faults.has(built.id))
  const own = await request.build(planned.rung.params)
  const failed = best.flatMap(({ params, built }) => {
    const reason = faults.get(built.id)
    return reason === undefined ? [] : [without(params, reason)]
  })
  if (timed.length === 0) return { baseline: null, finalists: failed }
  request.onNote(`Timing the best ${timed.length} again, in turn…`)
  const { toolbox, device, pciBusId } = worker
  const scratch = await toolbox.scratch()
  try {
    // Each build needs its own file name, because the linker loads each file only once.
    const against = own ?? timed[0]!.built
    const [old, copy] = await Promise.all(
      ['own', 'copy'].map((name) => copyBuilt(against.artifact, join(scratch.path, name))),
    )
    const outcome = await inTurn(
      {
        toolbox,
        gpu: { name: device.name, pciBusId },
        wait: setup.waitForGpu,
        signal: setup.signal,
        onNotice: setup.onNotice,
      },
      () =>
        timeInTurn({
          ...{ toolbox, rounds, secondsAPair },
          runner: setup.runner,
          name: 'tune-finals',
          task: setup.plan.task,
          problem: setup.plan.problem,
          taskFolder: setup.plan.taskFolder,
          expected: setup.expected,
          pairs: timed.map(({ built }) => ({
            now: built,
            before: { ...against, id: oldId(built.id), artifact: old! },
            copy: { ...against, id: copyId(built.id), artifact: copy! },
          })),
          from: 1,
          seed: setup.seed,
          cacheState: setup.cacheState,
          idleMs: setup.idleMs,
          signal: setup.signal,
          onRound: () => undefined,
        }),
    )
    const times = (id: string, side: 'newMs' | 'oldMs'): number[] =>
      (outcome.rounds.get(id) ?? []).flatMap((round) => round[side])
    const finalists = timed
      .map(({ params, built }): Finalist => {
        const all = times(built.id, 'newMs')
        return {
          params: { ...params },
          medianMs: all.length > 0 ? median(all) : null,
          ratio: own ? timeRatio(outcome.rounds.get(built.id) ?? []) : null,
          rounds: outcome.rounds.get(built.id)?.length ?? 0,
          reason: outcome.failures.get(built.id) ?? null,
        }
      })
      .sort((a, b) => (a.medianMs ?? Infinity) - (b.medianMs ?? Infinity))
    const baseMs = own ? timed.flatMap(({ built }) => times(built.id, 'oldMs')) : []
    return {
      finalists: [...finalists, ...failed],
      baseline:
        baseMs.length > 0
          ? {
              params: { ...planned.rung.params },
              medianMs: median(baseMs),
              ratio: null,
              rounds,
              reason: null,
            }
          : null,
    }
  } finally {
    await scratch.remove()
  }
}

const without = (params: Point, reason: Statement): Finalist => ({
  params: { ...params },
  ...{ medianMs: null, ratio: null, rounds: 0, reason },
})

/**
 * Returns a reason for each point whose results are correct for the sweep's problem but wrong for
 * another problem of the ladder.
 */
async function wrongElsewhere(
  { setup, worker, onNote }: FinalsRequest,
  best: readonly Entry[],
): Promise<Map<string, Statement>> {
  const faults = new Map<string, Statement>()
  const problems = setup.plan.alsoVerify?.problems ?? []
  if (problems.length > 0) onNote('Verifying the best at the ladder’s other sizes…')
  for (const [index, problem] of problems.entries()) {
    const open = best.map(({ built }) => built).filter(({ id }) => !faults.has(id))
    if (open.length === 0 || setup.signal.aborted) break
    await measureOn(
      worker,
      open,
      setup,
      (id, { status, reason }) => {
        if (status === 'ok' || status === 'unsupported') return
        const at = named({ ...problem.sizes, ...problem.scalars })
        const why = reason ?? message('checks.wrong')
        faults.set(id, message('records.wrongAt', { at, why }))
        onNote(
          `  ${pointKey(best.find(({ built }) => built.id === id)!.params)}: ${inEnglish(faults.get(id)!)}`,
        )
      },
      { problem, maxSeconds: verifySeconds, key: `tune-further-${index + 1}` },
    )
  }
  return faults
}
