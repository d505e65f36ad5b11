/** The one ladder folder that may be watched, for a UI that asks after it. */
import type { Setup } from '../adapters/machine/machine'
import type { RunRequest } from '../contract'
import type { WatchState } from '../contract/folders'
import { inputError, toErrorShape } from '../domain/errors'
import type { FinishedRun } from './targets/saved-run'
import { watchLadder } from './watch'

export interface WatchJobOptions {
  /** Goes on as a run, once no other is under way. */
  start: (request: RunRequest, signal: AbortSignal) => Promise<FinishedRun>
  /** The ref of a session that was saved; null where none was. */
  refOf: (finished: FinishedRun) => string | null
}

export interface WatchJob {
  start(request: Pick<RunRequest, 'target' | 'at'> & { folder: string }): void
  current(): WatchState
  stop(): void
  /** Stops, and waits for what it began to end. */
  close(): Promise<void>
}

const keptRounds = 50
const off: WatchState = { folder: null, state: 'off', rounds: [], fault: null }

export function createWatchJob(setup: Setup, { start, refOf }: WatchJobOptions): WatchJob {
  let state = off
  let watching: { abort: AbortController; ended: Promise<void> } | null = null
  return {
    start({ folder, target, at }) {
      if (watching)
        throw inputError(`${state.folder ?? 'A folder'} is being watched.`, 'Stop that first.')
      const abort = new AbortController()
      state = { folder, state: 'running', rounds: [], fault: null }
      const request: RunRequest = {
        ladder: folder,
        params: {},
        target,
        profile: 'none',
        ...(at ? { at } : {}),
      }
      const ended = watchLadder(setup, request, {
        start(round) {
          state = { ...state, state: 'running', fault: null }
          return start(round, abort.signal)
        },
        onRound(finished, changes) {
          const round = { at: new Date().toISOString(), session: refOf(finished), changes }
          state = { ...state, rounds: [...state.rounds, round].slice(-keptRounds) }
        },
        onFault(fault) {
          state = { ...state, fault }
        },
        onWaiting() {
          state = { ...state, state: 'waiting' }
        },
        signal: abort.signal,
      }).then(
        () => {
          watching = null
          state = { ...state, folder: null, state: 'off' }
        },
        (error: unknown) => {
          watching = null
          state = { ...state, folder: null, state: 'off', fault: toErrorShape(error) }
        },
      )
      watching = { abort, ended }
    },
    current: () => state,
    stop: () => watching?.abort.abort(),
    async close() {
      watching?.abort.abort()
      await watching?.ended
    },
  }
}
