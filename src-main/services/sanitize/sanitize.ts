/**
 * Runs compute-sanitizer on rungs.
 *
 * A tool first checks all rungs in one process. If the tool reports anything, each rung is checked
 * again in a separate process. As a result, each finding belongs to a single rung, and a corrupted
 * CUDA context cannot affect other rungs. The runner launches each rung once, without timing it.
 */
import type { Bench, SharedSources } from '../bench/bench'
import {
  runSanitizer,
  sanitizerVersion,
  type SanitizerAnswer,
} from '../../adapters/tools/compute-sanitizer'
import type { Catalog } from '../../adapters/catalog/catalog'
import {
  builtRung,
  sanitizeArgs,
  type BuiltRung,
  type Expected,
  type RunnerEvent,
} from '../../adapters/tools/runner'
import { message, type Statement } from '../../domain/messages/message'
import { inputError, KernelLadderError, missingError } from '../../domain/errors'
import {
  groupRecords,
  sanitizeReportVersion,
  type SanitizedRung,
  type SanitizeReport,
  type SanitizerCheck,
  defaultSecondsARung,
  type SanitizerTool,
} from '../../domain/session/sanitizer'
import { hasComputedInputs, sizeNames, type Task } from '../../domain/task/task'
import { buildRung, type TaskInputs } from '../bench/build-rung'
import { planRun } from '../run/plan'
import { locateFinding, type SourceTexts } from './sanitize-sources'
import type { PlannedRung, RunPlan } from '../../domain/run/plan'
import { findLadder, taskOf } from '../catalog/resolve'
import { architectureFor } from '../bench/architecture'
import { remedies } from '../bench/tools'
import { type BuildOutcome } from '../bench/compiler'
import { inParallel } from '../bench/in-parallel'
import { inTurn } from '../bench/gpu-turn'
import { taskHeader, taskHeaderFile } from '../../domain/task/task-headers'
import type { SanitizeProgress, SanitizeRequest } from '../../contract/sanitize'

export interface SanitizeEnvironment {
  bench: Bench
  catalog: Catalog
  onProgress: (progress: SanitizeProgress) => void
  /** Time limit per rung for a compute-sanitizer process, in seconds. */
  secondsARung?: number
  /** Whether to wait while another run uses the GPU. If false, the job fails instead. */
  waitForGpu?: boolean
}

/** Random seed for the buffer contents. */
export const seed = 7

export async function sanitize(
  environment: SanitizeEnvironment,
  request: SanitizeRequest,
): Promise<SanitizeReport> {
  const { bench, catalog, onProgress } = environment
  const { toolbox, signal } = bench
  if (toolbox.replays)
    throw inputError(message('asked.sanitizerNotRecorded'), message('asked.useGpu'))
  const { plan, rungs } = planSanitize(catalog, request)
  onProgress({ stage: 'prepare', done: 0, total: 0, tool: null, rung: null })

  const sanitizer = await toolbox.locate('compute-sanitizer')
  if (!sanitizer)
    throw missingError(
      message('doctor.toolMissing', { tool: 'compute-sanitizer' }),
      remedies.sanitizer,
    )
  const compiler = await bench.compilerFor(plan)
  const { device, pciBusId } = await bench.gpu()
  const runner = await bench.runner()

  const built = new Map<string, BuildOutcome | { unsupported: Statement }>()
  await inParallel(rungs, async (planned) => {
    const { rung } = planned
    if (signal.aborted) return
    const architecture = architectureFor(rung.header.requires, device)
    built.set(
      rung.id,
      'unsupported' in architecture
        ? architecture
        : await buildRung(compiler, plan, planned, architecture.sm),
    )
    onProgress({
      stage: 'build',
      done: built.size,
      total: rungs.length,
      tool: null,
      rung: rung.id,
    })
  })
  const ready = rungs.flatMap(({ rung }): BuiltRung[] => {
    const outcome = built.get(rung.id)
    return outcome && 'artifact' in outcome && outcome.artifact
      ? [builtRung(rung, outcome.artifact)]
      : []
  })

  const checker = new Checker(environment, {
    sanitizer,
    runner,
    task: plan.task,
    problem: plan.problem,
    taskFolder: plan.taskFolder,
    expected: hasComputedInputs(plan.task) ? await bench.oracle(plan, device) : null,
    texts: sourceTexts(plan, rungs, bench.sources),
    total: ready.length * request.tools.length,
  })
  const checks = new Map<SanitizerTool, Map<string, SanitizerCheck>>()
  await inTurn(
    {
      toolbox,
      gpu: { name: device.name, pciBusId },
      wait: environment.waitForGpu ?? true,
      signal,
      onNotice: (notice) =>
        onProgress({ stage: 'check', done: 0, total: 0, tool: null, rung: null, notice }),
    },
    async () => {
      for (const tool of request.tools)
        if (ready.length > 0 && !signal.aborted) checks.set(tool, await checker.check(tool, ready))
    },
  )

  return {
    schema: sanitizeReportVersion,
    ladder: plan.ladder.id,
    problem: plan.problem,
    device: { name: device.name, computeCapability: device.computeCapability },
    sanitizer: await sanitizerVersion(toolbox, sanitizer, new AbortController().signal),
    completion: signal.aborted ? 'cancelled' : 'complete',
    rungs: rungs.map(({ rung }): SanitizedRung => ({
      id: rung.id,
      title: rung.title,
      file: rung.file,
      checks: request.tools.map(
        (tool) => checks.get(tool)?.get(rung.id) ?? notChecked(tool, built.get(rung.id)),
      ),
    })),
  }
}

/**
 * Returns the rungs to check. Skips the ladder's reference unless the request names it. Throws an
 * error if no rung remains.
 */
export function planSanitize(
  catalog: Catalog,
  request: SanitizeRequest,
): { plan: RunPlan; rungs: PlannedRung[] } {
  const plan = planRun(catalog, {
    ladder: request.ladder,
    ...(request.rungs ? { rungs: request.rungs } : {}),
    ...choiceOf(catalog, request),
    params: request.params,
    profile: 'none',
  })
  const rungs = request.rungs ? plan.rungs : plan.rungs.filter((rung) => rung !== plan.reference)
  if (rungs.length === 0)
    throw inputError(
      message('asked.referenceAlone', { ladder: plan.ladder.id }),
      message('asked.nameReference'),
    )
  return { plan, rungs }
}

/**
 * Returns the requested problem sizes. By default, returns the task's small sizes, which produce
 * partial tiles.
 */
function choiceOf(catalog: Catalog, { ladder, size, at = {} }: SanitizeRequest) {
  const task = taskOf(catalog, findLadder(catalog, ladder))
  const named = size !== undefined || sizeNames(task).some((name) => at[name] !== undefined)
  return { size, at: named ? at : { ...task.sanitize, ...at } }
}

export const sourceTexts = (
  { task, headers }: TaskInputs,
  rungs: readonly PlannedRung[],
  { include, runner }: SharedSources,
): SourceTexts =>
  new Map([
    ...include,
    ...headers,
    [taskHeaderFile, taskHeader(task)],
    ...runner,
    ...rungs.map(({ rung, source }): [string, string] => [rung.file, source]),
  ])

const noVerdict = (
  tool: SanitizerTool,
  status: 'failed' | 'unsupported' | 'not-run',
  reason: Statement,
): SanitizerCheck => ({ tool, status, reason, total: null, notPrinted: 0, findings: [] })

function notChecked(
  tool: SanitizerTool,
  built: BuildOutcome | { unsupported: Statement } | undefined,
): SanitizerCheck {
  if (built && 'unsupported' in built) return noVerdict(tool, 'unsupported', built.unsupported)
  if (built && !built.artifact && !built.cancelled)
    return noVerdict(tool, 'failed', built.reason ?? message('checks.notCompiled'))
  return noVerdict(tool, 'not-run', message('records.notReached'))
}

interface CheckerSetup {
  sanitizer: string
  runner: string
  task: Task
  problem: SanitizeReport['problem']
  taskFolder: string | null
  /** The reference that computes inputs, or null if the task computes no inputs. */
  expected: Expected | null
  texts: SourceTexts
  /** Total number of checks, used for progress. */
  total: number
}

class Checker {
  private done = 0

  constructor(
    private readonly environment: SanitizeEnvironment,
    private readonly setup: CheckerSetup,
  ) {}

  /**
   * Checks the rungs and returns a verdict for each rung. Omits rungs that were not reached before
   * a cancellation.
   */
  async check(
    tool: SanitizerTool,
    rungs: readonly BuiltRung[],
  ): Promise<Map<string, SanitizerCheck>> {
    const { onProgress, bench } = this.environment
    const { signal } = bench
    const verdicts = new Map<string, SanitizerCheck>()
    const report = (rung: string | null): void =>
      onProgress({ stage: 'check', done: this.done, total: this.setup.total, tool, rung })
    report(rungs[0]?.id ?? null)
    const { answer, events } = await this.run(tool, rungs, report)
    if (signal.aborted) return verdicts
    throwIfHopeless(answer, events)

    const clean = isClean(answer) && events.some(({ event }) => event === 'done')
    if (!clean && rungs.length > 1) {
      for (const rung of rungs)
        if (!signal.aborted)
          for (const [id, verdict] of await this.check(tool, [rung])) verdicts.set(id, verdict)
      return verdicts
    }
    for (const { id } of rungs) verdicts.set(id, this.verdict(tool, id, answer, events))
    this.done += rungs.length
    report(null)
    return verdicts
  }

  private async run(
    tool: SanitizerTool,
    rungs: readonly BuiltRung[],
    report: (rung: string) => void,
  ): Promise<{ answer: SanitizerAnswer; events: RunnerEvent[] }> {
    const { bench, secondsARung = defaultSecondsARung } = this.environment
    const { toolbox, signal } = bench
    const { sanitizer, runner, task, problem, taskFolder, expected } = this.setup
    const events: RunnerEvent[] = []
    const answer = await runSanitizer(toolbox, {
      sanitizer,
      tool,
      command: [
        runner,
        ...sanitizeArgs({
          ...{ task, problem, taskFolder, expected, seed, rungs },
          ownerPid: toolbox.ownerPid,
        }),
      ],
      timeoutMs: secondsARung * rungs.length * 1000,
      signal,
      onEvent: (event) => {
        events.push(event)
        if (event.event === 'start' && event.stage === 'sanitize' && event.rung !== null)
          report(event.rung)
      },
    })
    return { answer, events }
  }

  private verdict(
    tool: SanitizerTool,
    id: string,
    answer: SanitizerAnswer,
    events: readonly RunnerEvent[],
  ): SanitizerCheck {
    const unsupported = events.find((event) => event.event === 'unsupported' && event.rung === id)
    if (unsupported?.event === 'unsupported')
      return noVerdict(tool, 'unsupported', unsupported.reason)
    const { xml, summary } = answer
    const records = xml?.records ?? []
    const findings = groupRecords(records).map((record) => locateFinding(record, this.setup.texts))
    const total = summary?.total ?? null
    const notPrinted = summary?.notPrinted ?? 0
    const trouble = this.troubleOf(id, answer, events)
    const found = findings.length > 0 || (total ?? 0) > 0
    return {
      tool,
      status: found ? 'found' : trouble === null ? 'clean' : 'failed',
      ...(trouble === null ? {} : { reason: trouble }),
      total,
      notPrinted,
      findings,
    }
  }

  /** Returns the reason that the verdict is missing or incomplete. */
  private troubleOf(
    id: string,
    { result, xml, summary, lastWord }: SanitizerAnswer,
    events: readonly RunnerEvent[],
  ): Statement | null {
    if (result.outcome === 'timeout')
      return message('tools.sanitizerStopped', {
        seconds: this.environment.secondsARung ?? defaultSecondsARung,
      })
    if (result.outcome !== 'exited')
      return message('tools.sanitizerEnded', { signal: result.signal ?? result.outcome })
    if (!xml?.complete || !summary)
      return message('tools.sanitizerNoEnd', {
        text:
          lastWord ?? (result.stderr.trim().split('\n').at(-1) || `exit code ${result.exitCode}`),
      })
    const counted = xml.records.length + summary.notPrinted
    if (counted !== summary.total)
      return message('tools.sanitizerCounts', {
        total: summary.total,
        count: xml.records.length,
      })
    const failed = events.find((event) => event.event === 'failed' && event.rung === id)
    if (failed?.event === 'failed') return failed.reason
    const launched = events.some((event) => event.event === 'launched' && event.rung === id)
    // The findings explain why the rung was not launched.
    return launched || xml.records.length > 0
      ? null
      : message('tools.notLaunched', { text: lastWord ?? 'no reason given' })
  }
}

const isClean = ({ result, xml, summary }: SanitizerAnswer): boolean =>
  result.outcome === 'exited' &&
  summary?.total === 0 &&
  xml?.complete === true &&
  xml.records.length === 0

/** Throws an error if the failure is not caused by a rung. */
function throwIfHopeless({ result }: SanitizerAnswer, events: readonly RunnerEvent[]): void {
  if (result.outcome === 'not-found')
    throw missingError(
      message('tools.sanitizerNotStarted', { text: result.stderr.trim() }),
      remedies.sanitizer,
    )
  // A runner that printed `done` had no error, so any error event was printed by a rung.
  if (events.some(({ event }) => event === 'done')) return
  const error = events.find((event) => event.event === 'error')
  if (error?.event !== 'error') return
  if (error.kind === 'out-of-memory') throw inputError(error.message, message('asked.smaller'))
  if (error.kind === 'file') throw inputError(error.message)
  if (error.kind === 'no-device') throw missingError(error.message, message('tools.checkWithSmi'))
  if (error.kind === 'bad-argument')
    throw new KernelLadderError(
      'internal',
      message('tools.runnerRejected', { text: error.message }),
    )
}
