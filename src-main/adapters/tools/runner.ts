/**
 * Runs kl-runner and parses its events.
 *
 * cuda-kernels/runner/README.md documents the protocol.
 */
import { caseName } from '../../domain/task/layout'
import { caseOf, type Case, type Problem } from '../../domain/task/problem'
import { hasComputedInputs, type Task } from '../../domain/task/task'
import type { LadderRung } from '../../domain/ladder/ladder'
import {
  parseRunnerLine,
  type RunnerEvent,
  type RunnerStage,
} from '../../parsers/cuda/runner-events'
import { caseWords, type Expected } from './case-words'
import type { ProcessResult } from './process'
import type { ToolCall, Toolbox } from './toolbox'
import type { CacheState } from '../../domain/session/session'
import type { ProbedLaunch, ProbedMemory } from '../../parsers/cuda/launch-probe'

export type { Expected, RunnerEvent, RunnerStage }

/** A rung's shared library, with the rung's id, options, and flags. */
export interface BuiltRung extends Pick<LadderRung, 'options'> {
  id: string
  artifact: string
  flags: readonly string[]
}

export const builtRung = ({ id, options, header }: LadderRung, artifact: string): BuiltRung => ({
  id,
  artifact,
  ...(options ? { options } : {}),
  flags: header.flags,
})

/** A runner call with one problem for all rungs. */
interface RunnerCall {
  task: Task
  problem: Problem
  /** The source of expected results and computed inputs. */
  expected: Expected | null
  /** Folder that contains the files with buffer contents. Null in a replay. */
  taskFolder: string | null
  seed: number
  rungs: readonly BuiltRung[]
  /**
   * Id of the process that owns the runner. When the owner exits for any reason, the runner exits
   * too. Null if the runner cannot see the process.
   */
  ownerPid: number | null
}

const seedArgs = ({ seed, ownerPid }: RunnerCall): string[] => [
  '--seed',
  String(seed),
  ...(ownerPid === null ? [] : ['--owner-pid', String(ownerPid)]),
]

/**
 * Returns the rungs' distinct cases. The first case applies to rungs that have no separate case.
 */
function caseArgs(
  { task, problem, expected, taskFolder, rungs }: RunnerCall,
  checked = true,
): string[] {
  const cases = new Map<string, Case>()
  for (const rung of rungs) {
    const own = caseOf(problem, rung)
    cases.set(caseName(own), own)
  }
  const [first] = cases.keys()
  return [
    ...[...cases.values()].flatMap((own) => caseWords(task, own, expected, taskFolder, checked)),
    ...rungs.flatMap((rung) => {
      const name = caseName(caseOf(problem, rung))
      return [
        ...['--rung', `${rung.id}=${rung.artifact}`],
        ...(name === first ? [] : ['--rung-case', `${rung.id}=${name}`]),
      ]
    }),
  ]
}

interface MeasureCall extends RunnerCall {
  cacheState: CacheState
  /** Number of bursts to time per rung. Single launches are always timed. */
  bursts?: number
  /** Number of seconds to launch each rung continuously. Single launches are always timed. */
  sustainedSeconds?: number
  /** Whether to measure the GPU's peak rates first. */
  ceilings: boolean
  /** Maximum sampling time per rung in seconds. If absent, the runner's default limit applies. */
  maxSeconds?: number
  /** The reference's id, which is one of `rungs`, or null if there is no reference. */
  reference: string | null
}

/**
 * Returns the option that keeps the L2 cache warm. By default, the runner flushes L2 before each
 * timed launch.
 */
const warmArgs = ({ cacheState }: Pick<MeasureCall, 'cacheState'>): string[] =>
  cacheState === 'cold' ? [] : ['--warm']

export const measureArgs = (call: MeasureCall): string[] => [
  'measure',
  ...seedArgs(call),
  ...warmArgs(call),
  ...(call.ceilings ? ['--ceilings'] : []),
  ...(call.bursts === undefined ? [] : ['--bursts', String(call.bursts)]),
  ...(call.sustainedSeconds === undefined ? [] : ['--sustained', String(call.sustainedSeconds)]),
  ...(call.maxSeconds === undefined ? [] : ['--max-seconds', String(call.maxSeconds)]),
  ...(call.reference === null ? [] : ['--reference', call.reference]),
  ...caseArgs(call),
]

/**
 * Returns the arguments for a run that checks no results. A run without result checks needs the
 * reference only to compute inputs.
 */
const uncheckedArgs = (command: string, call: RunnerCall): string[] => [
  command,
  ...seedArgs(call),
  ...caseArgs({ ...call, expected: hasComputedInputs(call.task) ? call.expected : null }, false),
]

interface CompareCall extends RunnerCall {
  /** Pairs of builds to time. `now`, `before`, and `copy` are ids in `rungs`. */
  pairs: readonly { now: string; before: string; copy: string }[]
  /**
   * Round number, which determines the builds' order in memory and in the launches. Over six
   * rounds, each build takes each position equally often.
   */
  round: number
  cacheState: CacheState
  /** Maximum sampling time per pair of builds in seconds. */
  maxSeconds: number
}

export const compareArgs = (call: CompareCall): string[] => [
  ...uncheckedArgs('compare', call),
  ...call.pairs.flatMap(({ now, before, copy }) => ['--pair', `${now}=${before}=${copy}`]),
  ...['--round', String(call.round)],
  ...warmArgs(call),
  ...['--max-seconds', String(call.maxSeconds)],
]

export const profileArgs = (call: RunnerCall): string[] => uncheckedArgs('profile', call)

/** Returns the arguments for a run under compute-sanitizer, in which each rung is launched once. */
export const sanitizeArgs = (call: RunnerCall): string[] => uncheckedArgs('sanitize', call)

/**
 * Returns a line listener that parses the runner's events. The lines can come directly from the
 * runner or from a tool that runs it.
 */
export const eventLines =
  (onEvent: (event: RunnerEvent) => void) =>
  (line: string): void => {
    const event = parseRunnerLine(line)
    if (event) onEvent(event)
  }

/**
 * Limit on the runner's output in bytes. The runner's events take up only kilobytes. More output
 * means that a rung prints endlessly.
 */
const runnerOutputLimit = 16 * 1024 * 1024

/** Runs the runner to completion. The last `start` event identifies a rung that hung or crashed. */
export const runRunner = (
  toolbox: Toolbox,
  call: Pick<ToolCall, 'file' | 'args' | 'signal' | 'idleMs' | 'timeoutMs'> & {
    key: `runner/${string}`
  },
  onEvent: (event: RunnerEvent) => void,
): Promise<ProcessResult> =>
  toolbox.exec({
    ...call,
    tool: 'runner',
    outputLimit: runnerOutputLimit,
    onStdoutLine: eventLines(onEvent),
  })

export type { ProbedLaunch, ProbedMemory }
