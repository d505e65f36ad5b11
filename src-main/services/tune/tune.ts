/**
 * Sweeps a rung's compile-time parameters. Every point is built, verified, and timed on one or more
 * GPUs. Finished points are saved, so the same command resumes a stopped sweep. After the sweep,
 * the best points and the rung's default values are timed again alternately, because the minimum of
 * many noisy times is biased toward low values.
 */
import { readdir } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { journalRows, openJournal } from '../../adapters/disk/journal'
import { sha256 } from '../../adapters/disk/build-cache'
import type { Setup } from '../../adapters/machine/machine'
import { builtRung, type BuiltRung, type Expected } from '../../adapters/tools/runner'
import { KernelLadderError } from '../../domain/errors'
import type { LadderRung } from '../../domain/ladder/ladder'
import { message, type Statement } from '../../domain/messages/message'
import { effects, ranked, type TuneReport, type TuneRow } from '../../domain/tune/report'
import { makeStrategy } from '../../domain/tune/search-strategy'
import { inEnglish } from '../../domain/text/english'
import { openTrustedLadder } from '../folders/open'
import { buildRung } from '../bench/build-rung'
import { planRun } from '../run/plan'
import { timeFinalists } from './finalists'
import { spaceOf, type TuneRequest } from './request'
import { sweep } from './scheduler'
import type { PlannedRung, RunPlan } from '../../domain/run/plan'
import { architectureFor, smOf } from '../bench/architecture'
import { Bench } from '../bench/bench'
import type { Compiler } from '../bench/compiler'
import { isShared } from '../bench/gpu-turn'
import { T4Row } from '../../domain/tune/t4'
import { pointKey, type Point } from '../../domain/tune/search-space'
import { measureOn, noTime, openWorkers, type MeasureSettings, type Worker } from './workers'

export interface TuneOptions {
  signal: AbortSignal
  onNote: (text: string) => void
  /** Called when a point has a result. `best` is the shortest time found so far. */
  onPoint: (row: TuneRow, progress: TuneProgress) => void
  idleSeconds: number
  waitForGpu: boolean
}

interface TuneProgress {
  done: number
  /** Total number of points, or null if unknown. */
  total: number | null
  bestMs: number | null
  known: boolean
}

export interface Tuned {
  report: TuneReport
  /** Rows with each point's times and samples, for the T4 export. */
  rows: T4Row[]
}

const seed = 1
/**
 * Maximum number of points in a worker's batch. Each batch starts a new process, which opens the
 * GPU and computes the reference again. On an H200, starting a process took 1.5 s, compared with
 * 0.06 s per point (GEMM with size 4096, 0.05 s of samples).
 */
const batch = 32
const journalVersion = 1

/** Returns the rung with a point's parameter values. The id is unique within the sweep. */
const rungAt = ({ rung, source }: PlannedRung, point: Point, id: string): PlannedRung => ({
  rung: { ...rung, id, params: { ...rung.params, ...point } },
  source,
})

type TunedRung = Pick<TuneRequest, 'ladder' | 'rung' | 'size' | 'at'>

/** Returns the ladder, and a plan that contains the rung to tune. */
async function planOf(setup: Setup, request: TunedRung) {
  const { catalog, id: ladder } = await openTrustedLadder(setup, request.ladder)
  const plan = planRun(catalog, {
    ladder,
    rungs: [request.rung],
    ...(request.size === undefined ? {} : { size: request.size }),
    ...(request.at ? { at: request.at } : {}),
    params: {},
    profile: 'none',
  })
  return { library: catalog, ladder, plan }
}

/** Returns the rung with its default parameter values. */
export const plannedRung = async (setup: Setup, request: TunedRung): Promise<PlannedRung> =>
  (await planOf(setup, request)).plan.rungs[0]!

export async function tune(
  setup: Setup,
  request: TuneRequest,
  options: TuneOptions,
): Promise<Tuned> {
  const started = performance.now()
  const { machine } = setup
  const { signal, onNote } = options
  const { library: catalog, ladder, plan } = await planOf(setup, request)
  const planned = plan.rungs[0]!
  const chosen = spaceOf(planned, plan, request)
  const { space, budget } = chosen
  onNote(`${spaceText(chosen)} Strategy: ${chosen.strategy}.`)
  onNote('Checking the machine…')
  const toolbox = machine.toolbox(null)
  const bench = await Bench.open({ toolbox, cache: machine.cache }, catalog, signal)
  const compiler = await bench.compilerFor(plan)
  const workers = await openWorkers(machine, request.gpus, bench)
  const [{ device }] = workers as [Worker, ...Worker[]]
  const trusted = plan.trusted && (await trustedRung(compiler, plan, smOf(device)))
  const expected: Expected | null = trusted
    ? { rung: trusted.id }
    : await bench.oracle(plan, device)
  const measureSetup: MeasureSettings = {
    ...{ plan, runner: await bench.runner(), expected, trusted, seed, signal },
    secondsAPoint: request.secondsAPoint,
    cacheState: request.cacheState,
    idleMs: options.idleSeconds * 1000,
    waitForGpu: options.waitForGpu,
    onNotice: (notice) => onNote(`warning: ${inEnglish(notice)}`),
  }
  const shared = await isShared(
    { toolbox, gpu: { name: device.name, pciBusId: workers[0]!.pciBusId }, signal },
    'before',
  )

  // Inputs that affect the measured times. Each combination of sources, GPU, and problem has a
  // separate journal.
  const identity = {
    journal: journalVersion,
    ladder,
    rung: request.rung,
    device: [device.name, device.driver],
    sources: sha256(
      JSON.stringify([
        ...[
          planned.source,
          planned.rung.options,
          [...plan.headers],
          [...bench.sources.include],
          plan.task,
        ],
        ...[bench.referenceOf(plan)?.text, plan.trusted?.source, plan.trusted?.rung.params],
        [...bench.sources.runner],
        ...[compiler.version, plan.problem, request.secondsAPoint, request.cacheState],
      ]),
    ),
  }
  const file = `${ladder}-${request.rung}-${sha256(JSON.stringify(identity)).slice(0, 12)}`
  const { part, fresh } = request
  const journalOf = (name: string) => ({
    path: join(machine.folders.tunes, `${name}.jsonl`),
    header: identity,
    row: T4Row,
    fresh,
  })
  const journal = await openJournal(journalOf(part ? `${file}.${part.number}-of-${part.of}` : file))
  const parts = part || fresh ? [] : await partRows(machine.folders.tunes, file, journalOf)
  try {
    const before = new Map([...journal.rows, ...parts].map((row) => [pointKey(row.params), row]))
    const rows: T4Row[] = []
    const artifacts = new Map<string, BuiltRung>()
    const full = (point: Point): Point => ({ ...planned.rung.params, ...point })
    const fromPlanned = Object.fromEntries(
      space.axes.map(({ name }) => [name, planned.rung.params[name] ?? NaN]),
    )
    const strategy = makeStrategy(space, {
      name: chosen.strategy,
      seed: request.seed,
      start: space.axes.every(({ name, values }) => values.includes(fromPlanned[name]!))
        ? fromPlanned
        : null,
      first: request.first(space.axes.map(({ name }) => name)),
    })
    const build = builder(compiler, plan, planned, device)
    const total = smallest(chosen.allowed, budget.points)
    let [bestMs, resumed, written]: [number | null, number, Promise<void>] = [
      null,
      0,
      Promise.resolve(),
    ]
    onNote(
      `Building and measuring on ${workers.length === 1 ? device.name : `${workers.length} × ${device.name}`}…`,
    )
    const sweepStarted = performance.now()
    const finish = (row: T4Row, known: boolean): void => {
      rows.push(row)
      if (known) resumed += 1
      else {
        const own = journal.append(row)
        written = Promise.all([written, own]).then(() => undefined)
        written.catch(() => undefined)
      }
      if (row.medianMs !== null) bestMs = Math.min(bestMs ?? Infinity, row.medianMs)
      options.onPoint(shown(row), { done: rows.length, total, bestMs, known })
    }
    const rowOf = (
      point: Point,
      result: Omit<T4Row, 'params' | 'gpu' | 'buildSeconds' | 'at'>,
      gpu: number | null,
      buildSeconds: number | null,
    ): T4Row => ({
      params: full(point),
      ...result,
      gpu,
      buildSeconds,
      at: new Date().toISOString(),
    })

    await sweep<{ rung: BuiltRung; seconds: number | null }, T4Row>(
      {
        strategy,
        known: (point) => before.get(pointKey(full(point))),
        async build(point) {
          const built = await build(point)
          if ('rung' in built) {
            artifacts.set(pointKey(full(point)), built.rung)
            return { built }
          }
          return { outcome: rowOf(point, noTime(built.status, built.reason), null, null) }
        },
        async measure(number, taken, report) {
          const worker = workers[number]!
          const points = new Map(taken.map((one) => [one.built.rung.id, one]))
          await measureOn(
            worker,
            taken.map(({ built }) => built.rung),
            measureSetup,
            (id, result) => {
              const { point, built } = points.get(id)!
              worker.measured += 1
              report(point, rowOf(point, result, worker.gpu, built.seconds))
            },
          )
        },
        timeOf: ({ medianMs }) => medianMs,
        onOutcome: (_point, row, known) => finish(row, known),
        workers: workers.length,
        builders: availableParallelism(),
        batch,
        isOver: (proposed) =>
          (budget.points !== null && proposed >= budget.points) ||
          (budget.seconds !== null && performance.now() - sweepStarted > budget.seconds * 1000),
        signal,
      },
      (point, why) => rowOf(point, noTime('failed', why), null, null),
    )
    await written
    const sweepSeconds = (performance.now() - sweepStarted) / 1000
    const best = ranked(rows.filter(({ status }) => status === 'ok'))
    const { baseline, finalists } = part
      ? { baseline: null, finalists: [] }
      : await timeFinalists({
          setup: measureSetup,
          worker: workers[0]!,
          planned,
          rows: best,
          async build(params) {
            const known = artifacts.get(pointKey(params))
            if (known) return known
            const built = await build(params)
            return 'rung' in built ? built.rung : null
          },
          onNote,
        }).catch((error: unknown) => {
          if (signal.aborted) return { baseline: null, finalists: [] }
          throw error
        })
    const notes: Statement[] =
      shared ||
      (await isShared(
        { toolbox, gpu: { name: device.name, pciBusId: workers[0]!.pciBusId }, signal },
        'after',
      ))
        ? [message('records.gpuShared')]
        : []
    const shownRows = ranked(rows.map(shown))
    return {
      rows,
      report: {
        ladder,
        rung: request.rung,
        problem: plan.problem,
        gpus: workers.map(({ gpu, device: own, measured, busySeconds }) => ({
          number: gpu,
          name: own.name,
          computeCapability: own.computeCapability,
          driver: own.driver,
          ...{ measured, busySeconds },
        })),
        cacheState: request.cacheState,
        strategy: chosen.strategy,
        seed: request.seed,
        budget,
        space: {
          axes: space.axes.map(({ name, values }) => ({ name, values: [...values] })),
          rules: space.rules.map(({ text }) => text),
          combinations: chosen.combinations,
          allowed: chosen.allowed,
        },
        completion: signal.aborted ? 'cancelled' : 'complete',
        ...{ resumed, sweepSeconds, baseline, finalists },
        elapsedSeconds: (performance.now() - started) / 1000,
        winner: finalists.find(({ medianMs }) => medianMs !== null)?.params ?? null,
        rows: shownRows,
        byParameter: effects(space.axes, shownRows),
        notes,
      },
    }
  } finally {
    await journal.close()
  }
}

/**
 * Returns the measurements from a sweep that was split into parts, each with its own journal.
 */
async function partRows(
  folder: string,
  file: string,
  journalOf: (name: string) => Parameters<typeof journalRows<T4Row>>[0],
): Promise<T4Row[]> {
  const names = (await readdir(folder).catch(() => []))
    .filter((name) => name.startsWith(`${file}.`) && name.endsWith('.jsonl'))
    .map((name) => name.slice(0, -'.jsonl'.length))
    .filter((name) => name !== file)
  return (await Promise.all(names.map((name) => journalRows(journalOf(name))))).flat()
}

/** Drops the fields that only the journal and the T4 export need. */
const shown = ({ at: _at, samplesMs: _samples, ...row }: T4Row): TuneRow => row

const smallest = (...values: (number | null)[]): number | null => {
  const known = values.filter((value) => value !== null)
  return known.length > 0 ? Math.min(...known) : null
}

function spaceText({ combinations, allowed }: ReturnType<typeof spaceOf>): string {
  const all = combinations.toLocaleString('en-US')
  if (allowed === null) return `${all} combinations, too many to say how many are possible.`
  return allowed === combinations
    ? `${all} combinations.`
    : `${all} combinations, of which ${allowed.toLocaleString('en-US')} are possible.`
}

/** Builds the trusted rung, with which points are compared. */
async function trustedRung(compiler: Compiler, plan: RunPlan, sm: string): Promise<BuiltRung> {
  const { rung } = plan.trusted!
  const built = await buildRung(compiler, plan, plan.trusted!, sm)
  if (built.artifact) return builtRung(rung, built.artifact)
  throw new KernelLadderError('failed', `${rung.id}: ${inEnglish(built.reason ?? '')}`)
}

type BuiltPoint =
  | { rung: BuiltRung; seconds: number | null }
  | { status: 'not-built' | 'unsupported'; reason: Statement | null }

/**
 * Returns a function that builds points. Each point gets a unique id, which identifies it in the
 * runner's events.
 */
function builder(
  compiler: Compiler,
  plan: RunPlan,
  planned: PlannedRung,
  device: Parameters<typeof architectureFor>[1],
): (point: Point) => Promise<BuiltPoint> {
  let count = 0
  return async (point) => {
    count += 1
    const one = rungAt(planned, point, `${planned.rung.id}@${count}`)
    const architecture = architectureFor(one.rung.header.requires, device)
    if ('unsupported' in architecture)
      return { status: 'unsupported', reason: architecture.unsupported }
    const built = await buildRung(compiler, plan, one, architecture.sm)
    return built.artifact
      ? {
          rung: builtRung(one.rung as LadderRung, built.artifact),
          seconds: built.build?.seconds ?? null,
        }
      : { status: 'not-built', reason: built.reason ?? null }
  }
}
