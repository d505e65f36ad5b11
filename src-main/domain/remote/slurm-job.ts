/**
 * Determines the state of a Slurm job from the output of squeue, sacct and slurmstepd.
 *
 * A job counts as finished only if its output ends with the completion line. The scheduler's state
 * is only a hint. If neither squeue nor sacct lists a job, the job is considered lost.
 */
import { message, type Statement } from '../messages/message'

/** Fields of a line that squeue prints with the format `%i|%T|%r|%N`. */
export interface QueueLine {
  /** Job id, such as `123`. For an array task, the id has the form `123_4`. */
  id: string
  state: string
  reason: string
  node: string
}

/**
 * Parses a line of squeue's output. Returns null for any other text that a login node may print.
 */
export function parseQueueLine(line: string): QueueLine | null {
  const [, id, state, reason, node] =
    /^(\d+(?:_\d+)?)\|([A-Z_]+)\|([^|]*)\|([^|]*)$/.exec(line.trim()) ?? []
  return id === undefined ? null : { id, state: state!, reason: reason!, node: node! }
}

/**
 * Returns the job id from the output of `sbatch --parsable`, such as `123` or `123;cluster`. A site
 * may print other lines before or after the id.
 */
export function submittedId(
  lines: readonly string[],
): { id: string; cluster: string | null } | null {
  const found = lines.map((line) => /^(\d+)(?:;([\w.-]+))?$/.exec(line.trim())).findLast(Boolean)
  return found ? { id: found[1]!, cluster: found[2] ?? null } : null
}

/** States in which no part of the job runs anymore, unless the job is requeued. */
export const finalStates = [
  ...['COMPLETED', 'FAILED', 'CANCELLED', 'TIMEOUT', 'PREEMPTED', 'NODE_FAIL'],
  ...['OUT_OF_MEMORY', 'BOOT_FAIL', 'DEADLINE', 'REVOKED'],
] as const

export type JobState =
  | { state: 'queued' | 'held'; reason: string }
  | { state: 'running' | 'ending'; node: string }
  | { state: 'over' }

export function stateOf({ state, reason: word, node }: QueueLine): JobState {
  if ((finalStates as readonly string[]).includes(state)) return { state: 'over' }
  if (state === 'PENDING' || state === 'REQUEUED')
    return { state: /held|hold/i.test(word) ? 'held' : 'queued', reason: word }
  if (state === 'REQUEUE_HOLD' || state === 'SPECIAL_EXIT') return { state: 'held', reason: word }
  return { state: state === 'COMPLETING' ? 'ending' : 'running', node }
}

/** Slurm's records of how a job ended. A field is null if its record is missing. */
interface EndOfJob {
  /** Last state that squeue reported. */
  queue: string | null
  /** State that sacct reported, such as `CANCELLED by 1000`. */
  accounting: string | null
  /** Line that slurmstepd printed, such as `… CANCELLED AT … DUE TO TIME LIMIT ***`. */
  step: string | null
}

const bySlurmd: readonly [RegExp, string][] = [
  [/DUE TO TIME LIMIT/, 'TIMEOUT'],
  [/DUE TO PREEMPTION/, 'PREEMPTED'],
  [/DUE TO NODE FAILURE/, 'NODE_FAIL'],
  [/CANCELLED AT/, 'CANCELLED'],
]

/**
 * Returns the final state of a job without a result, and the reason as a sentence. The state is
 * `LOST` if there is no record.
 */
export function endOf({ queue, accounting, step }: EndOfJob): {
  state: string
  statement: Statement
} {
  const known = (text: string | null): string | null =>
    finalStates.find((state) => text?.startsWith(state)) ?? null
  const state =
    known(queue) ??
    known(accounting) ??
    bySlurmd.find(([pattern]) => step !== null && pattern.test(step))?.[1] ??
    'LOST'
  return { state, statement: message(sentences[state] ?? 'slurm.failed') }
}

/** Returns whether Slurm ended the job before the job finished on its own. */
export const isEarly = (state: string): boolean => !['COMPLETED', 'FAILED', 'LOST'].includes(state)

const sentences: Record<
  string,
  `slurm.${'nothing' | 'cancelled' | 'time' | 'preempted' | 'node' | 'memory' | 'lost'}`
> = {
  COMPLETED: 'slurm.nothing',
  CANCELLED: 'slurm.cancelled',
  REVOKED: 'slurm.cancelled',
  TIMEOUT: 'slurm.time',
  DEADLINE: 'slurm.time',
  PREEMPTED: 'slurm.preempted',
  NODE_FAIL: 'slurm.node',
  BOOT_FAIL: 'slurm.node',
  OUT_OF_MEMORY: 'slurm.memory',
  LOST: 'slurm.lost',
}
