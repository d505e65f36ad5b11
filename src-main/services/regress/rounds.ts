/**
 * Runs measurement rounds. In each round, a new runner process times all pairs of builds. A pair
 * that hangs or crashes is excluded from later rounds. The rest of the round is repeated without
 * that pair.
 */
import {
  compareArgs,
  runRunner,
  type BuiltRung,
  type Expected,
  type RunnerEvent,
} from '../../adapters/tools/runner'
import type { ProcessResult } from '../../adapters/tools/process'
import type { Toolbox } from '../../adapters/tools/toolbox'
import { inputError, KernelLadderError, missingError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import type { Round } from '../../domain/regress/verdict'
import type { Problem } from '../../domain/task/problem'
import type { Task } from '../../domain/task/task'
import type { CacheState } from '../../domain/session/session'

/**
 * Two builds of a rung, and a copy of the old build. Any measured difference between the old build
 * and its copy is noise.
 */
export interface BuiltPair {
  now: BuiltRung
  /** The builds have distinct ids. Rung ids never contain `@`. */
  before: BuiltRung
  copy: BuiltRung
}

export const oldId = (id: string): string => `${id}@old`
export const copyId = (id: string): string => `${id}@copy`

/**
 * Rotates the pairs, so that different code is loaded and launched before a given pair in each
 * round.
 */
function inOrder(pairs: readonly BuiltPair[], round: number): readonly BuiltPair[] {
  const at = round % Math.max(1, pairs.length)
  const turned = [...pairs.slice(at), ...pairs.slice(0, at)]
  return round % 2 === 0 ? turned : turned.toReversed()
}

interface RoundsRequest {
  toolbox: Toolbox
  runner: string
  task: Task
  problem: Problem
  taskFolder: string | null
  /** The reference that computes the inputs, or null if the task has no computed inputs. */
  expected: Expected | null
  pairs: readonly BuiltPair[]
  rounds: number
  /**
   * Number of the first round. Successive rounds place the builds at different memory addresses.
   */
  from: number
  /** Sampling time per pair and round, in seconds. */
  secondsAPair: number
  seed: number
  cacheState: CacheState
  idleMs: number
  signal: AbortSignal
  /** Label for the runner calls in the raw output. */
  name: string
  onRound: (done: number) => void
}

export interface RoundsOutcome {
  /** Rounds by rung. The list of a rung whose pair failed is empty. */
  rounds: Map<string, Round[]>
  /** Reasons that a pair could not be timed in every round, by rung. */
  failures: Map<string, string>
}

type PairEvent = Extract<RunnerEvent, { event: 'pair' }>

const roundOf = ({ newMs, oldMs, copyMs, newCycles, oldCycles }: PairEvent): Round => ({
  newMs,
  oldMs,
  copyMs,
  newCycles,
  oldCycles,
})

export async function timeInTurn(request: RoundsRequest): Promise<RoundsOutcome> {
  const rounds = new Map<string, Round[]>(request.pairs.map(({ now }) => [now.id, []]))
  const failures = new Map<string, string>()
  for (let number = 1; number <= request.rounds; number += 1) {
    const timed = new Set<string>()
    const open = (): BuiltPair[] =>
      inOrder(request.pairs, number).filter(
        ({ now: { id } }) => !timed.has(id) && !failures.has(id),
      )
    while (open().length > 0) {
      const before = timed.size + failures.size
      await oneProcess(request, number, open(), {
        onPair(event) {
          timed.add(event.rung)
          rounds.get(event.rung)!.push(roundOf(event))
        },
        onFailure: (id, why) => failures.set(id, why),
      })
      if (timed.size + failures.size === before)
        throw new KernelLadderError('failed', message('tools.runnerEnded', { text: '' }))
    }
    request.onRound(number)
  }
  for (const id of failures.keys()) rounds.set(id, [])
  return { rounds, failures }
}

interface Listener {
  onPair: (event: PairEvent) => void
  onFailure: (id: string, why: string) => void
}

/** Runs one runner process. Throws an error only if a second attempt would not help. */
async function oneProcess(
  request: RoundsRequest,
  number: number,
  pairs: readonly BuiltPair[],
  { onPair, onFailure }: Listener,
): Promise<void> {
  const { toolbox, runner, signal, idleMs, task, problem, taskFolder, expected } = request
  const pairOf = (id: string | null | undefined): string | undefined =>
    pairs.find(({ now, before, copy }) => [now, before, copy].some((one) => one.id === id))?.now.id
  const settled = new Set<string>()
  let at: string | undefined
  let error: Extract<RunnerEvent, { event: 'error' }> | null = null
  const fail = (id: string, why: string): void => {
    if (settled.has(id)) return
    settled.add(id)
    onFailure(id, why)
  }
  const result = await runRunner(
    toolbox,
    {
      key: `runner/${request.name}-${number}`,
      file: runner,
      args: compareArgs({
        ...{ task, problem, taskFolder, expected },
        rungs: pairs.flatMap(({ now, before, copy }) => [now, before, copy]),
        pairs: pairs.map(({ now, before, copy }) => ({
          now: now.id,
          before: before.id,
          copy: copy.id,
        })),
        round: request.from + number - 1,
        cacheState: request.cacheState,
        maxSeconds: request.secondsAPair,
        seed: request.seed,
        ownerPid: toolbox.ownerPid,
      }),
      idleMs,
      signal,
    },
    (event) => {
      switch (event.event) {
        case 'start':
          at = pairOf(event.rung)
          break
        case 'pair':
          if (event.rung !== at || settled.has(event.rung)) break
          settled.add(event.rung)
          onPair(event)
          break
        case 'failed':
        case 'unsupported': {
          const id = pairOf(event.rung)
          if (id !== undefined) fail(id, event.reason)
          break
        }
        case 'error':
          error = event
          break
        default:
          break
      }
    },
  )
  if (result.outcome === 'cancelled')
    throw new KernelLadderError('cancelled', message('asked.cancelled'))
  throwIfHopeless(result, error)
  if (result.outcome === 'exited' && result.exitCode === 0) {
    for (const { now } of pairs) fail(now.id, 'the runner returned no times for it')
    return
  }
  if (at !== undefined) fail(at, endOf(result, idleMs))
}

function throwIfHopeless(
  result: ProcessResult,
  error: Extract<RunnerEvent, { event: 'error' }> | null,
): void {
  if (result.outcome === 'not-found')
    throw new KernelLadderError(
      'failed',
      message('tools.runnerNotStarted', { text: result.stderr.trim() }),
    )
  if (error?.kind === 'out-of-memory') throw inputError(error.message, message('asked.smallerWith'))
  if (error?.kind === 'no-device') throw missingError(error.message, message('tools.resetGpu'))
  if (error)
    throw new KernelLadderError(
      'internal',
      message('tools.runnerRejected', { text: error.message }),
    )
}

function endOf({ outcome, signal, exitCode }: ProcessResult, idleMs: number): string {
  if (outcome === 'idle') return `it hung: no output for ${Math.round(idleMs / 1000)} s`
  if (outcome === 'signalled') return `it crashed by ${signal ?? 'a signal'}`
  return `the runner ended with ${exitCode ?? outcome}`
}
