/**
 * Runs kl-runner and parses its events.
 *
 * The file cuda-kernels/runner/README.md documents the protocol.
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

/** A rung's shared library with the rung's id, options and flags. */
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

/** A call of the runner, with one problem for all rungs. */
interface RunnerCall {
  task: Task
  problem: Problem
  /** The source of expected results and computed inputs. */
  expected: Expected | null
  /** The folder of the files with buffer contents. Null in a replay. */
  taskFolder: string | null
  seed: number
  rungs: readonly BuiltRung[]
  /**
   * The process id of the runner's owner. The runner exits when this process ends for any reason.
   * Null if the runner cannot see the process.
   */
  ownerPid: number | null
}

const seedArgs = ({ seed, ownerPid }: RunnerCall): string[] => [
  '--seed',
  String(seed),
  ...(ownerPid === null ? [] : ['--owner-pid', String(ownerPid)]),
]

/**
 * Returns the distinct cases of the rungs. The first case applies to rungs without a case of their
 * own.
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
  /** The number of bursts to time per rung, in addition to single launches. */
  bursts?: number
  /** The number of seconds to launch each rung continuously, in addition to single launches. */
  sustainedSeconds?: number
  /** Whether to measure the GPU's ceilings first. */
  ceilings: boolean
  /** The maximum sampling time per rung. The default is the runner's. */
  maxSeconds?: number
  /** The id of the reference among `rungs`, or null. */
  reference: string | null
}

/**
 * Returns the option that keeps L2 warm. By default the runner flushes L2 before each timed launch.
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
 * Returns the arguments of a run without checks. Such a run needs the reference only to compute
 * inputs.
 */
const uncheckedArgs = (command: string, call: RunnerCall): string[] => [
  command,
  ...seedArgs(call),
  ...caseArgs({ ...call, expected: hasComputedInputs(call.task) ? call.expected : null }, false),
]

interface CompareCall extends RunnerCall {
  /** Triples of ids among `rungs`. */
  pairs: readonly { now: string; before: string; copy: string }[]
  /**
   * The round's number, which determines the builds' memory order and launch order. Within six
   * rounds, each build takes each position.
   */
  round: number
  cacheState: CacheState
  /** The maximum sampling time per pair. */
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

/** Returns the arguments for compute-sanitizer, which launches each rung once. */
export const sanitizeArgs = (call: RunnerCall): string[] => uncheckedArgs('sanitize', call)

/** Returns a line listener that parses the runner's events. Any program can forward the lines. */
export const eventLines =
  (onEvent: (event: RunnerEvent) => void) =>
  (line: string): void => {
    const event = parseRunnerLine(line)
    if (event) onEvent(event)
  }

/**
 * The output limit of the runner. The protocol needs kilobytes. More output means that a rung
 * prints endlessly.
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
