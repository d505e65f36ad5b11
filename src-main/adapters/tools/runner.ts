/** kl-runner: how it is called, and its events as they come. cuda-kernels/README.md has the protocol. */
import { caseName } from '../../domain/task/layout'
import { caseOf, type Case, type Problem } from '../../domain/task/problem'
import type { Task } from '../../domain/task/task'
import type { LadderRung } from '../../domain/ladder/ladder'
import {
  parseRunnerLine,
  type RunnerEvent,
  type RunnerStage,
} from '../../parsers/cuda/runner-events'
import { caseWords, type Expected } from './case-words'
import type { ProcessResult } from './process'
import type { ToolCall, Toolbox } from './toolbox'

export type { Expected, RunnerEvent, RunnerStage }

/** A rung's shared library under the rung's id, with what it has of its own in the problem. */
export interface BuiltRung extends Pick<LadderRung, 'options'> {
  id: string
  artefact: string
  flags: readonly string[]
}

export const builtRung = ({ id, options, header }: LadderRung, artefact: string): BuiltRung => ({
  id,
  artefact,
  ...(options ? { options } : {}),
  flags: header.flags,
})

/** What all rungs of a call compute. */
export interface RunnerCall {
  task: Task
  problem: Problem
  /** null where results are not checked. */
  expected: Expected | null
  /** Where the files lie that fill buffers; null in a replay. */
  taskFolder: string | null
  seed: number
  rungs: readonly BuiltRung[]
  /** The runner ends itself when this process is gone, however it went; null where it cannot see it. */
  ownerPid: number | null
}

const seedArgs = ({ seed, ownerPid }: RunnerCall): string[] => [
  '--seed',
  String(seed),
  ...(ownerPid === null ? [] : ['--owner-pid', String(ownerPid)]),
]

/** Every case that a rung has, once; the first is that of each rung that names none. */
function caseArgs({ task, problem, expected, taskFolder, rungs }: RunnerCall): string[] {
  const cases = new Map<string, Case>()
  for (const rung of rungs) {
    const own = caseOf(problem, rung)
    cases.set(caseName(own), own)
  }
  const [first] = cases.keys()
  return [
    ...[...cases.values()].flatMap((own) => caseWords(task, own, expected, taskFolder)),
    ...rungs.flatMap((rung) => {
      const name = caseName(caseOf(problem, rung))
      return [
        ...['--rung', `${rung.id}=${rung.artefact}`],
        ...(name === first ? [] : ['--rung-case', `${rung.id}=${name}`]),
      ]
    }),
  ]
}

export interface MeasureCall extends RunnerCall {
  flushL2: boolean
  /** Measure what the GPU reaches at best, first. */
  ceilings: boolean
  /** The most a rung is sampled for; the runner's own limit unless given. */
  maxSeconds?: number
  /** One of `rungs`, or null. */
  reference: string | null
}

export const measureArgs = (call: MeasureCall): string[] => [
  'measure',
  ...seedArgs(call),
  ...(call.flushL2 ? ['--flush-l2'] : []),
  ...(call.ceilings ? ['--ceilings'] : []),
  ...(call.maxSeconds === undefined ? [] : ['--max-seconds', String(call.maxSeconds)]),
  ...(call.reference === null ? [] : ['--reference', call.reference]),
  ...caseArgs(call),
]

/** Neither checks a result. */
type UncheckedCall = Omit<RunnerCall, 'expected'>

const uncheckedArgs = (command: string, call: UncheckedCall): string[] => {
  const unchecked = { ...call, expected: null }
  return [command, ...seedArgs(unchecked), ...caseArgs(unchecked)]
}

export const profileArgs = (call: UncheckedCall): string[] => uncheckedArgs('profile', call)

/** One launch of each rung, for compute-sanitizer. */
export const sanitizeArgs = (call: UncheckedCall): string[] => uncheckedArgs('sanitize', call)

/** Feeds the runner's events, whatever program its lines come through, to a listener. */
export const eventLines =
  (onEvent: (event: RunnerEvent) => void) =>
  (line: string): void => {
    const event = parseRunnerLine(line)
    if (event) onEvent(event)
  }

/** The protocol takes kilobytes; whoever says more is a rung that prints without end. */
const runnerOutputLimit = 16 * 1024 * 1024

/** Runs the runner to its end; its last `start` event names who hung or crashed. */
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
