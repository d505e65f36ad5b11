/** kl-runner: how it is called, and its events as they come. cuda-kernels/README.md has the protocol. */
import type { LadderRung } from '../../domain/ladder/ladder'
import type { Dtype, Problem } from '../../domain/task/problem'
import type { Epilogue } from '../../domain/ladder/rung'
import {
  parseRunnerLine,
  type RunnerEvent,
  type RunnerStage,
} from '../../parsers/cuda/runner-events'
import type { ProcessResult } from './process'
import type { ToolCall, Toolbox } from './toolbox'

export type { RunnerEvent, RunnerStage }

/** A rung's shared library under the rung's id. */
export interface BuiltRung {
  id: string
  artefact: string
  /** Type of its inputs, where it is not the problem's. */
  dtype?: Dtype | undefined
  /** What it computes beside the product. */
  epilogue?: Epilogue | undefined
}

export const builtRung = ({ id, dtype, header }: LadderRung, artefact: string): BuiltRung => ({
  id,
  artefact,
  dtype,
  epilogue: header.epilogue,
})

/** `bias+relu`, as the runner and the probe take it. */
export const epilogueWord = (epilogue: Epilogue): string => epilogue.join('+')

const problemArgs = ({ problem, seed, ownerPid }: RunnerCall): string[] => [
  ...(['m', 'n', 'k', 'alpha', 'beta', 'dtype'] as const).flatMap((name) => [
    `--${name}`,
    String(problem[name]),
  ]),
  '--seed',
  String(seed),
  ...(ownerPid === null ? [] : ['--owner-pid', String(ownerPid)]),
]

const rungArgs = (rungs: readonly BuiltRung[]): string[] =>
  rungs.flatMap(({ id, artefact, dtype, epilogue }) => [
    '--rung',
    `${id}=${artefact}`,
    ...(dtype ? ['--rung-dtype', `${id}=${dtype}`] : []),
    ...(epilogue ? ['--rung-epilogue', `${id}=${epilogueWord(epilogue)}`] : []),
  ])

/** What every mode of the runner is told. */
export interface RunnerCall {
  problem: Problem
  seed: number
  rungs: readonly BuiltRung[]
  /** The runner ends itself when this process is gone, however it went; null where it cannot see it. */
  ownerPid: number | null
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
  ...problemArgs(call),
  ...(call.flushL2 ? ['--flush-l2'] : []),
  ...(call.ceilings ? ['--ceilings'] : []),
  ...(call.maxSeconds === undefined ? [] : ['--max-seconds', String(call.maxSeconds)]),
  ...(call.reference === null ? [] : ['--reference', call.reference]),
  ...rungArgs(call.rungs),
]

export const profileArgs = (call: RunnerCall): string[] => [
  'profile',
  ...problemArgs(call),
  ...rungArgs(call.rungs),
]

/** One launch of each rung, for compute-sanitizer. */
export const sanitizeArgs = (call: RunnerCall): string[] => [
  'sanitize',
  ...problemArgs(call),
  ...rungArgs(call.rungs),
]

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
