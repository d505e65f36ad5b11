/**
 * Builds the old code of a ladder again and measures old and new in turn, on this GPU, now: what a stored time was
 * measured under does not matter then. Both builds are verified first, and what would fail is measured twice.
 */
import { join } from 'node:path'
import { copyBuilt } from '../../adapters/disk/build-cache'
import { readSharedFiles } from '../../adapters/kernels/kernel-library'
import type { Setup } from '../../adapters/machine/machine'
import { builtRung, type BuiltRung, type Expected } from '../../adapters/tools/runner'
import type { Toolbox } from '../../adapters/tools/toolbox'
import { inputError, KernelLadderError } from '../../domain/errors'
import type { Device } from '../../domain/gpu/gpu'
import { message, together, type Statement } from '../../domain/messages/message'
import {
  headlineOf,
  type RegressReport,
  type RegressRung,
  type SameCode,
} from '../../domain/regress/report'
import {
  confidence,
  confirmed,
  cycleRatio,
  exitCodeOf,
  median,
  judged,
  sameCodeRatio,
  spreadOfSameCode,
  thresholdOf,
  thresholdPercent,
  timeRatio,
  verdicts,
  type MeasuredVerdict,
  type RegressVerdict,
  type Round,
} from '../../domain/regress/verdict'
import { flagTitle } from '../../domain/task/task'
import { inEnglish } from '../../domain/text/text'
import { openTrustedLadder } from '../ladder-library/open'
import {
  buildReference,
  buildRung,
  buildRunner,
  inParallel,
  type BuildOutcome,
  openCompiler,
  type Compiler,
} from '../run/build'
import { toolboxOn, architectureFor, queryDevice, queryDriver, smOf } from '../run/device'
import { inTurn, isShared } from '../run/measured-run'
import { measure, type Measured } from '../run/measure'
import { planRun, type PlannedRung, type PlanRequest, type RunPlan } from '../run/plan'
import { wrongness } from '../run/stages'
import { openOldCode, type OldRungs, keepSameCode, keptSameCode } from './old-code'
import { copyId, oldId, timeInTurn, type BuiltPair, type RoundsOutcome } from './rounds'

export interface RegressRequest extends Omit<PlanRequest, 'profile'> {
  /** A session, or a git revision. */
  against: string
  thresholdPercent: number
  rounds: number
  secondsAPair: number
  flushL2: boolean
  /** Measure how far the same code differs from itself even if that is known. */
  calibrate: boolean
}

export interface RegressOptions {
  signal: AbortSignal
  onNote: (text: string) => void
  idleSeconds: number
  waitForGpu: boolean
  /** Counts from 0 among the visible GPUs; CUDA's first if absent. */
  gpu?: number
  trust: boolean
}

const seed = 1
/** The runner times whatever it has verified; this is the minimum. */
const verifySeconds = 0.02

/** A rung with what has become of its two builds. */
interface Row {
  planned: PlannedRung
  old: PlannedRung | undefined
  /** Decided without timing. */
  settled?: { verdict: RegressVerdict; reason: Statement | null }
  pair?: BuiltPair
  sameBuild: boolean
}

export async function regress(
  setup: Setup,
  request: RegressRequest,
  options: RegressOptions,
): Promise<RegressReport> {
  const { machine } = setup
  const { signal, onNote } = options
  const opened = await openTrustedLadder(setup, request.ladder)
  const asked: PlanRequest = {
    ladder: opened.id,
    params: request.params,
    profile: 'none',
    ...(request.rungs ? { rungs: request.rungs } : {}),
    ...(request.size === undefined ? {} : { size: request.size }),
    ...(request.at ? { at: request.at } : {}),
  }
  const plan = planRun(opened.library, asked)
  const toolbox = toolboxOn(machine, null, options.gpu)
  const scratch = await toolbox.scratch()
  try {
    const old = await openOldCode({
      ...{ setup, opened, plan, signal },
      request: asked,
      against: request.against,
      scratch: scratch.path,
      trust: options.trust,
    })
    onNote('Checking the machine…')
    const includes = await readSharedFiles(opened.library.root, 'include')
    const compiler = await openCompiler({ toolbox, cache: machine.cache }, includes, signal)
    const driver = await queryDriver(toolbox, signal)
    const runnerSources = await readSharedFiles(opened.library.root, 'runner')
    const runner = await buildRunner(compiler, runnerSources)
    const { device, pciBusId } = await queryDevice(toolbox, runner, driver, signal)
    onNote('Building old and new…')
    const source = opened.library.references.get(plan.task.id)
    const expected: Expected | null =
      !plan.trusted && source
        ? {
            library: await buildReference(compiler, plan, source, smOf(device)),
            shown: source.shown ?? source.file,
          }
        : null
    const bench: BenchOf = { compiler, plan, old, device, scratch: scratch.path, request }
    const { rows, trusted } = await buildBoth(bench)
    throwIfAborted(signal)
    const gpu = { name: device.name, pciBusId }
    return await inTurn(
      {
        toolbox,
        gpu,
        wait: options.waitForGpu,
        signal,
        onNotice: (said) => onNote(inEnglish(said)),
      },
      async () => {
        const shared = await isShared({ toolbox, gpu, signal }, 'before')
        const own = {
          ...{ toolbox, runner, plan, request, options, rows, device },
          expected: trusted ? { rung: trusted.id } : expected,
          trusted,
          setup,
        }
        await verifyBoth(own)
        const measured = await measureBoth(own)
        const busy = shared || (await isShared({ toolbox, gpu, signal }, 'after'))
        return reportOf(own, old, measured, busy ? [message('records.gpuShared')] : [])
      },
    )
  } finally {
    await scratch.remove()
  }
}

function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new KernelLadderError('cancelled', message('asked.cancelled'))
}

interface BenchOf {
  compiler: Compiler
  plan: RunPlan
  old: OldRungs
  device: Device
  scratch: string
  request: RegressRequest
}

/** Throws if an old rung does not compile: nothing can be said of it, and its user has to know before the GPU is used. */
async function buildBoth({ compiler, plan, old, device, scratch, request }: BenchOf): Promise<{
  rows: Row[]
  trusted: BuiltRung | null
}> {
  const rows = plan.rungs.map((planned): Row => {
    const { rung } = planned
    const before = old.rungs.get(rung.id)
    return { planned, old: before, sameBuild: false, ...settledBefore(plan, planned, before) }
  })
  const oldCompiler = { ...compiler, includes: old.includes }
  const oldInputs = { task: old.task, headers: old.headers }
  const unbuilt: string[] = []
  await inParallel(
    rows.filter(({ settled }) => !settled),
    async (row) => {
      const [now, before] = [row.planned, row.old!]
      const to = [now, before].map(({ rung }) => architectureFor(rung.header.requires, device))
      const [here, there] = to
      if (!here || !there) return
      if ('unsupported' in here || 'unsupported' in there) {
        const reason = 'unsupported' in here ? here.unsupported : (there as never)
        const both = to.every((one) => 'unsupported' in one)
        row.settled = { verdict: both ? 'skipped' : 'unresolved', reason }
        return
      }
      const [fresh, kept] = [
        await buildRung(compiler, plan, now, here.sm),
        await buildRung(oldCompiler, oldInputs, before, there.sm),
      ]
      if (compiler.signal.aborted) return
      if (!kept.artefact) unbuilt.push(`${now.rung.id}: ${whyNot(kept)}`)
      else if (!fresh.artefact)
        row.settled = { verdict: 'broken', reason: fresh.reason ?? message('checks.notCompiled') }
      else {
        row.sameBuild = fresh.artefact === kept.artefact
        const old = builtRung(before.rung, kept.artefact)
        const id = now.rung.id
        row.pair = {
          now: builtRung(now.rung, fresh.artefact),
          before: await copied(old, oldId(id), scratch),
          copy: await copied(old, copyId(id), scratch),
        }
      }
    },
  )
  throwIfAborted(compiler.signal)
  if (unbuilt.length > 0)
    throw inputError(
      `${request.against} does not build: ${unbuilt.sort().join(' ')}`,
      'Name another session or revision, or leave these rungs out with --rungs.',
    )
  if (!plan.trusted) return { rows, trusted: null }
  const known = rows.find(({ planned }) => planned.rung.id === plan.trusted!.rung.id)?.pair?.now
  if (known) return { rows, trusted: known }
  const { rung } = plan.trusted
  const built = await buildRung(compiler, plan, plan.trusted, smOf(device))
  if (!built.artefact) throw new KernelLadderError('failed', `${rung.id}: ${whyNot(built)}`)
  return { rows, trusted: builtRung(rung, built.artefact) }
}

const whyNot = ({ reason }: BuildOutcome): string =>
  inEnglish(reason ?? message('checks.notCompiled'))

/** Another build as the linker sees it, even if the code is the same. */
const copied = async (built: BuiltRung, id: string, scratch: string): Promise<BuiltRung> => ({
  ...built,
  id,
  artefact: await copyBuilt(built.artefact, join(scratch, id)),
})

function settledBefore(
  { task }: RunPlan,
  { rung }: PlannedRung,
  before: PlannedRung | undefined,
): Pick<Row, 'settled'> {
  if (!before) return { settled: { verdict: 'new', reason: null } }
  const [now, then] = [rung, before.rung].map(({ header }) => header.flags)
  if (now!.join() === then!.join()) return {}
  const words = (flags: readonly string[]): string =>
    flags.length === 0 ? 'nothing further' : flags.map((flag) => flagTitle(task, flag)).join(', ')
  const reason = `It computes ${words(now!)} now, and ${words(then!)} before.`
  return { settled: { verdict: 'unresolved', reason } }
}

interface OnGpu {
  toolbox: Toolbox
  setup: Setup
  runner: string
  plan: RunPlan
  request: RegressRequest
  options: RegressOptions
  rows: Row[]
  device: Device
  expected: Expected | null
  trusted: BuiltRung | null
}

const pairsOf = (rows: readonly Row[]): BuiltPair[] =>
  rows.flatMap(({ pair, settled }) => (pair && !settled ? [pair] : []))

/** Rungs that broke are not timed; the old code is checked too, since a time of a wrong result means nothing. */
async function verifyBoth(own: OnGpu): Promise<void> {
  const { toolbox, runner, plan, request, options, rows, expected, trusted } = own
  const pairs = pairsOf(rows)
  if (pairs.length === 0) return
  options.onNote('Verifying old and new…')
  const both = pairs.flatMap(({ now, before }) => [now, before])
  const { rungs: found, halted } = await measure({
    ...{ toolbox, runner, expected, reference: null, seed },
    key: 'runner/regress-verify',
    taskFolder: plan.taskFolder,
    task: plan.task,
    problem: plan.problem,
    maxSeconds: verifySeconds,
    rungs: trusted && !both.some(({ id }) => id === trusted.id) ? [trusted, ...both] : both,
    flushL2: request.flushL2,
    idleMs: options.idleSeconds * 1000,
    signal: options.signal,
    onStart: () => undefined,
    onVerified: () => undefined,
    onMeasured: () => undefined,
    onCeilings: () => undefined,
    onOutOfTurn: () => undefined,
  })
  throwIfAborted(options.signal)
  if (halted) throw new KernelLadderError(halted.kind, halted.message, halted.remedy)
  for (const row of rows) {
    if (!row.pair || row.settled) continue
    const [now, before] = [row.pair.now, row.pair.before].map(({ id }) =>
      faultOf(found.get(id), own),
    )
    const skipped = [row.pair.now, row.pair.before].every(
      ({ id }) => found.get(id)?.trouble?.status === 'unsupported',
    )
    if (skipped) row.settled = { verdict: 'skipped', reason: now! }
    else if (before)
      row.settled = { verdict: 'unresolved', reason: together('The old code is not ok.', before) }
    else if (now) row.settled = { verdict: 'broken', reason: now }
  }
}

function faultOf(measured: Measured | undefined, { plan }: OnGpu): Statement | null {
  if (!measured) return message('records.notReached')
  if (measured.trouble) return measured.trouble.reason
  if (!measured.verify) return message('records.notReached')
  return measured.verify.passed ? null : wrongness(measured.verify, plan.task)
}

interface MeasuredBoth {
  sameCode: SameCode | null
  percent: number
  first: RoundsOutcome
  again: RoundsOutcome | null
  /** By the times alone. */
  verdicts: Map<string, MeasuredVerdict>
}

async function measureBoth(own: OnGpu): Promise<MeasuredBoth> {
  const { request, rows } = own
  const pairs = pairsOf(rows)
  const first = await timed(own, pairs, 'regress')
  const sameCode = await sameCodeSpread(own, first)
  const percent = thresholdPercent(request.thresholdPercent, sameCode?.percent ?? null)
  const decided = verdicts(first.rounds, percent)
  const slower = pairs.filter(({ now }) => decided.get(now.id) === 'slower')
  if (slower.length === 0) return { sameCode, percent, first, again: null, verdicts: decided }
  own.options.onNote(`Measuring ${slower.map(({ now }) => now.id).join(', ')} again…`)
  const again = await timed(own, slower, 'regress-again', request.rounds)
  for (const [id, verdict] of verdicts(again.rounds, percent)) decided.set(id, confirmed(verdict))
  return { sameCode, percent, first, again, verdicts: decided }
}

/** From the cache, or of these rounds, kept for later. */
async function sameCodeSpread(
  { setup, device, request }: OnGpu,
  { rounds }: RoundsOutcome,
): Promise<SameCode | null> {
  const { folders } = setup.machine
  const known = request.calibrate ? null : await keptSameCode(folders, device)
  if (known) return known
  const timedRungs = [...rounds.values()].filter((all) => all.length > 1)
  const percent = spreadOfSameCode(timedRungs)
  if (percent === null) return null
  const found: SameCode = {
    percent,
    rungs: timedRungs.length,
    rounds: request.rounds,
    measuredAt: new Date().toISOString(),
  }
  await keepSameCode(folders, device, found)
  return found
}

function timed(
  { toolbox, runner, plan, request, options }: OnGpu,
  pairs: readonly BuiltPair[],
  name: string,
  from = 0,
): Promise<RoundsOutcome> {
  const started = performance.now()
  const { rounds } = request
  return timeInTurn({
    ...{ toolbox, runner, pairs, rounds, from, name, seed },
    task: plan.task,
    problem: plan.problem,
    taskFolder: plan.taskFolder,
    secondsAPair: request.secondsAPair,
    flushL2: request.flushL2,
    idleMs: options.idleSeconds * 1000,
    signal: options.signal,
    onRound(done) {
      const left = ((performance.now() - started) / done / 1000) * (rounds - done)
      options.onNote(`  round ${done} of ${rounds}, about ${Math.ceil(left)} s left`)
    },
  })
}

function reportOf(
  { rows, plan, request, device }: OnGpu,
  old: OldRungs,
  { sameCode, percent, first, again, verdicts: decided }: MeasuredBoth,
  notes: Statement[],
): RegressReport {
  const own = rows.map((row): RegressRung => {
    const { id, title } = row.planned.rung
    const before = first.rounds.get(id) ?? []
    const repeated = again?.rounds.get(id)
    const rounds: readonly Round[] = repeated ?? before
    const ratio = timeRatio(rounds)
    const byTimes = row.settled ? null : (decided.get(id) ?? 'unresolved')
    const verdict = row.settled?.verdict ?? judged(byTimes!, row.sameBuild)
    const failure = again?.failures.get(id) ?? first.failures.get(id)
    const all = (side: 'newMs' | 'oldMs'): number | null => {
      const values = rounds.flatMap((round) => round[side])
      return values.length > 0 ? median(values) : null
    }
    return {
      ...{ id, title, verdict, byTimes },
      ratio: ratio?.ratio ?? null,
      interval: ratio && { low: ratio.low, high: ratio.high },
      sameCode: sameCodeRatio(rounds),
      thresholdPercent: thresholdOf(rounds, percent),
      cycles: cycleRatio(rounds),
      oldMs: all('oldMs'),
      newMs: all('newMs'),
      rounds: rounds.length,
      sameBuild: row.sameBuild,
      first: repeated ? timeRatio(before) : null,
      reason:
        row.settled?.reason ??
        failure ??
        (verdict === 'unresolved' && byTimes
          ? whyUnresolved(byTimes, repeated !== undefined)
          : null),
    }
  })
  const rungs = [...own, ...old.gone.map(({ id, title }) => goneRung(id, title, percent))]
  const all = rungs.map(({ verdict }) => verdict)
  return {
    ladder: plan.ladder.id,
    problem: plan.problem,
    against: old.from,
    gpu: {
      name: device.name,
      computeCapability: device.computeCapability,
      driver: device.driver,
    },
    exitCode: exitCodeOf(all),
    headline: headlineOf(all, percent),
    thresholdPercent: percent,
    askedPercent: request.thresholdPercent,
    sameCode,
    confidence,
    notes,
    rungs,
  }
}

function whyUnresolved(byTimes: MeasuredVerdict, repeated: boolean): string {
  if (byTimes !== 'unresolved')
    return `It measures ${byTimes}, but old and new are the same machine code: the difference is not the code’s.`
  return repeated
    ? 'It was slower at first, and not when it was measured again.'
    : 'Its interval contains the threshold: more rounds or a quieter GPU would settle it.'
}

const goneRung = (id: string, title: string, percent: number): RegressRung => ({
  ...{ id, title },
  verdict: 'gone',
  byTimes: null,
  ratio: null,
  interval: null,
  sameCode: null,
  thresholdPercent: percent,
  cycles: null,
  oldMs: null,
  newMs: null,
  rounds: 0,
  sameBuild: false,
  first: null,
  reason: null,
})
