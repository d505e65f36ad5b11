/**
 * The state of a Slurm job, from the text of squeue, sacct and slurmstepd.
 *
 * The scheduler is a hint and a job's last line is the truth: a job in neither list is lost, never done.
 */
import { message, type Statement } from '../messages/message'

/** Fields of squeue: `%i|%T|%r|%N`. */
export interface QueueLine {
  /** `123`, or `123_4` for a task of an array. */
  id: string
  state: string
  reason: string
  node: string
}

/** null for anything else that a login node prints. */
export function parseQueueLine(line: string): QueueLine | null {
  const [, id, state, reason, node] =
    /^(\d+(?:_\d+)?)\|([A-Z_]+)\|([^|]*)\|([^|]*)$/.exec(line.trim()) ?? []
  return id === undefined ? null : { id, state: state!, reason: reason!, node: node! }
}

/** The id in what `sbatch --parsable` prints, between whatever else a site has it print: `123` or `123;cluster`. */
export function submittedId(
  lines: readonly string[],
): { id: string; cluster: string | null } | null {
  const found = lines.map((line) => /^(\d+)(?:;([\w.-]+))?$/.exec(line.trim())).findLast(Boolean)
  return found ? { id: found[1]!, cluster: found[2] ?? null } : null
}

/** States in which nothing of the job runs any more, unless it is requeued. */
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

/** Where a job's end is written down; null where nothing is. */
interface EndOfJob {
  /** The last state that squeue gave. */
  queue: string | null
  /** Of sacct: `CANCELLED by 1000`. */
  accounting: string | null
  /** slurmstepd's own line: `… CANCELLED AT … DUE TO TIME LIMIT ***`. */
  step: string | null
}

const bySlurmd: readonly [RegExp, string][] = [
  [/DUE TO TIME LIMIT/, 'TIMEOUT'],
  [/DUE TO PREEMPTION/, 'PREEMPTED'],
  [/DUE TO NODE FAILURE/, 'NODE_FAIL'],
  [/CANCELLED AT/, 'CANCELLED'],
]

/** Why a job that left no result is over, as a sentence. `LOST` if nothing says it. */
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

/** Whether Slurm ended it, as opposed to the job itself. */
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
