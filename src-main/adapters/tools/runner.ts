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

const problemArgs = (problem: Problem, seed: number): string[] => [
  ...(['m', 'n', 'k', 'alpha', 'beta', 'dtype'] as const).flatMap((name) => [
    `--${name}`,
    String(problem[name]),
  ]),
  '--seed',
  String(seed),
  // The runner ends itself when we are gone, however we went.
  '--owner-pid',
  String(process.pid),
]

const rungArgs = (rungs: readonly BuiltRung[]): string[] =>
  rungs.flatMap(({ id, artefact, dtype, epilogue }) => [
    '--rung',
    `${id}=${artefact}`,
    ...(dtype ? ['--rung-dtype', `${id}=${dtype}`] : []),
    ...(epilogue ? ['--rung-epilogue', `${id}=${epilogueWord(epilogue)}`] : []),
  ])

export interface MeasureCall {
  problem: Problem
  seed: number
  flushL2: boolean
  /** Measure what the GPU reaches at best, first. */
  ceilings: boolean
  /** The most a rung is sampled for; the runner's own limit unless given. */
  maxSeconds?: number
  /** One of `rungs`, or null. */
  reference: string | null
  rungs: readonly BuiltRung[]
}

export const measureArgs = (call: MeasureCall): string[] => [
  'measure',
  ...problemArgs(call.problem, call.seed),
  ...(call.flushL2 ? ['--flush-l2'] : []),
  ...(call.ceilings ? ['--ceilings'] : []),
  ...(call.maxSeconds === undefined ? [] : ['--max-seconds', String(call.maxSeconds)]),
  ...(call.reference === null ? [] : ['--reference', call.reference]),
  ...rungArgs(call.rungs),
]

export const profileArgs = (call: Pick<MeasureCall, 'problem' | 'seed' | 'rungs'>): string[] => [
  'profile',
  ...problemArgs(call.problem, call.seed),
  ...rungArgs(call.rungs),
]

/** One launch of each rung, for compute-sanitizer. */
export const sanitizeArgs = (call: Pick<MeasureCall, 'problem' | 'seed' | 'rungs'>): string[] => [
  'sanitize',
  ...problemArgs(call.problem, call.seed),
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
