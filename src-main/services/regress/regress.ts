/**
 * Rebuilds a ladder's old code and measures the old and new code alternately on this GPU.
 *
 * The verdict therefore does not depend on the clocks, driver, or load of an earlier measurement.
 * The old and new builds are verified first. Rungs that appear slower are measured a second time.
 */
import type { Setup } from '../../adapters/machine/machine'
import type { BuiltRung, Expected } from '../../adapters/tools/runner'
import type { Toolbox } from '../../adapters/tools/toolbox'
import { KernelLadderError } from '../../domain/errors'
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
  judged,
  sameCodeRatio,
  spreadOfSameCode,
  thresholdOf,
  thresholdPercent,
  timeRatio,
  verdicts,
  type MeasuredVerdict,
  type Round,
} from '../../domain/regress/verdict'
import { inEnglish } from '../../domain/text/english'
import { openTrustedLadder } from '../folders/open'
import { Bench } from '../bench/bench'
import { measure } from '../run/measure'
import type { Measured } from '../run/measured'
import { planRun, type PlanRequest } from '../run/plan'
import { wrongness } from '../run/wrongness'
import { buildBoth, throwIfAborted, type Row } from './both-builds'
import { openOldCode, type OldRungs } from './old-code'
import { timeInTurn, type BuiltPair, type RoundsOutcome } from './rounds'
import type { CacheState } from '../../domain/session/session'
import type { RunPlan } from '../../domain/run/plan'
import { toolboxOn } from '../bench/visible-gpu'
import { inTurn, isShared } from '../bench/gpu-turn'
import type { Device } from '../../domain/gpu/device'
import { median } from '../../domain/regress/statistics'
import { keepSameCode, readSameCode } from './same-code'

export interface RegressRequest extends Omit<PlanRequest, 'profile' | 'cacheState'> {
  /** Session or git revision that contains the old code. */
  against: string
  thresholdPercent: number
  rounds: number
  secondsAPair: number
  cacheState: CacheState
  /** Whether to measure the spread of identical code even if a cached value exists. */
  calibrate: boolean
}

interface RegressOptions {
  signal: AbortSignal
  onNote: (text: string) => void
  idleSeconds: number
  waitForGpu: boolean
  /** GPU index from 0 among the visible GPUs. If absent, CUDA's first GPU is used. */
  gpu?: number
  trust: boolean
}

const seed = 1
/** Shortest possible measurement in seconds. The runner cannot verify code without timing it. */
const verifySeconds = 0.02

export async function regress(
  setup: Setup,
  request: RegressRequest,
  options: RegressOptions,
): Promise<RegressReport> {
  const { machine } = setup
  const { signal, onNote } = options
  const opened = await openTrustedLadder(setup, request.ladder)
  const planRequest: PlanRequest = {
    ladder: opened.id,
    params: request.params,
    profile: 'none',
    ...(request.rungs ? { rungs: request.rungs } : {}),
    ...(request.size === undefined ? {} : { size: request.size }),
    ...(request.at ? { at: request.at } : {}),
  }
  const plan = planRun(opened.catalog, planRequest)
  const toolbox = toolboxOn(machine, null, options.gpu)
  const scratch = await toolbox.scratch()
  try {
    const old = await openOldCode({
      ...{ setup, opened, plan, signal },
      request: planRequest,
      against: request.against,
      scratch: scratch.path,
      trust: options.trust,
    })
    onNote('Checking the machine…')
    const bench = await Bench.open({ toolbox, cache: machine.cache }, opened.catalog, signal)
    const compiler = await bench.compilerFor(plan)
    const { device, pciBusId } = await bench.gpu()
    const runner = await bench.runner()
    onNote('Building old and new…')
    const expected = plan.trusted ? null : await bench.oracle(plan, device)
    const { against } = request
    const { rows, trusted } = await buildBoth({
      ...{ compiler, plan, old, device, against },
      scratch: scratch.path,
    })
    throwIfAborted(signal)
    const gpu = { name: device.name, pciBusId }
    return await inTurn(
      {
        toolbox,
        gpu,
        wait: options.waitForGpu,
        signal,
        onNotice: (text) => onNote(inEnglish(text)),
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

/**
 * Verifies both builds. Broken rungs are not timed. The old code is verified too, because a time is
 * meaningless if the result is wrong.
 */
async function verifyBoth(own: OnGpu): Promise<void> {
  const { toolbox, runner, plan, request, options, rows, expected, trusted } = own
  const pairs = pairsOf(rows)
  if (pairs.length === 0) return
  options.onNote('Verifying old and new…')
  const both = pairs.flatMap(({ now, before }) => [now, before])
  const { rungs: found, halted } = await measure(
    {
      ...{ toolbox, runner, expected, seed, signal: options.signal },
      ...{ task: plan.task, taskFolder: plan.taskFolder },
      ...{ cacheState: request.cacheState, idleMs: options.idleSeconds * 1000 },
    },
    {
      problem: plan.problem,
      key: 'runner/regress-verify',
      maxSeconds: verifySeconds,
      rungs: trusted && !both.some(({ id }) => id === trusted.id) ? [trusted, ...both] : both,
      reference: null,
    },
  )
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
  /** Verdicts that depend only on the measured times. */
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

/**
 * Returns the cached spread of identical code. If there is no cached value, computes the spread
 * from the given rounds and caches it.
 */
async function sameCodeSpread(
  { setup, device, request }: OnGpu,
  { rounds }: RoundsOutcome,
): Promise<SameCode | null> {
  const { folders } = setup.machine
  const known = request.calibrate ? null : await readSameCode(folders, device)
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
  { toolbox, runner, plan, request, options, expected }: OnGpu,
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
    expected,
    secondsAPair: request.secondsAPair,
    cacheState: request.cacheState,
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
    cacheState: request.cacheState,
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
    return `It measures ${byTimes}, but old and new have the same machine code, so the code does not cause the difference.`
  return repeated
    ? 'It was slower at first, but not in the second measurement.'
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
